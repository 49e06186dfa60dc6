"""The drain of a broker as a function: what is checked first, the run, and the undoing of a drain."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nsadmin.client.admin import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotFound, ReadOnlyAccess
from nsadmin.console.phrases import count_noun, format_utc_second
from nsadmin.operations.broker_identity import observe_twins
from nsadmin.operations.drain import events
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.drained_brokers import list_drained_names
from nsadmin.operations.drain.facts import NameServerFacts
from nsadmin.operations.drain.risks import (
    DrainRisk,
    describe_refusals,
    find_cluster_name,
    find_master_addr,
    find_slave_addrs,
)
from nsadmin.operations.drain.runner import (
    DrainPlan,
    DrainRefused,
    DrainRun,
    check_plan,
    describe_unknown_broker,
)
from nsadmin.operations.drain.state import (
    DrainFolder,
    DrainState,
    QueueSnapshot,
    SavedDrain,
    load_drains,
    open_drain,
)
from nsadmin.operations.drain.undo import UndoRun, find_closed_topics
from nsadmin.operations.installation import Installation
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.operations.procedure_clock import ProcedureClock, read_system_ms
from nsadmin.operations.rebalance.run_state import explain_awaited_run, load_rebalances
from nsadmin.operations.run_folder import EventRecord, InvalidStateError
from nsadmin.operations.state_folder import find_state_home

EventCallback = Callable[[EventRecord], object]


class DrainResult(NamedTuple):
    """The outcome of a drain, or of its dry run.

    Attributes:
        broker_name: The broker.
        is_safe: Whether the broker can be stopped now. Always false after a dry run.
        unknown_servers: The name servers that did not answer in the end, or did not list the broker. Their
            clients may still write.
        open_topics: Name server to the number of topics that clients may still write to on the broker; None
            if the name server did not answer.
        risks: The losses of the cluster without the broker. Empty if an interrupted drain went on.
    """

    broker_name: str
    is_safe: bool
    unknown_servers: tuple[str, ...]
    open_topics: Mapping[str, int | None]
    risks: tuple[DrainRisk, ...]


class RestoredServer(NamedTuple):
    """The routes of one name server after a drain was undone.

    Attributes:
        addr: The name server.
        topic_count: The number of topics that are as before the drain, or would be after a dry run.
        method: How the routes were restored; None after a dry run.
        differing_topics: The topics that are not as before: topic to the reason.
        error: Why the routes are unknown; None if they are known.
        closed_topics: The topics that the name server had without write permission before the drain, although
            the broker has it. They stay so.
    """

    addr: str
    topic_count: int
    method: str | None
    differing_topics: Mapping[str, str]
    error: str | None
    closed_topics: tuple[str, ...] = ()

    @property
    def is_restored(self) -> bool:
        """Whether all routes are as before the drain."""
        return self.error is None and not self.differing_topics


class PreparedDrain(NamedTuple):
    """A drain that was checked, and did not begin. Nothing was changed.

    `saved_state` is the state of an interrupted drain, which `run_events` continues. Else `checked` has the
    risks.
    """

    plan: DrainPlan
    servers: tuple[NameServerFacts, ...]
    saved_state: DrainState | None
    checked: events.Checked | None
    environment: ClusterEnvironment
    folder: DrainFolder | None

    @property
    def risks(self) -> tuple[DrainRisk, ...]:
        """The losses of the cluster without the broker."""
        return () if self.checked is None else self.checked.risks

    def run_events(self, clock: ProcedureClock) -> Iterator[EventRecord]:
        """Run the drain, and yield its events."""
        assert self.folder is not None
        return DrainRun(self.plan, self.environment, self.folder, clock).run_drain(self.checked, self.servers)


def prepare_drain(
    admin: AdminClient,
    plan: DrainPlan,
    state_home: Path,
    now_ms: int,
    inventory: InventoryKeeper,
    *,
    is_dry_run: bool,
    moved_topics: Collection[str] = (),
) -> PreparedDrain:
    """Read the broker's routes, and check what the cluster loses. An interrupted drain is not checked again.

    The check is without `moved_topics`, which will have left the broker.

    Raises:
        NotFound: No name server that answered has the broker.
        DrainRefused: The drain cannot begin.
    """
    environment = ClusterEnvironment(admin, plan.broker)
    servers = tuple(
        server._replace(topics={t: s for t, s in server.topics.items() if t not in moved_topics})
        for server in environment.read_servers()
    )
    folder = find_drain_folder(plan.broker, servers, Installation(admin, state_home))
    saved = None if is_dry_run or folder is None else folder.load()
    if saved is not None:
        return PreparedDrain(plan, servers, saved.state, None, environment, folder)
    master_addr = find_master_addr(servers) or ""
    checked = check_plan(
        plan,
        servers,
        environment.read_system_topics(master_addr, find_cluster_name(servers) or ""),
        environment.read_ordered_topics(master_addr) if plan.durable else frozenset(),
        now_ms,
        environment.read_slave_gaps(master_addr or None, find_slave_addrs(servers)),
        list_drained_names(Installation(admin, state_home).keep_own(load_drains(state_home))),
    )
    twin_lines = observe_twins(admin, inventory, [plan.broker])
    twin_risks = [DrainRisk("twoProcesses", line, (), True, "then drain it again") for line in twin_lines]
    risks = (*_await_rebalance(checked.risks, Installation(admin, state_home)), *twin_risks)
    checked = checked._replace(risks=risks)
    return PreparedDrain(plan, servers, None, checked, environment, folder)


def _await_rebalance(risks: Sequence[DrainRisk], installation: Installation) -> Iterator[DrainRisk]:
    """The risks: the remedy of those about topics that an unfinished rebalance moves is its end."""
    runs = list(installation.keep_own(load_rebalances(installation.state_home))) if risks else []
    for risk in risks:
        yield risk._replace(remedy=explain_awaited_run(runs, risk.topics) or risk.remedy)


def find_drain_folder(
    broker_name: str, servers: tuple[NameServerFacts, ...], installation: Installation
) -> DrainFolder | None:
    """Find the folder of the broker's drain; None if neither a name server nor a saved drain has it."""
    cluster_name = find_cluster_name(servers)
    if cluster_name is not None:
        return installation.find_run(lambda home: open_drain(home, cluster_name, broker_name))
    for saved_drain in installation.keep_own(load_drains(installation.state_home)):
        if isinstance(saved_drain, InvalidStateError):
            raise saved_drain
        if saved_drain.state.broker == broker_name:
            return saved_drain.folder
    return None


class PreparedUndo(NamedTuple):
    """The undoing of a drain that did not begin. Nothing was changed."""

    broker: str
    servers: tuple[NameServerFacts, ...]
    saved_drain: SavedDrain
    environment: ClusterEnvironment

    def preview_servers(self) -> list[RestoredServer]:
        """The number of topics that each name server would have as before the drain."""
        own_queues = self.environment.read_own_queues(find_master_addr(self.servers) or "")
        known_queues = None if isinstance(own_queues, str) else own_queues
        snapshot = self.saved_drain.snapshot
        return [
            RestoredServer(
                server.namesrv_addr,
                len(server.topics),
                None,
                {},
                server.error,
                find_closed_topics(snapshot, known_queues, server),
            )
            for server in self.servers
        ]

    def run_events(self, clock: ProcedureClock) -> Iterator[EventRecord]:
        """Undo the drain, and yield its events. Raises NotFound or DrainBusyError."""
        return UndoRun(self.broker, self.environment, self.saved_drain.folder, clock).run_undo()


def prepare_undo(admin: AdminClient, broker_name: str, state_home: Path) -> PreparedUndo:
    """Find the saved drain of a broker, and read the broker's routes.

    Raises:
        NotFound: No drain of the broker is saved.
    """
    environment = ClusterEnvironment(admin, broker_name)
    servers = environment.read_servers()
    folder = find_drain_folder(broker_name, servers, Installation(admin, state_home))
    saved_drain = None if folder is None else folder.load()
    if saved_drain is None:
        refuse_foreign_drain(state_home, broker_name, "undrain")
        raise NotFound(explain_missing_drain(broker_name, environment, servers, folder))
    return PreparedUndo(broker_name, servers, saved_drain, environment)


def explain_missing_drain(
    broker_name: str,
    environment: ClusterEnvironment,
    servers: Sequence[NameServerFacts],
    folder: DrainFolder | None,
) -> str:
    """Say that the account has no drain of a broker, and what else is known: a wrong name, or its end."""
    # Imported late, as below.
    from nsadmin.console.audit import describe_user

    account = f"the account {describe_user()}"
    if all(server.error is not None for server in servers):
        return f'{account} has no drain of "{broker_name}"; no name server answered: {servers[0].error}'
    if not any(server.is_registered for server in servers):
        return f"{describe_unknown_broker(broker_name, servers)}, and {account} has no drain of it"
    undone_ms = None if folder is None else folder.read_undone_ms()
    if undone_ms is None:
        text = f"{account} has no drain of {broker_name}"
    else:
        text = f"{broker_name} has no drain: it was undone at {format_utc_second(undone_ms)}"
    own_queues = environment.read_own_queues(find_master_addr(servers) or "")
    known_queues = None if isinstance(own_queues, str) else own_queues
    closed = {t for server in servers for t in find_closed_topics(QueueSnapshot(), known_queues, server)}
    if not closed:
        return text if known_queues is None else f"{text}, and no name server closed its topics to writes"
    return (
        f"{text}, but clients cannot write to {count_noun(len(closed), 'topic')} of it: if another user or "
        "machine drained it, run undrain there; else run "
        f"`{quote_command('repair', 'wipe', broker_name)}`, which restores the broker's own permissions"
    )


def refuse_foreign_drain(state_home: Path, broker_name: str, command_name: str) -> None:
    """Raise NotFound if another installation has a drain of a broker of this name, as this one has not."""
    for saved in load_drains(state_home):
        if isinstance(saved, SavedDrain) and saved.state.broker == broker_name:
            advice = saved.state.advise(command_name, broker_name)
            raise NotFound(f'the drain of "{broker_name}" belongs to {saved.state.owner}: `{advice}`')


def restored_server_of(put_back: EventRecord) -> RestoredServer:
    """Return the record of a `putBack` event."""
    keys = ("addr", "topics", "how", "differing", "error", "closed")
    return RestoredServer(*(put_back[key] for key in keys))


def drain_broker(
    admin: AdminClient,
    plan: DrainPlan,
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
        _require_writable(admin, f"{plan.broker} was not drained")
    if when_safe is not None:
        plan = plan._replace(then=_command_of(when_safe))
    plan = plan._replace(by=describe_user())
    prepared = prepare_drain(
        admin, plan, find_state_home(), read_system_ms(), inventory, is_dry_run=is_dry_run
    )
    open_topics = {s.namesrv_addr: None if s.error else len(s.open_topics) for s in prepared.servers}
    result = DrainResult(plan.broker, False, (), open_topics, prepared.risks)
    if is_dry_run:
        return result
    if prepared.risks and not plan.force:
        raise DrainRefused("; ".join(describe_refusals(prepared.risks)))
    for event in prepared.run_events(ProcedureClock(read_system_ms, pause_seconds)):
        match event["event"]:
            case "safe":
                result = result._replace(is_safe=True, unknown_servers=tuple(event["unknown"]))
                if plan.rules.for_good:
                    # The script is about to remove the broker, so that it will not be missing.
                    inventory.mark_leaving(plan.broker)
            case "unsafe" | "reopened":
                result = result._replace(is_safe=False)
            case "progress":
                result = result._replace(open_topics=event["openTopics"])
        if on_event is not None:
            on_event(event)
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
    prepared = prepare_undo(admin, broker_name, find_state_home())
    if is_dry_run:
        return prepared.preview_servers()
    inventory.mark_leaving(broker_name, is_leaving=False)
    restored_servers = []
    for event in prepared.run_events(ProcedureClock(read_system_ms, pause_seconds)):
        if event["event"] == "putBack":
            restored_servers.append(restored_server_of(event))
        if on_event is not None:
            on_event(event)
    return restored_servers


def _require_writable(admin: AdminClient, failure_text: str) -> None:
    if admin.is_read_only:
        raise ReadOnlyAccess(f"{failure_text}: this client is read-only")


def _command_of(when_safe: Callable[[str], object]) -> Callable[[str], events.CommandEnded]:
    def run_function(master_addr: str) -> events.CommandEnded:
        when_safe(master_addr)
        return events.CommandEnded(read_system_ms(), getattr(when_safe, "__name__", "when_safe"), 0)

    return run_function
