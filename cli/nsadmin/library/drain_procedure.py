"""The drain of a broker as a function: what is checked first, the run, and the undoing of a drain."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from nsadmin.client.admin import AdminClient
from nsadmin.client.results import NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.facts import NameServerFacts, QueuesByTopic
from nsadmin.operations.drain.risks import DrainRisk, find_cluster_name, find_master_addr, find_slave_addrs
from nsadmin.operations.drain.runner import DrainPlan, DrainRun, check_plan
from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot, load_drains, open_drain
from nsadmin.operations.drain.undo import UndoRun, find_differing_queues
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord, InvalidStateError


class DrainResult(NamedTuple):
    """The outcome of a drain, or of its dry run.

    Attributes:
        broker_name: The broker.
        is_safe: Whether the broker can be stopped now. Always false after a dry run.
        unknown_servers: The name servers that did not answer in the end, so that their routes are unknown.
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
        topic_count: The number of topics that are as before the drain; of a dry run, of those to restore.
        method: How the routes were restored; None after a dry run.
        differing_topics: The topics that are not as before: topic to the reason.
        error: Why the routes are unknown; None if they are known.
    """

    addr: str
    topic_count: int
    method: str | None
    differing_topics: Mapping[str, str]
    error: str | None

    @property
    def is_restored(self) -> bool:
        """Whether all routes are as before the drain."""
        return self.error is None and not self.differing_topics


class PreparedDrain:
    """A drain that was checked, and did not begin. Nothing was changed.

    `saved_state` is the state of an interrupted drain, which `run_events` continues. Else `checked_event` has
    the risks.
    """

    def __init__(
        self,
        drain_plan: DrainPlan,
        environment: ClusterEnvironment,
        servers: tuple[NameServerFacts, ...],
        folder: DrainFolder | None,
    ) -> None:
        self.drain_plan = drain_plan
        self.servers = servers
        self.saved_state: DrainState | None = None
        self.checked_event: events.Checked | None = None
        self._environment = environment
        self._folder = folder

    @property
    def risks(self) -> tuple[DrainRisk, ...]:
        """The losses of the cluster without the broker."""
        return () if self.checked_event is None else self.checked_event.risks

    @property
    def open_topics(self) -> dict[str, int | None]:
        """The number of topics that each name server shows as writable; None if it did not answer."""
        return {
            server.namesrv_addr: None if server.error else len(server.open_topics) for server in self.servers
        }

    def load_saved(self) -> None:
        """Look for an interrupted drain of this broker, which goes on."""
        saved_drain = None if self._folder is None else self._folder.load()
        self.saved_state = None if saved_drain is None else saved_drain.state

    def check_risks(self, now_ms: int) -> None:
        """Check what the cluster loses. Raises NotFound or DrainRefused, as `check_plan`."""
        master_addr = find_master_addr(self.servers) or ""
        environment, is_durable = self._environment, self.drain_plan.durable
        self.checked_event = check_plan(
            self.drain_plan,
            self.servers,
            environment.read_system_topics(master_addr, find_cluster_name(self.servers) or ""),
            environment.read_ordered_topics(master_addr) if is_durable else frozenset(),
            now_ms,
            environment.read_slave_gaps(master_addr or None, find_slave_addrs(self.servers)),
        )

    def run_events(self, procedure_clock: ProcedureClock) -> Iterator[EventRecord]:
        """Run the drain, and yield its events."""
        assert self._folder is not None
        drain_run = DrainRun(self.drain_plan, self._environment, self._folder, procedure_clock)
        return drain_run.run_drain(self.checked_event, self.servers)


def prepare_drain(
    admin: AdminClient, drain_plan: DrainPlan, state_home: Path, now_ms: int, *, is_dry_run: bool
) -> PreparedDrain:
    """Read the broker's routes, and check what the cluster loses. An interrupted drain is not checked again.

    Raises:
        NotFound: No name server that answered has the broker.
        DrainRefused: The drain cannot begin.
    """
    environment = ClusterEnvironment(admin, drain_plan.broker)
    servers = environment.read_servers()
    folder = find_drain_folder(drain_plan.broker, servers, state_home)
    prepared_drain = PreparedDrain(drain_plan, environment, servers, folder)
    if not is_dry_run:
        prepared_drain.load_saved()
    if prepared_drain.saved_state is None:
        prepared_drain.check_risks(now_ms)
    return prepared_drain


def find_drain_folder(
    broker_name: str, servers: tuple[NameServerFacts, ...], state_home: Path
) -> DrainFolder | None:
    """Find the folder of the broker's drain; None if neither a name server nor a saved drain has it."""
    cluster_name = find_cluster_name(servers)
    if cluster_name is not None:
        return open_drain(state_home, cluster_name, broker_name)
    for saved_drain in load_drains(state_home):
        if isinstance(saved_drain, InvalidStateError):
            raise saved_drain
        if saved_drain.state.broker == broker_name:
            return saved_drain.folder
    return None


class PreparedUndo:
    """The undoing of a drain that did not begin. Nothing was changed."""

    def __init__(
        self,
        broker_name: str,
        environment: ClusterEnvironment,
        servers: tuple[NameServerFacts, ...],
        folder: DrainFolder,
        snapshot: QueueSnapshot,
    ) -> None:
        self.broker_name = broker_name
        self.servers = servers
        self._environment = environment
        self._folder = folder
        self._snapshot = snapshot

    def preview_servers(self) -> list[RestoredServer]:
        """The number of topics that each name server must restore."""
        own_queues = self._environment.read_own_queues(find_master_addr(self.servers) or "")
        known_queues: QueuesByTopic | None = None if isinstance(own_queues, str) else own_queues
        return [
            RestoredServer(
                server.namesrv_addr,
                len(find_differing_queues(self._snapshot, known_queues, server)),
                None,
                {},
                server.error,
            )
            for server in self.servers
        ]

    def run_events(self, procedure_clock: ProcedureClock) -> Iterator[EventRecord]:
        """Undo the drain, and yield its events. Raises NotFound or DrainBusyError."""
        undo_run = UndoRun(self.broker_name, self._environment, self._folder, procedure_clock)
        return undo_run.run_undo()


def prepare_undo(admin: AdminClient, broker_name: str, state_home: Path) -> PreparedUndo:
    """Find the saved drain of a broker, and read the broker's routes.

    Raises:
        NotFound: No drain of the broker is saved.
    """
    environment = ClusterEnvironment(admin, broker_name)
    servers = environment.read_servers()
    folder = find_drain_folder(broker_name, servers, state_home)
    saved_drain = None if folder is None else folder.load()
    if folder is None or saved_drain is None:
        raise NotFound(
            f'no saved drain of "{broker_name}" in {state_home / "drains"}: run undrain on the '
            "machine and as the user that started the drain, or run nsadmin repair wipe"
        )
    return PreparedUndo(broker_name, environment, servers, folder, saved_drain.snapshot)


def restored_server_of(put_back_event: EventRecord) -> RestoredServer:
    """Return the record of a `putBack` event."""
    return RestoredServer(
        put_back_event["addr"],
        put_back_event["topics"],
        put_back_event["how"],
        put_back_event["differing"],
        put_back_event["error"],
    )
