"""Gets a cluster snapshot from a file, name servers, a context, or a past time in journals."""

import os
from collections import defaultdict
from typing import Any

from namesrv_core import operator_files
from namesrv_core.errors import RocketMQError
from namesrv_core.storage.journal.past_state import load_past_state
from nsadmin.client import snapshots
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import BadAddress, parse_addrs
from nsadmin.client.snapshots import ClusterSnapshot, InvalidSnapshotError
from nsadmin.client.wall_clock import time
from nsadmin.command_line import time_arguments
from nsadmin.commands.history.journal_source import call_with_usage_errors, find_journals
from nsadmin.console import contexts, settings
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session

SNAPSHOT_SOURCE_HELP = "a snapshot file, a name server (HOST:PORT), a context, or a time"


def resolve_snapshot(
    session: Session,
    option_flag: str,
    operand_text: str,
    journal_folders: list[str] | None,
    server_name: str | None,
) -> ClusterSnapshot:
    """Resolve an operand to a snapshot; a one-line UsageError if it is malformed or its past is unknown."""
    if os.path.isfile(operand_text):
        return load_snapshot_file(operand_text)
    known_contexts = contexts.load_contexts(contexts.contexts_path()).contexts_by_name
    if operand_text in known_contexts:
        setting_values: Any = defaultdict(
            lambda: None, context=operand_text, allows_unverified=session.shared_values.get("insecure")
        )
        context_options = settings.resolve_options(setting_values)
        return _take_live_snapshot(session, context_options.access, context_options.namesrv_addr)
    try:
        now_ms = int(time() * 1000)
        time_arguments.parse_time_option(option_flag, operand_text, 0, now_ms)
    except UsageError:
        return _take_live_snapshot(
            session, session.options.access, _parse_operand_addrs(option_flag, operand_text)
        )
    time_ms = time_arguments.parse_past_time(option_flag, operand_text, now_ms)
    return rebuild_past_snapshot(session, time_ms, journal_folders, server_name)


def _parse_operand_addrs(option_flag: str, operand_text: str) -> tuple[str, ...]:
    try:
        if ":" in operand_text:
            return parse_addrs([operand_text])
    except BadAddress:
        pass
    raise UsageError(
        f'invalid value "{operand_text}" for {option_flag}: use {SNAPSHOT_SOURCE_HELP}, such as 2h or'
        " 2026-11-23T14:03Z"
    )


def _take_live_snapshot(session: Session, access: Access, namesrv_addrs: Any) -> ClusterSnapshot:
    with session.open_other_client(namesrv_addrs, access) as admin:
        return snapshots.take_cluster_snapshot(admin, int(time() * 1000))


def rebuild_past_snapshot(
    session: Session, time_ms: int, journal_folders: list[str] | None, server_name: str | None
) -> ClusterSnapshot:
    """Rebuild a name server's state at `time_ms` from its journal; UsageError if the state is unknown."""
    server_journals = find_journals(session, journal_folders, server_name)
    if len(server_journals) > 1:
        server_names = ", ".join(server_journal.server_name for server_journal in server_journals)
        raise UsageError(
            f"the journals are of several name servers: pass --namesrv NAME with one of {server_names}"
        )
    try:
        past_state = call_with_usage_errors(
            server_journals[0], lambda folder: load_past_state(folder, time_ms)
        )
    except RocketMQError as error:
        raise UsageError(f"{error}") from None
    if past_state.journal_replay is None:
        raise UsageError(
            f"{past_state.server_name}: its state at {format_utc(time_ms) or time_ms} is unknown: "
            f"{past_state.unknown_reason}"
        )
    return snapshots.snapshot_of_replay(
        f"{past_state.server_name} at {format_utc(time_ms)}", time_ms, past_state.journal_replay
    )


def load_snapshot_file(file_name: str) -> ClusterSnapshot:
    """Load the snapshot in a file; UsageError if the file is not a snapshot."""
    try:
        return snapshots.decode_snapshot(operator_files.read_bytes(file_name))
    except InvalidSnapshotError as error:
        raise UsageError(f"{file_name} is not a snapshot: {error}") from None
    except OSError as error:
        raise UsageError(operator_files.explain_unreadable(file_name, error)) from None
