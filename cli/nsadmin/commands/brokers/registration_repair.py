"""Owns repair wipe and repair register, which restore on name servers the state that a broker itself has."""

from collections.abc import Callable, Sequence
from typing import Annotated

from typer import Argument

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotApplied
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.change_rows import summarize_perm_changes
from nsadmin.commands.columns.result_rows import outcome_cells
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.phrases import quote_command
from nsadmin.console.session import Session
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from nsadmin.operations.registration_repair import RegistrationRepair, RepairPlan
from nsadmin.operations.run_folder import InvalidStateError
from nsadmin.operations.state_folder import find_state_home

REPAIR_COLUMNS = (
    "namesrvAddr", "brokerName", "topicCount", "missing", "changes", "before", "after", "how", "result",
    "error",
)  # fmt: skip
REPAIR_TABLE_COLUMNS = (
    "namesrvAddr", "brokerName", "topicCount", "missing", "changes", "how", "result", "error",
)  # fmt: skip

RepairedBrokerArgument = Annotated[
    str, Argument(metavar="BROKER", help="Name of a broker, from clusterList."), Flags("-b", "--brokerName")
]


@command(columns=REPAIR_COLUMNS)
def repair_wipe(session: Session, broker_name: RepairedBrokerArgument) -> ResultRows:
    """Restore on every name server the permission that the broker itself has for each topic.

    This undoes wipeWritePerm, also if it reached only some name servers. It also undoes addWritePerm, which
    makes read-only and system topics writable. Pass one server with -n to repair only that server. Topics
    that a name server does not have stay missing: use `repair register` for these. Name servers of 4.x do not
    accept single topics, so the broker registers all of its topics there. nsadmin reads the routes back. It
    refuses to repair a drained broker: use undrain.

    Examples:
        # Preview the changes on each name server
        nsadmin repair wipe broker-a-0 --dry-run
        # Let producers write to broker-a-0 again; read-only topics stay read-only
        nsadmin repair wipe broker-a-0 --yes
    """
    registration_repair = _open_repair(session, broker_name)
    return _run_repair(
        session,
        broker_name,
        registration_repair.plan_permissions(),
        registration_repair.restore_permissions,
        "Restore the permissions of {broker} on {servers}?",
    )


@command(columns=REPAIR_COLUMNS)
def repair_register(session: Session, broker_name: RepairedBrokerArgument) -> ResultRows:
    """Make a running broker register all of its topics with all of its name servers immediately.

    Released brokers do this when their brokerPermission is set, even to its current value. So nsadmin sets it
    to its current value, and the broker rewrites its configuration file. The registration restores missing
    topics, queue numbers and permissions on every name server in the broker's own list, independent of -n. -n
    selects the name servers that nsadmin reads back. nsadmin refuses a drained broker: use undrain.

    Examples:
        # Show the topics of a broker that name servers lack
        nsadmin repair register broker-a-0 --dry-run
        # Make the broker register them
        nsadmin repair register broker-a-0 --yes
    """
    registration_repair = _open_repair(session, broker_name)
    return _run_repair(
        session,
        broker_name,
        registration_repair.plan_registration(),
        registration_repair.register_all,
        "Make {broker} register all of its topics, by setting brokerPermission to its current value?",
    )


def _open_repair(session: Session, broker_name: str) -> RegistrationRepair:
    # Raises the error with the right exit code if no name server answers.
    session.admin.clusters.get_info()
    registration_repair = RegistrationRepair(
        broker_name, ClusterEnvironment(session.admin, broker_name), SYSTEM_CLOCK
    )
    for saved_drain in load_drains(find_state_home()):
        if isinstance(saved_drain, InvalidStateError):
            raise saved_drain
        state = saved_drain.state
        if (state.broker, state.cluster) == (broker_name, registration_repair.cluster_name):
            raise NotApplied(
                f"{broker_name} is drained: {quote_command('undrain', broker_name)} restores its permissions"
            )
    return registration_repair


def _run_repair(
    session: Session,
    broker_name: str,
    server_plans: Sequence[RepairPlan],
    apply_repair: Callable[[], Sequence[RepairPlan]],
    question: str,
) -> ResultRows:
    repairable_addrs = [server_plan.namesrv_addr for server_plan in server_plans if server_plan.error is None]
    session.confirm_change(question.format(broker=broker_name, servers=", ".join(repairable_addrs)))
    done_plans = server_plans if session.is_dry_run else apply_repair()
    errors: list[RocketMQError | None] = [server_plan.error for server_plan in done_plans]
    return ResultRows(
        REPAIR_COLUMNS,
        [_repair_row(session, broker_name, server_plan) for server_plan in done_plans],
        errors,
        (),
        REPAIR_TABLE_COLUMNS,
    )


def _repair_row(session: Session, broker_name: str, server_plan: RepairPlan) -> ResultRow:
    identity_cells = {"namesrvAddr": server_plan.namesrv_addr, "brokerName": broker_name}
    done_word = "dry-run" if session.is_dry_run else "done" if server_plan.method else "unchanged"
    repair_cells = {
        "topicCount": server_plan.topic_count,
        "missing": len(server_plan.missing_topics),
        "changes": summarize_perm_changes(server_plan.before, server_plan.after),
        "before": dict(server_plan.before),
        "after": dict(server_plan.after),
        "how": server_plan.method,
    }
    is_known = server_plan.method is not None or server_plan.error is None
    return {
        **identity_cells,
        **(repair_cells if is_known else {}),
        **outcome_cells(server_plan.error, done_word),
    }
