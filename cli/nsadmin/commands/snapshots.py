"""snapshotSave, snapshotShow, snapshotList: save and show a cluster's whole state in one file."""

import os
from pathlib import Path
from time import time
from typing import Annotated

from nsadmin.client import pictures
from nsadmin.client.pictures import BadPicture, Picture, items
from nsadmin.commands import moments
from nsadmin.commands.changes import words
from nsadmin.commands.declared import Option, Word, shows
from nsadmin.commands.pictured import loaded, past_picture
from nsadmin.commands.recorded import JournalOption, ServerOption
from nsadmin.commands.times import utc
from nsadmin.commands.units import size
from nsadmin.diagnostics import UsageError
from nsadmin.output import Row, Rows
from nsadmin.session import Session

COLUMNS = ("file", "time", "nameServers", "brokers", "topics", "kvEntries", "size")
SHOW_COLUMNS = ("what", "name", "brokerName", "summary", "value")
SUFFIX = ".snapshot.zst"

FileWord = Annotated[str, Word(("--file",), "FILE", "The snapshot's file.")]


@shows(COLUMNS)
def snapshot_save(
    session: Session,
    file: Annotated[
        str | None, Word(("--file",), "FILE", "Where to; named after the time if left out.", required=False)
    ],
    namespaces: Annotated[
        list[str] | None,
        Option(
            "--namespace",
            metavar="NAMESPACE",
            help="With this KV namespace too. Repeatable.",
            values="namespaces",
        ),
    ] = None,
    at: Annotated[
        str | None, Option("--at", metavar="TIME", help=f"Of a past moment, from a journal: {moments.HELP}")
    ] = None,
    server: ServerOption = None,
    journal: JournalOption = None,
) -> Rows:
    """Save all that the name servers know to a file: brokers, topics, KV config, settings.

    With --at it is what one name server knew then, rebuilt from its journal: no server is asked.

    The file is JSON, compressed with zstd. What looks like a secret by its name (password, secretKey, token)
    is left out. Name servers do not list their KV namespaces: that of order configurations is always in it,
    others if they are named; a journal has all of them. No file is overwritten.

    Examples:
        # Before a change
        nsadmin snapshotSave before.snapshot.zst
        # With a namespace of the operator's own
        nsadmin snapshotSave nightly.snapshot.zst --namespace DEPLOYMENT
        # As it was then, for a ticket
        nsadmin snapshotSave then.snapshot.zst --at 2025-02-01T00:00:02Z --journal namesrv/journal
    """
    if at is None and (journal or server):
        raise UsageError("snapshotSave: --journal and --namesrv are for --at TIME: which moment?")
    if at is not None and namespaces:
        raise UsageError("snapshotSave: leave out --namespace: a journal has all of them")
    if at is None:
        taken = pictures.of_cluster(session.admin, int(time() * 1000), tuple(namespaces or ()))
    else:
        moment = moments.past("snapshotSave", "--at", at)
        taken = past_picture(session, "snapshotSave", moment, journal, server)
    stamp = (utc(taken.time) or "").replace("-", "").replace(":", "").replace(".", "")
    path = Path(file or f"{stamp}{SUFFIX}")
    try:
        with path.open("xb") as sink:
            sink.write(pictures.to_bytes(taken))
    except OSError as error:
        raise UsageError(f"snapshotSave: {path}: {error.strerror}") from None
    return Rows(COLUMNS, [_row(path, taken)])


@shows(SHOW_COLUMNS)
def snapshot_show(session: Session, file: FileWord) -> Rows:
    """Show what is in the file of a snapshot.

    Examples:
        # All of it
        nsadmin snapshotShow before.snapshot.zst
        # Brokers alone, as JSON
        nsadmin snapshotShow before.snapshot.zst --filter what=broker --json
    """
    taken = loaded("snapshotShow", file)
    rows: list[Row] = [
        {"what": item.what, "name": item.name, "brokerName": item.broker_name, **_value(value)}
        for item, value in items(taken)
    ]
    for namespace, table in taken.kv.items():
        if namespace != pictures.ORDER_TOPIC_CONFIG:
            rows += [
                {"what": "kv", "name": f"{namespace} {key}", "brokerName": None, **_value(value)}
                for key, value in table.items()
            ]
    rows += [
        {"what": "setting", "name": key, "brokerName": None, **_value(value)}
        for key, value in taken.settings.items()
    ]
    note = f"{taken.source}, {utc(taken.time)}"
    return Rows(SHOW_COLUMNS, rows, (), [note], SHOW_COLUMNS[:4])


def _value(value: object) -> dict[str, object]:
    return {"summary": (words(None, value) or "").removeprefix("new: "), "value": value}


@shows(COLUMNS)
def snapshot_list(
    session: Session,
    folder: Annotated[
        str | None, Word(("--dir",), "DIR", "Where to look; here if left out.", required=False)
    ],
) -> Rows:
    """List the snapshots in a folder, oldest first: files that end in .snapshot.zst.

    Examples:
        # Those in the current folder
        nsadmin snapshotList
    """
    path = Path(folder or ".")
    try:
        names = sorted(name for name in os.listdir(path) if name.endswith(SUFFIX))
    except OSError as error:
        raise UsageError(f"snapshotList: {path}: {error.strerror}") from None
    found: list[tuple[Path, Picture]] = []
    errors: list[BadPicture | None] = []
    notes = []
    for name in names:
        try:
            found.append((path / name, pictures.from_bytes((path / name).read_bytes())))
            errors.append(None)
        except BadPicture as error:
            errors.append(error)
            notes.append(f"{path / name} is no snapshot: {error}")
        except OSError as error:
            errors.append(BadPicture(str(error)))
            notes.append(f"{path / name}: {error.strerror}")
    found.sort(key=lambda item: item[1].time)
    return Rows(COLUMNS, [_row(*one) for one in found], errors, notes)


def _row(path: Path, taken: Picture) -> Row:
    return {
        "file": str(path),
        "time": utc(taken.time),
        "nameServers": taken.source,
        "brokers": len(taken.brokers),
        "topics": len(taken.topics),
        "kvEntries": sum(map(len, taken.kv.values())),
        "size": size(path.stat().st_size),
    }
