"""Undoes a drain: restores the routes of all name servers as before the drain, and reads them back."""

from collections.abc import Callable, Iterator, Mapping

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client.results import NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.facts import DrainEnvironment, NameServerFacts, QueuesByTopic
from nsadmin.operations.drain.risks import find_master_addr
from nsadmin.operations.drain.state import DrainFolder, DrainState, QueueSnapshot
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord

_MAX_ROUNDS = 20
_PAUSE_SECONDS = 0.5

BY_TOPIC, BY_BROKER, BY_ADDING = "topic by topic", "by a registration of the broker", "rw- for all"
BY_WIPING, NOTHING_TO_DO = "write permission removed", "nothing to do"


class DrainBusyError(RocketMQError):
    """Another process runs this drain."""


def find_differing_queues(
    snapshot: QueueSnapshot, own_queues: QueuesByTopic | None, server: NameServerFacts
) -> dict[str, QueueData]:
    """Return the target queues of the topics that a name server must change.

    The target has the saved permission of the name server. If the broker's own configuration of a topic
    changed during the drain, the target is the new configuration. `own_queues` has it, None if it is unknown.
    The drain changed nothing on a name server whose routes it did not save, and it removed no topic.
    """
    differing: dict[str, QueueData] = {}
    saved_queues = snapshot.queues_by_server.get(server.namesrv_addr)
    if not server.is_registered or (saved_queues is None and not snapshot.closes_all):
        return differing
    for topic, current in sorted(server.queues_by_topic.items()):
        target = _target_queue(topic, saved_queues, snapshot.own_queues, own_queues, current)
        if target is not None and current != target:
            differing[topic] = target
    return differing


def _target_queue(
    topic: str,
    saved_queues: QueuesByTopic | None,
    saved_own_queues: QueuesByTopic | None,
    own_queues: QueuesByTopic | None,
    current: QueueData,
) -> QueueData | None:
    """Return the target queue of a topic; None to leave the topic unchanged."""
    if (
        own_queues is not None
        and saved_own_queues is not None
        and own_queues.get(topic) != saved_own_queues.get(topic)
    ):
        return own_queues.get(topic)
    if saved_queues is None:
        return None if own_queues is None else own_queues.get(topic)
    # The snapshot lacks topics of a broker that left or came while it was taken.
    saved = saved_queues.get(topic) or (own_queues or {}).get(topic)
    newest = (own_queues or {}).get(topic) or current
    # The drain changed nothing but the permission: the numbers of a name server can be older than it.
    return None if saved is None else newest._replace(perm=saved.perm)


def _needs_wipe(server: NameServerFacts, differing: QueuesByTopic) -> bool:
    """Whether the name server is as before the drain once no topic of the broker is writable."""
    current = server.queues_by_topic
    return bool(differing) and all(
        target == current[topic]._replace(perm=current[topic].perm & ~Perm.WRITE)
        for topic, target in {**dict.fromkeys(server.open_topics), **differing}.items()
    )


class UndoRun:
    """One run of undoing a drain, by this process."""

    def __init__(
        self, broker: str, environment: DrainEnvironment, folder: DrainFolder, clock: ProcedureClock
    ) -> None:
        self._broker_name = broker
        self._environment = environment
        self._folder = folder
        self._clock = clock
        self._method_by_server: dict[str, str] = {}

    def run_undo(self) -> Iterator[EventRecord]:
        """Restore the routes, and yield the events.

        If everything is as before the drain, the last event is `undone`. Else the drain stays saved.

        Raises:
            NotFound: No drain of the broker is saved.
            DrainBusyError: Another process runs the drain.
        """
        with self._folder.lock.hold(
            lambda holder: DrainBusyError(
                f"{holder} is running this drain: stop it first, with Ctrl-C or SIGTERM"
            )
        ):
            saved = self._folder.load()
            if saved is None:
                raise NotFound(f"{self._broker_name} has no drain: it was undone meanwhile")
            state, snapshot = saved.state, saved.snapshot
            self._folder.save(state._replace(phase="undrain", safe_since=None), snapshot)
            yield from self._restore_all(state, snapshot)

    def _restore_all(self, state: DrainState, snapshot: QueueSnapshot) -> Iterator[EventRecord]:
        servers = self._environment.read_servers()
        master_addr = find_master_addr(servers)
        errors: dict[str, str] = {}
        if state.permission is not None and master_addr is not None:
            yield from self._restore_permission(master_addr, state.permission)
        own_queues = self._read_own_queues(master_addr)
        old_servers = [
            server
            for server in servers
            if not server.can_restore_queues
            and (differing := find_differing_queues(snapshot, own_queues, server))
            and not _needs_wipe(server, differing)
        ]
        if old_servers:
            self._restore_by_broker(master_addr, snapshot, own_queues, old_servers, errors)
            servers = self._environment.read_servers()
            # That waited up to 10 s.
            own_queues = self._read_own_queues(master_addr) or own_queues
        for server in servers:
            differing = find_differing_queues(snapshot, own_queues, server)
            if not server.can_restore_queues and _needs_wipe(server, differing):
                # The broker registered at every name server, also where its topics were closed before.
                self._method_by_server[server.namesrv_addr] = BY_WIPING
                wipe_errors = self._environment.wipe_write_permission((server.namesrv_addr,))
                errors.update({addr: error for addr, error in wipe_errors.items() if error is not None})
            elif differing and server.can_restore_queues:
                self._method_by_server[server.namesrv_addr] = BY_TOPIC
                failed = {
                    topic: error
                    for topic, error in self._environment.restore_queues(
                        server.namesrv_addr, differing
                    ).items()
                    if error
                }
                errors.update({server.namesrv_addr: next(iter(failed.values()))} if failed else {})
        # A topic may have changed on the broker just before an older state was restored.
        own_queues = self._read_own_queues(master_addr) or own_queues
        yield from self._verify_restored(state, snapshot, own_queues, errors, master_addr)

    def _read_own_queues(self, master_addr: str | None) -> QueuesByTopic | None:
        if master_addr is None:
            return None
        queues = self._environment.read_own_queues(master_addr)
        return None if isinstance(queues, str) else queues

    def _restore_permission(self, master_addr: str, saved_perm: int) -> Iterator[EventRecord]:
        current_perm = self._environment.read_permission(master_addr)
        if isinstance(current_perm, str) or current_perm == saved_perm:
            return
        error = self._environment.set_permission(master_addr, saved_perm)
        yield self._folder.record(
            events.PermissionSet(self._clock.now_ms(), master_addr, current_perm, saved_perm, error)
        )
        if error is None:
            self._wait_for(
                lambda servers: all(server.open_topics for server in servers if server.is_registered)
            )

    def _restore_by_broker(
        self,
        master_addr: str | None,
        snapshot: QueueSnapshot,
        own_queues: QueuesByTopic | None,
        old_servers: list[NameServerFacts],
        errors: dict[str, str],
    ) -> None:
        """Make the broker register all its topics with all name servers.

        If that fails, set rw- on the name servers where all topics were writable.
        """
        broker_error = (
            "the broker has no master"
            if master_addr is None
            else self._environment.request_registration(master_addr)
        )
        for server in old_servers:
            self._method_by_server[server.namesrv_addr] = BY_BROKER
        if broker_error is None:
            old_addrs = {server.namesrv_addr for server in old_servers}
            self._wait_for(
                lambda current: (
                    not any(
                        find_differing_queues(snapshot, own_queues, server)
                        for server in current
                        if server.namesrv_addr in old_addrs
                    )
                )
            )
            return
        for server in old_servers:
            wanted_queues = {
                **snapshot.queues_by_server.get(server.namesrv_addr, {}),
                **find_differing_queues(snapshot, own_queues, server),
            }
            errors[server.namesrv_addr] = f"the broker did not accept the request to register: {broker_error}"
            if wanted_queues and all(queue.perm & Perm.WRITE for queue in wanted_queues.values()):
                self._method_by_server[server.namesrv_addr] = BY_ADDING
                self._environment.add_write_permission((server.namesrv_addr,))

    def _wait_for(self, is_done: Callable[[tuple[NameServerFacts, ...]], bool]) -> None:
        """Wait up to 10 s for a registration to take effect."""
        for _ in range(_MAX_ROUNDS):
            if is_done(self._environment.read_servers()):
                return
            self._clock.pause_seconds(_PAUSE_SECONDS)

    def _verify_restored(
        self,
        state: DrainState,
        snapshot: QueueSnapshot,
        own_queues: QueuesByTopic | None,
        errors: Mapping[str, str],
        master_addr: str | None,
    ) -> Iterator[EventRecord]:
        """Read the routes of each name server back, and yield the result."""
        is_whole = state.permission is None or (
            master_addr is not None and self._environment.read_permission(master_addr) == state.permission
        )
        for server in self._environment.read_servers():
            differing = find_differing_queues(snapshot, own_queues, server)
            current = server.queues_by_topic
            reasons = {t: _describe_difference(current[t], q) for t, q in differing.items()}
            error = server.error or (None if server.member_addrs else "the broker is not registered there")
            if differing and error is None and server.namesrv_addr in errors:
                reasons = {topic: f"{text}; {errors[server.namesrv_addr]}" for topic, text in reasons.items()}
            restore_method = self._method_by_server.get(server.namesrv_addr, NOTHING_TO_DO)
            closed = find_closed_topics(snapshot, own_queues, server)
            is_whole = is_whole and error is None and not differing
            yield self._folder.record(
                events.PutBack(
                    self._clock.now_ms(),
                    server.namesrv_addr,
                    len(current) - len(differing),
                    restore_method,
                    reasons,
                    error,
                    closed,
                )
            )
        if is_whole:
            undone_record = self._folder.record(events.Undone(self._clock.now_ms(), state.broker))
            self._folder.archive()
            yield undone_record


def find_closed_topics(
    snapshot: QueueSnapshot, own_queues: QueuesByTopic | None, server: NameServerFacts
) -> tuple[str, ...]:
    """The topics that only the name server had without write permission before the drain, as after a wipe."""
    restored = server.queues_by_topic | find_differing_queues(snapshot, own_queues, server)
    return tuple(
        topic
        for topic, own in (own_queues or {}).items()
        if topic in restored and own.perm & Perm.WRITE and not restored[topic].perm & Perm.WRITE
    )


def _describe_difference(current: QueueData, target: QueueData) -> str:
    if current.perm != target.perm:
        return f"{perm_text(current.perm)} instead of {perm_text(target.perm)}"
    return (
        f"{current.read_queue_nums}/{current.write_queue_nums} queues instead of"
        f" {target.read_queue_nums}/{target.write_queue_nums}"
    )
