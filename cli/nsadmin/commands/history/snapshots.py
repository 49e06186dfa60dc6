"""Owns snapshot save, snapshot show and snapshot list, which save and show a cluster's state in one file."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files, private_files
from nsadmin.client import snapshots
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.snapshots import ClusterSnapshot, InvalidSnapshotError, SnapshotItem, iterate_items
from nsadmin.client.wall_clock import time
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import describe_change
from nsadmin.commands.history.journal_source import JournalOption, JournalServerOption
from nsadmin.commands.history.snapshot_source import load_snapshot_file, rebuild_past_snapshot
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

SNAPSHOT_COLUMNS: Columns[tuple[Path, ClusterSnapshot]] = (
    Column("file", "name of the file", lambda f: str(f[0])),
    *of_part(
        lambda f: f[1],
        (
            Column("time", "time of the snapshot (UTC)", lambda s: format_utc(s.time)),
            Column(
                "source", "the name servers, the journal or the collector of the snapshot", lambda s: s.source
            ),
            Column("brokers", "number of brokers in the cluster", lambda s: len(s.brokers)),
            Column("topics", "number of topics", lambda s: len(s.topics)),
            Column("kvEntries", "number of KV config values", lambda s: sum(map(len, s.kv.values()))),
        ),
    ),
    Column("size", "bytes on the disk", lambda f: to_bytes(f[0].stat().st_size)),
)
ITEM_COLUMNS: Columns[tuple[SnapshotItem, object]] = (
    *of_part(
        lambda i: i[0],
        (
            Column(
                "what",
                "broker, topic (its queues on a broker), order (its order configuration), kv or setting",
                lambda i: i.kind,
            ),
            Column("name", "name of the item", lambda i: i.item_name),
            BROKER_NAME,
        ),
    ),
    Column(
        "summary", "value of the item", lambda i: (describe_change(None, i[1]) or "").removeprefix("new: ")
    ),
    Column("value", "value of the item, with the wire's names", lambda i: i[1], wide=True),
)
SNAPSHOT_SUFFIX = ".snapshot.zst"

SnapshotFileArgument = Annotated[str, Argument(metavar="FILE", help="A snapshot file."), Flags("--file")]


@command(columns=SNAPSHOT_COLUMNS, agent_refusal="it writes local files")
def snapshot_save(
    session: Session,
    file_name: Annotated[
        str | None,
        Argument(metavar="FILE", help="File to write. Default: a name with the current time."),
        Flags("--out", "--file"),
    ],
    namespaces: IncludedNamespacesOption = None,
    time_text: Annotated[
        str | None,
        Option(
            "--at",
            metavar="TIME",
            help=f"Save the state at a past time, from a journal: {time_arguments.TIME_HELP}",
        ),
    ] = None,
    server_name: JournalServerOption = None,
    journal_folders: JournalOption = None,
) -> ResultRows:
    """Save the state of the name servers to a file: brokers, topics, KV config, settings.

    With --at, nsadmin rebuilds the past state of one name server from its journal and asks no server.

    The file is JSON, compressed with zstd. It contains no values of settings with secret names (password,
    secretKey, token). Name servers do not list their KV namespaces. So the file has the namespace of order
    configurations and those that you name. From a journal, it has all namespaces. nsadmin overwrites no file.

    Examples:
        # Before a change
        nsadmin snapshot save before.snapshot.zst
        # With another KV namespace
        nsadmin snapshot save nightly.snapshot.zst --namespace DEPLOYMENT
        # A past state, for a ticket
        nsadmin snapshot save then.snapshot.zst --at 2025-02-01T00:00:02Z
    """
    if time_text is None and (journal_folders or server_name):
        raise UsageError("--journal and --namesrv need --at TIME")
    if time_text is not None and namespaces:
        raise UsageError("--namespace and --at exclude each other: a journal has all namespaces")
    if time_text is None:
        snapshot = snapshots.take_cluster_snapshot(session.admin, int(time() * 1000), tuple(namespaces or ()))
    else:
        time_ms = time_arguments.parse_past_time("--at", time_text)
        snapshot = rebuild_past_snapshot(session, time_ms, journal_folders, server_name)
    time_stamp = (format_utc(snapshot.time) or "").replace("-", "").replace(":", "").replace(".", "")
    file_path = Path(file_name or f"{time_stamp}{SNAPSHOT_SUFFIX}")
    try:
        with open(file_path, "xb", opener=private_files.open_private_file) as output_file:
            output_file.write(snapshots.encode_snapshot(snapshot))
    except FileExistsError:
        raise UsageError(f"{file_path} exists: use another name") from None
    except OSError as error:
        raise UsageError(f"cannot write {file_path}: {error.strerror}") from None
    return ResultRows.from_records(SNAPSHOT_COLUMNS, [(file_path, snapshot)])


@command(columns=ITEM_COLUMNS)
def snapshot_show(session: Session, file_name: SnapshotFileArgument) -> ResultRows:
    """Show the content of a snapshot file.

    Examples:
        # Everything
        nsadmin snapshot show before.snapshot.zst
        # Only brokers, as JSON
        nsadmin snapshot show before.snapshot.zst --filter what=broker --json
    """
    snapshot = load_snapshot_file(file_name)
    items: list[tuple[SnapshotItem, object]] = [
        *iterate_items(snapshot),
        *(
            (SnapshotItem("kv", f"{namespace} {key}", None), value)
            for namespace, entries in snapshot.kv.items()
            if namespace != ORDER_CONF_NAMESPACE
            for key, value in entries.items()
        ),
        *((SnapshotItem("setting", key, None), value) for key, value in snapshot.settings.items()),
    ]
    note = f"{snapshot.source}, {format_utc(snapshot.time)}"
    return ResultRows.from_records(ITEM_COLUMNS, items, (), [note])


@command(columns=SNAPSHOT_COLUMNS, agent_refusal="it reads local files", nothing="no snapshots")
def snapshot_list(
    session: Session,
    folder: Annotated[
        str | None,
        Argument(metavar="DIR", help="Folder of the snapshots. Default: the current folder."),
        Flags("--dir"),
    ],
) -> ResultRows:
    """List the snapshots in a folder (files that end in .snapshot.zst), oldest first.

    Examples:
        # Snapshots in the current folder
        nsadmin snapshot list
    """
    folder_path = Path(folder or ".")
    try:
        file_names = sorted(name for name in os.listdir(folder_path) if name.endswith(SNAPSHOT_SUFFIX))
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(str(folder_path), error)) from None
    found, errors, notes = list[tuple[Path, ClusterSnapshot]](), list[InvalidSnapshotError | None](), []
    for path in (folder_path / name for name in file_names):
        try:
            found.append((path, snapshots.decode_snapshot(operator_files.read_bytes(path))))
            errors.append(None)
        except InvalidSnapshotError as error:
            errors.append(error)
            notes.append(f"{path} is not a snapshot: {error}")
        except OSError as error:
            errors.append(InvalidSnapshotError(str(error)))
            notes.append(f"{path}: {error.strerror}")
    found.sort(key=lambda f: f[1].time)
    return ResultRows.from_records(SNAPSHOT_COLUMNS, found, errors, notes)
