"""Owns snapshot save, snapshot show and snapshot list, which save and show a cluster's state in one file."""

import os
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from namesrv_core import operator_files, private_files
from nsadmin.client import snapshots
from nsadmin.client.snapshots import ClusterSnapshot, InvalidSnapshotError, iterate_items
from nsadmin.client.wall_clock import time
from nsadmin.command_line import time_arguments
from nsadmin.command_line.declarations import Flags, command
from nsadmin.command_line.namespace_options import IncludedNamespacesOption
from nsadmin.commands.columns.changes import describe_change
from nsadmin.commands.history.journal_source import JournalOption, JournalServerOption
from nsadmin.commands.history.snapshot_source import load_snapshot_file, rebuild_past_snapshot
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.quantities import to_bytes
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

SNAPSHOT_COLUMNS = ("file", "time", "nameServers", "brokers", "topics", "kvEntries", "size")
SNAPSHOT_ITEM_COLUMNS = ("what", "name", "brokerName", "summary", "value")
SNAPSHOT_SUFFIX = ".snapshot.zst"

SnapshotFileArgument = Annotated[str, Argument(metavar="FILE", help="A snapshot file."), Flags("--file")]


@command(columns=SNAPSHOT_COLUMNS, agent_refusal="it writes local files")
def snapshot_save(
    session: Session,
    file_name: Annotated[
        str | None,
        Argument(metavar="FILE", help="File to write. Default: a name with the current time."),
        Flags("--file"),
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
        nsadmin snapshot save then.snapshot.zst --at 2025-02-01T00:00:02Z --journal namesrv/journal
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
    except OSError as error:
        raise UsageError(f"cannot write {file_path}: {error.strerror}") from None
    return ResultRows(SNAPSHOT_COLUMNS, [_snapshot_row(file_path, snapshot)])


@command(columns=SNAPSHOT_ITEM_COLUMNS)
def snapshot_show(session: Session, file_name: SnapshotFileArgument) -> ResultRows:
    """Show the content of a snapshot file.

    Examples:
        # Everything
        nsadmin snapshot show before.snapshot.zst
        # Only brokers, as JSON
        nsadmin snapshot show before.snapshot.zst --filter what=broker --json
    """
    snapshot = load_snapshot_file(file_name)
    item_rows: list[ResultRow] = [
        {
            "what": snapshot_item.kind,
            "name": snapshot_item.item_name,
            "brokerName": snapshot_item.broker_name,
            **_value_cells(item_value),
        }
        for snapshot_item, item_value in iterate_items(snapshot)
    ]
    for namespace, namespace_entries in snapshot.kv.items():
        if namespace != snapshots.ORDER_NAMESPACE:
            item_rows += [
                {
                    "what": "kv",
                    "name": f"{namespace} {entry_key}",
                    "brokerName": None,
                    **_value_cells(item_value),
                }
                for entry_key, item_value in namespace_entries.items()
            ]
    item_rows += [
        {"what": "setting", "name": entry_key, "brokerName": None, **_value_cells(item_value)}
        for entry_key, item_value in snapshot.settings.items()
    ]
    source_note = f"{snapshot.source}, {format_utc(snapshot.time)}"
    return ResultRows(SNAPSHOT_ITEM_COLUMNS, item_rows, (), [source_note], SNAPSHOT_ITEM_COLUMNS[:4])


def _value_cells(item_value: object) -> dict[str, object]:
    return {"summary": (describe_change(None, item_value) or "").removeprefix("new: "), "value": item_value}


@command(columns=SNAPSHOT_COLUMNS, agent_refusal="it reads local files")
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
        file_names = sorted(
            file_name for file_name in os.listdir(folder_path) if file_name.endswith(SNAPSHOT_SUFFIX)
        )
    except OSError as error:
        raise UsageError(f"cannot read {folder_path}: {error.strerror}") from None
    path_snapshots: list[tuple[Path, ClusterSnapshot]] = []
    errors: list[InvalidSnapshotError | None] = []
    notes = []
    for file_name in file_names:
        try:
            path_snapshots.append(
                (
                    folder_path / file_name,
                    snapshots.decode_snapshot(operator_files.read_bytes(folder_path / file_name)),
                )
            )
            errors.append(None)
        except InvalidSnapshotError as error:
            errors.append(error)
            notes.append(f"{folder_path / file_name} is not a snapshot: {error}")
        except OSError as error:
            errors.append(InvalidSnapshotError(str(error)))
            notes.append(f"{folder_path / file_name}: {error.strerror}")
    path_snapshots.sort(key=lambda path_snapshot: path_snapshot[1].time)
    return ResultRows(
        SNAPSHOT_COLUMNS, [_snapshot_row(*path_snapshot) for path_snapshot in path_snapshots], errors, notes
    )


def _snapshot_row(file_path: Path, snapshot: ClusterSnapshot) -> ResultRow:
    return {
        "file": str(file_path),
        "time": format_utc(snapshot.time),
        "nameServers": snapshot.source,
        "brokers": len(snapshot.brokers),
        "topics": len(snapshot.topics),
        "kvEntries": sum(map(len, snapshot.kv.values())),
        "size": to_bytes(file_path.stat().st_size),
    }
