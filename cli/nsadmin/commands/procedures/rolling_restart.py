"""Owns rollingRestart, which restarts the brokers of a cluster one by one, and drains masters before."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, NamedTuple

from typer import Argument, Option

from nsadmin.client import AdminClient
from nsadmin.client.brokers.clusters import BrokerAddrGroup, find_shared_addrs, refuse_shared_addrs
from nsadmin.command_line.argument_values import parse_duration_seconds
from nsadmin.command_line.broker_targets import remark_missing
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_ID, BROKER_NAME
from nsadmin.commands.columns.servers import ERROR, result_column
from nsadmin.commands.procedures import drain_options
from nsadmin.commands.procedures.live_output import ProcedureReporter
from nsadmin.console import audit
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, OutputText, ResultRows, of_part
from nsadmin.console.session import Session
from nsadmin.operations import shell_command
from nsadmin.operations.broker_identity import refuse_twins
from nsadmin.operations.drain import events
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.drained_brokers import list_drained_names
from nsadmin.operations.drain.runner import DrainPlan, DrainRefused
from nsadmin.operations.drain.state import load_drains, open_drain
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import open_inventory
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK, ProcedureClock
from nsadmin.operations.release_faults import list_broker_faults
from nsadmin.operations.restart.events import describe_record
from nsadmin.operations.restart.runner import (
    BrokerRestartContext,
    RestartRules,
    RollingRestart,
    find_refusals,
    require_masters,
)
from nsadmin.operations.restart.state import BrokerProcess, open_restart, order_processes
from nsadmin.operations.run_folder import EventRecord


class PlannedRestart(NamedTuple):
    """A process to restart, and why its drain would be refused. `open_topics` is None for a slave."""

    process: BrokerProcess
    open_topics: int | None
    error: DrainRefused | None


RESTART_COLUMNS: Columns[PlannedRestart] = (
    *of_part(
        lambda r: r.process,
        (
            BROKER_NAME.of(lambda p: p.broker),
            BROKER_ID,
            BROKER_ADDR.of(lambda p: p.addr),
            Column("steps", "the planned actions, in order", lambda p: p.restart_steps),
        ),
    ),
    Column("openTopics", "topics that are open to writes there; null for a slave", lambda r: r.open_topics),
    result_column("dry-run, or failed if nsadmin would not drain the broker", "dry-run"),
    ERROR,
)

_COMMAND_FIELDS = ("brokerName", "brokerAddr", "brokerId")


@command(columns=RESTART_COLUMNS, agent_refusal="it runs commands of this machine")
def rolling_restart(
    session: Session,
    cluster_name: Annotated[
        str, Argument(metavar="CLUSTER", help="Name of the cluster."), Flags("-c", "--clusterName")
    ],
    stop_command: Annotated[
        str | None,
        Option(
            "--stop",
            metavar="COMMAND",
            help="Shell command that stops a broker. {brokerName}, {brokerAddr}, {brokerId} are "
            "replaced, and are in NSADMIN_BROKER_NAME, NSADMIN_BROKER_ADDR, NSADMIN_BROKER_ID.",
        ),
    ] = None,
    start_command: Annotated[
        str | None,
        Option(
            "--start",
            metavar="COMMAND",
            help="Shell command that starts a broker, with the same replacements.",
        ),
    ] = None,
    max_groups: Annotated[
        int | None,
        Option(
            "--pause-after",
            metavar="N",
            help="Stop after this number of broker names. The next run resumes.",
            min=1,
        ),
    ] = None,
    patience_text: Annotated[
        str,
        Option(
            "--patience",
            metavar="DURATION",
            help="How long a broker may take to become healthy. Default: 10m.",
        ),
    ] = "10m",
    durable: Annotated[
        bool,
        Option(
            "--durable",
            help="Drain with brokerPermission, which also stops writes until slaves are in sync.",
        ),
    ] = False,
    force: Annotated[
        bool, Option("--force", help="Restart even if some topics have only one broker.")
    ] = False,
    allow_unreachable: drain_options.AllowUnreachableOption = False,
    max_messages: drain_options.ThresholdOption = 0,
    settle_text: drain_options.SettleTimeOption = "30s",
    interval_text: drain_options.IntervalOption = "10s",
    quiet_intervals: drain_options.IntervalsOption = 3,
) -> ResultRows | Iterator[OutputText]:
    """Restart all brokers of a cluster one by one: slaves, then their master, then the next broker name.

    nsadmin drains, stops, starts and undrains each master. It stops and starts each slave. After each start,
    it waits until every name server lists the broker, the broker reports a new start, and slaves are in sync.
    It stops no broker while the previous or the next one is unhealthy. Without --force, it begins only if
    `nsadmin drain` would not refuse any of the masters. Use --dry-run to see the refusals.

    Safe to interrupt. Run the same command to resume. Ctrl-C stops between two steps, --pause-after between
    two broker names. The shell commands may run twice, so they must be repeatable, like systemctl.

    nsadmin refuses the restart if a broker's name or address contains characters that a shell could
    interpret. Safe characters are letters, digits and ._%:[]-

    Examples:
        # Preview the order and the steps, and the topics that only one broker has (exit code 1)
        nsadmin rollingRestart -c cluster-a --dry-run
        # With the commands that stop and start each broker; a preview, also refused (exit code 1)
        nsadmin rollingRestart cluster-a --stop './stop {brokerAddr}' --start './start {brokerAddr}' --dry-run
    """
    broker_groups = [
        broker_group
        for broker_group in session.admin.clusters.get_info().groups_in_cluster(cluster_name)
        if broker_group.broker_addrs
    ]
    remark_missing(session, cluster_name, "it is not restarted; start it before the others stop")
    refuse_shared_addrs(find_shared_addrs(broker_groups))
    refuse_twins(session.admin, open_inventory(session), [g.broker_name for g in broker_groups])
    restart_rules = RestartRules(
        round(parse_duration_seconds("--patience", patience_text, 1, 86400) * 1000),
        max_groups,
        stop_command or "",
        start_command or "",
        audit.describe_user(),
    )
    drain_rules = drain_options.parse_drain_rules(settle_text, quiet_intervals, max_messages)
    interval_seconds = drain_options.parse_interval_seconds(interval_text)
    addrs_by_broker = {broker_group.broker_name: broker_group.broker_addrs for broker_group in broker_groups}
    installation = Installation(session.admin)
    folder = installation.find_run(lambda home: open_restart(home, cluster_name))
    saved = folder.state.load()
    # If a restart is saved, the remaining ones.
    broker_processes = order_processes(addrs_by_broker) if saved is None else saved.processes[saved.at :]
    if stop_command or start_command:
        for broker_process in broker_processes:
            shell_command.require_safe_fields(_command_fields(broker_process))
    for line in list_broker_faults(session.admin.clusters.list_broker_status(cluster_name)):
        session.write_remark(line)
    if not session.is_dry_run:
        shell_commands = {
            "stop": _require_command("--stop", stop_command),
            "start": _require_command("--start", start_command),
        }

    @cache
    def read_context(broker_name: str) -> BrokerRestartContext:
        drain_plan = DrainPlan(
            broker_name,
            drain_rules,
            interval_seconds,
            durable,
            force,
            allow_unreachable,
            by=audit.describe_user(),
        )
        master_addr = _find_master_addr(broker_groups, broker_name)
        return _read_broker_context(installation, session.admin, cluster_name, drain_plan, master_addr)

    if saved is None:
        require_masters(addrs_by_broker)
    contexts = () if saved is not None else map(read_context, addrs_by_broker)
    refusals = find_refusals(contexts, SYSTEM_CLOCK.now_ms())
    if session.is_dry_run:
        return _dry_run_rows(session, broker_processes, refusals)
    if refusals:
        refusal_texts = "; ".join(f"{name}: {error}" for name, error in refusals.items())
        raise DrainRefused(f"no broker was stopped: {refusal_texts}")
    names = dict.fromkeys(p.broker for p in broker_processes)
    session.confirm_change(f"Restart {', '.join(names)} of {cluster_name}, one after another?")

    def run_step_command(step_name: str, broker_process: BrokerProcess) -> int:
        return _run_command(shell_commands[step_name], broker_process)

    def begin_restart(clock: ProcedureClock) -> Iterator[EventRecord]:
        return RollingRestart(
            cluster_name,
            restart_rules,
            read_context,
            run_step_command,
            folder,
            clock,
            min(interval_seconds, 2.0),
        ).run_restart(addrs_by_broker)

    return _report_restart(session, cluster_name, begin_restart)


def _read_broker_context(
    installation: Installation,
    admin: AdminClient,
    cluster_name: str,
    drain_plan: DrainPlan,
    master_addr: str,
) -> BrokerRestartContext:
    broker_name = drain_plan.broker
    cluster_view = ClusterEnvironment(admin, broker_name)
    return BrokerRestartContext(
        cluster_view,
        installation.find_run(lambda home: open_drain(home, cluster_name, broker_name)),
        drain_plan,
        cluster_view.read_system_topics(master_addr, cluster_name),
        cluster_view.read_ordered_topics(master_addr) if drain_plan.durable else frozenset(),
        list_drained_names(installation.keep_own(load_drains(installation.state_home))),
    )


def _run_command(command_text: str, broker_process: BrokerProcess) -> int:
    """Run the operator's shell command for a broker process, and return its exit code."""
    command_fields = _command_fields(broker_process)
    return shell_command.run_in_shell(shell_command.fill_fields(command_text, command_fields), command_fields)


def _find_master_addr(broker_groups: list[BrokerAddrGroup], broker_name: str) -> str:
    return next(
        (
            broker_group.master_addr or ""
            for broker_group in broker_groups
            if broker_group.broker_name == broker_name
        ),
        "",
    )


def _require_command(option_flag: str, command_text: str | None) -> str:
    if not command_text:
        raise UsageError(
            f"missing option {option_flag}: pass both commands, such as --stop 'ssh {{brokerName}} systemctl "
            "stop broker' --start 'ssh {brokerName} systemctl start broker'"
        )
    unknown_fields = shell_command.find_unknown_fields(command_text, dict.fromkeys(_COMMAND_FIELDS, ""))
    if unknown_fields:
        known_fields = ", ".join(f"{{{field_name}}}" for field_name in _COMMAND_FIELDS)
        raise UsageError(f"unknown placeholder {{{unknown_fields[0]}}} in {option_flag}: use {known_fields}")
    return command_text


def _command_fields(broker_process: BrokerProcess) -> dict[str, str]:
    field_values = (broker_process.broker, broker_process.addr, str(broker_process.broker_id))
    return dict(zip(_COMMAND_FIELDS, field_values, strict=True))


def _dry_run_rows(
    session: Session, broker_processes: Sequence[BrokerProcess], refusals: Mapping[str, DrainRefused]
) -> ResultRows:
    open_counts = {
        name: max(
            (len(s.open_topics) for s in ClusterEnvironment(session.admin, name).read_servers()), default=0
        )
        for name in dict.fromkeys(p.broker for p in broker_processes)
    }
    planned = [
        PlannedRestart(p, open_counts[p.broker], refusals.get(p.broker))
        if p.is_master
        else PlannedRestart(p, None, None)
        for p in broker_processes
    ]
    notes = [f"no broker would be stopped: {', '.join(refusals)} cannot be drained"] if refusals else []
    return ResultRows.from_records(RESTART_COLUMNS, planned, [*refusals.values()], notes)


def _report_restart(
    session: Session, cluster_name: str, begin_restart: Callable[[ProcedureClock], Iterator[EventRecord]]
) -> Iterator[OutputText]:
    report_event = ProcedureReporter(
        session,
        "rollingRestart",
        lambda restart_event: describe_record(restart_event) or events.describe_record(restart_event),
    )
    interruption = (
        f"interrupted; progress is saved: run the same command to resume the restart of {cluster_name}"
    )
    for _, line in report_event.follow(begin_restart, interruption):
        yield line
