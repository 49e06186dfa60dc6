"""Owns repair wipe and repair register, which restore on name servers the state that a broker itself has."""

from collections.abc import Callable, Sequence
from typing import Annotated

from typer import Argument

from nsadmin.client import NotApplied
from nsadmin.client.advised_command import quote_command
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_NAME
from nsadmin.commands.columns.changes import AFTER, BEFORE, CHANGES, RESULT, summarize_perm_changes
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.console.output import Column, Columns, ResultRows, replace_columns
from nsadmin.console.session import Session
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.state import load_drains
from nsadmin.operations.installation import Installation
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from nsadmin.operations.registration_repair import RegistrationRepair, RepairPlan
from nsadmin.operations.run_folder import InvalidStateError
from nsadmin.operations.state_folder import find_state_home


def _if_known(read: Callable[[RepairPlan], object]) -> Callable[[RepairPlan], object]:
    """Null for a name server whose topics are unknown."""
    return lambda p: read(p) if p.method is not None or p.error is None else None


REPAIR_COLUMNS: Columns[RepairPlan] = (
    NAMESRV_ADDR.of(lambda p: p.namesrv_addr),
    BROKER_NAME,
    Column("topicCount", "topics of the broker on the name server", _if_known(lambda p: p.topic_count)),
    Column(
        "missing",
        "topics of the broker that the name server lacked",
        _if_known(lambda p: len(p.missing_topics)),
    ),
    CHANGES.of(_if_known(lambda p: summarize_perm_changes(p.before, p.after))),
    BEFORE.of(_if_known(lambda p: dict(p.before))).means(
        "the permission on the name server of each topic that differed"
    ),
    AFTER.of(_if_known(lambda p: dict(p.after))).means(
        "the broker's own permission of each topic that differed"
    ),
    Column(
        "how",
        "topic by topic, or by a registration of the broker; null for neither",
        _if_known(lambda p: p.method),
    ),
    RESULT.of(lambda p: outcome_word(p.error, "done" if p.method else "unchanged")),
    ERROR,
)
DRY_RUN_COLUMNS = replace_columns(REPAIR_COLUMNS, RESULT.of(lambda p: outcome_word(p.error, "dry-run")))
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
    repair = _open_repair(session, broker_name)
    return _run_repair(
        session,
        broker_name,
        repair.plan_permissions(),
        repair.restore_permissions,
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
    repair = _open_repair(session, broker_name)
    return _run_repair(
        session,
        broker_name,
        repair.plan_registration(),
        repair.register_all,
        "Make {broker} register all of its topics, by setting brokerPermission to its current value?",
    )


def _open_repair(session: Session, broker_name: str) -> RegistrationRepair:
    # Raises the error with the right exit code if no name server answers.
    session.admin.clusters.get_info()
    repair = RegistrationRepair(broker_name, ClusterEnvironment(session.admin, broker_name), SYSTEM_CLOCK)
    for drain in Installation(session.admin).keep_own(load_drains(find_state_home())):
        if isinstance(drain, InvalidStateError):
            raise drain
        if (drain.state.broker, drain.state.cluster) == (broker_name, repair.cluster_name):
            raise NotApplied(
                f"{broker_name} is drained: {quote_command('undrain', broker_name)} restores its permissions"
            )
    return repair


def _run_repair(
    session: Session,
    broker_name: str,
    plans: Sequence[RepairPlan],
    apply_repair: Callable[[], Sequence[RepairPlan]],
    question: str,
) -> ResultRows:
    repairable_addrs = [p.namesrv_addr for p in plans if p.error is None]
    session.confirm_change(question.format(broker=broker_name, servers=", ".join(repairable_addrs)))
    columns = DRY_RUN_COLUMNS if session.is_dry_run else REPAIR_COLUMNS
    plans = plans if session.is_dry_run else apply_repair()
    return ResultRows.from_records(
        columns, plans, [p.error for p in plans], common={BROKER_NAME: broker_name}
    )
