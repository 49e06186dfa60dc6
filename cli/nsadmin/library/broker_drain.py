"""drain_broker and undrain_broker: the drain of a broker for scripts, with callbacks."""

from collections.abc import Callable

from nsadmin.client.admin import AdminClient
from nsadmin.client.results import ReadOnlyAccess
from nsadmin.library.drain_procedure import (
    DrainResult,
    PreparedDrain,
    RestoredServer,
    prepare_drain,
    prepare_undo,
    restored_server_of,
)
from nsadmin.operations.drain.events import CommandEnded
from nsadmin.operations.drain.risks import describe_refusal
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.procedure_clock import ProcedureClock, read_system_ms
from nsadmin.operations.run_folder import EventRecord
from nsadmin.operations.state_folder import find_state_home

EventCallback = Callable[[EventRecord], object]


def drain_broker(
    admin: AdminClient,
    drain_plan: DrainPlan,
    inventory: InventoryKeeper,
    pause_seconds: Callable[[float], None],
    on_event: EventCallback | None,
    when_safe: Callable[[str], object] | None,
    *,
    is_dry_run: bool,
) -> DrainResult:
    """Drain a broker; see `AdminClient.drain`."""
    # Imported late: it loads modules that only a change needs.
    from nsadmin.console.audit import describe_user

    if not is_dry_run:
        _require_writable(admin, f"{drain_plan.broker} was not drained")
    procedure_clock = ProcedureClock(read_system_ms, pause_seconds)
    if when_safe is not None:
        drain_plan = drain_plan._replace(then=_command_of(when_safe))
    drain_plan = drain_plan._replace(by=describe_user())
    prepared_drain = prepare_drain(
        admin, drain_plan, find_state_home(), read_system_ms(), is_dry_run=is_dry_run
    )
    if is_dry_run:
        return _result_of(prepared_drain)
    if prepared_drain.risks and not drain_plan.force:
        raise DrainRefused(describe_refusal(drain_plan.broker, prepared_drain.risks))
    result = _result_of(prepared_drain)
    for event_record in prepared_drain.run_events(procedure_clock):
        result = _follow_event(result, event_record)
        if event_record["event"] == "safe" and drain_plan.rules.for_good:
            # The script is about to remove the broker, so that it will not be missing.
            inventory.mark_leaving(drain_plan.broker)
        if on_event is not None:
            on_event(event_record)
    return result


def undrain_broker(
    admin: AdminClient,
    broker_name: str,
    inventory: InventoryKeeper,
    pause_seconds: Callable[[float], None],
    on_event: EventCallback | None,
    *,
    is_dry_run: bool,
) -> list[RestoredServer]:
    """Undo the drain of a broker; see `AdminClient.undrain`."""
    if not is_dry_run:
        _require_writable(admin, f"the drain of {broker_name} was not undone")
    prepared_undo = prepare_undo(admin, broker_name, find_state_home())
    if is_dry_run:
        return prepared_undo.preview_servers()
    inventory.mark_leaving(broker_name, is_leaving=False)
    restored_servers = []
    for event_record in prepared_undo.run_events(ProcedureClock(read_system_ms, pause_seconds)):
        if event_record["event"] == "putBack":
            restored_servers.append(restored_server_of(event_record))
        if on_event is not None:
            on_event(event_record)
    return restored_servers


def _require_writable(admin: AdminClient, failure_text: str) -> None:
    if admin.is_read_only:
        raise ReadOnlyAccess(f"{failure_text}: this client is read-only")


def _command_of(when_safe: Callable[[str], object]) -> Callable[[str], CommandEnded]:
    def run_function(master_addr: str) -> CommandEnded:
        when_safe(master_addr)
        return CommandEnded(read_system_ms(), getattr(when_safe, "__name__", "when_safe"), 0)

    return run_function


def _result_of(prepared_drain: PreparedDrain) -> DrainResult:
    return DrainResult(
        prepared_drain.drain_plan.broker, False, (), prepared_drain.open_topics, prepared_drain.risks
    )


def _follow_event(result: DrainResult, event_record: EventRecord) -> DrainResult:
    match event_record["event"]:
        case "safe":
            return result._replace(is_safe=True, unknown_servers=tuple(event_record["unknown"]))
        case "unsafe" | "reopened":
            return result._replace(is_safe=False)
        case "progress":
            return result._replace(open_topics=event_record["openTopics"])
    return result
