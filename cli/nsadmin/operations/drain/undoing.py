"""Undoing: name servers tell clients again what they told before the drain, and that is read back."""

from collections.abc import Callable, Iterator, Mapping

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm, perm_text
from nsadmin.client.results import NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import Event, Record, record
from nsadmin.operations.drain.facts import Queues, Server, World
from nsadmin.operations.drain.keeping import Keeping
from nsadmin.operations.drain.risks import masters
from nsadmin.operations.drain.running import Clock
from nsadmin.operations.drain.state import Snapshot, State

_ROUNDS = 20
_PAUSE = 0.5

BY_TOPIC, BY_BROKER, BY_ADDING = "topic by topic", "the broker registered anew", "rw- for all"


class Busy(RocketMQError):
    """Another process is at this drain."""


def differing(snapshot: Snapshot, own: Queues | None, server: Server) -> dict[str, QueueData]:
    """What a name server should tell of those topics of which it tells something else.

    That is what it told before, unless the broker itself has got another config of the topic since: then that
    counts. `own` is how the broker has its topics now; None where nobody knows.
    """
    found: dict[str, QueueData] = {}
    if not server.is_registered:
        return found
    then = snapshot.servers.get(server.addr)
    now = server.queues
    for topic in sorted({*(then or ()), *now}):
        target = _target(topic, then, snapshot.own, own)
        # A topic that is not there any more is made again only where the broker has it.
        if target is not None and now.get(topic) != target and (topic in now or topic in (own or ())):
            found[topic] = target
    return found


def _target(topic: str, then: Queues | None, own_then: Queues | None, own: Queues | None) -> QueueData | None:
    """What it should be; None where it is to be left as it is."""
    if own is not None and own_then is not None and own.get(topic) != own_then.get(topic):
        return own.get(topic)
    if then is None:
        return None if own is None else own.get(topic)
    return then.get(topic)


class Undo:
    """One undoing of a drain by this process."""

    def __init__(self, broker: str, world: World, keeping: Keeping, clock: Clock) -> None:
        self._broker = broker
        self._world = world
        self._keeping = keeping
        self._clock = clock
        self._how: dict[str, str] = {}

    def run(self) -> Iterator[Record]:
        """Put back. The last record is `undone` if all of it is as before, else the drain is still kept.

        NotFound where no drain is kept, Busy where another process is at it.
        """
        if not self._keeping.take():
            pid = self._keeping.pid
            raise Busy(f"process {pid or 'unknown'} is at this drain: end it first, with Ctrl-C or SIGTERM")
        try:
            loaded = self._keeping.load()
            if loaded is None:
                raise NotFound(f"no drain of {self._broker} is kept in {self._keeping.folder}")
            state, snapshot = loaded
            self._keeping.save(state._replace(phase="undrain", safe_since=None), snapshot)
            yield from self._undo(state, snapshot)
        finally:
            self._keeping.leave()

    def _undo(self, state: State, snapshot: Snapshot) -> Iterator[Record]:
        servers = self._world.servers()
        master = masters(servers)
        errors: dict[str, str] = {}
        if state.permission is not None and master is not None:
            yield from self._restore_permission(master, state.permission)
        own = self._own(master)
        if any(not server.may_put_back and differing(snapshot, own, server) for server in servers):
            self._by_broker(master, snapshot, own, servers, errors)
            servers = self._world.servers()
        for server in servers:
            left = differing(snapshot, own, server)
            if left and server.may_put_back:
                self._how[server.addr] = BY_TOPIC
                failed = {t: e for t, e in self._world.put_back(server.addr, left).items() if e}
                errors.update({server.addr: next(iter(failed.values()))} if failed else {})
        yield from self._verify(state, snapshot, own, errors)

    def _own(self, master: str | None) -> Queues | None:
        found = "no master" if master is None else self._world.own_queues(master)
        return None if isinstance(found, str) else found

    def _restore_permission(self, master: str, perm: int) -> Iterator[Record]:
        before = self._world.permission(master)
        if isinstance(before, str) or before == perm:
            return
        error = self._world.set_permission(master, perm)
        yield self._tell(events.PermissionSet(self._clock.now(), master, before, perm, error))
        if error is None:
            self._wait_for(
                lambda servers: all(server.open_topics for server in servers if server.is_registered)
            )

    def _by_broker(
        self,
        master: str | None,
        snapshot: Snapshot,
        own: Queues | None,
        servers: tuple[Server, ...],
        errors: dict[str, str],
    ) -> None:
        """The broker registers all it has, with all name servers; else rw- where all topics were writable."""
        old = [s for s in servers if not s.may_put_back and differing(snapshot, own, s)]
        error = "it has no master" if master is None else self._world.register_anew(master)
        for server in old:
            self._how[server.addr] = BY_BROKER
        if error is None:
            addrs = {server.addr for server in old}
            self._wait_for(lambda now: not any(differing(snapshot, own, s) for s in now if s.addr in addrs))
            return
        for server in old:
            wanted = {**snapshot.servers.get(server.addr, {}), **differing(snapshot, own, server)}
            errors[server.addr] = f"the broker could not be told to register: {error}"
            if wanted and all(queue.perm & Perm.WRITE for queue in wanted.values()):
                self._how[server.addr] = BY_ADDING
                self._world.add((server.addr,))

    def _wait_for(self, is_done: Callable[[tuple[Server, ...]], bool]) -> None:
        """A registration takes a moment."""
        for _ in range(_ROUNDS):
            if is_done(self._world.servers()):
                return
            self._clock.pause(_PAUSE)

    def _verify(
        self, state: State, snapshot: Snapshot, own: Queues | None, errors: Mapping[str, str]
    ) -> Iterator[Record]:
        """Read back what each name server tells now."""
        is_whole = True
        for server in self._world.servers():
            left = differing(snapshot, own, server)
            now = server.queues
            why = {topic: _difference(now.get(topic), target) for topic, target in left.items()}
            error = server.error or (None if server.members else "the broker is not registered there")
            if left and error is None and server.addr in errors:
                why = {topic: f"{text}; {errors[server.addr]}" for topic, text in why.items()}
            how = self._how.get(server.addr, "nothing to do")
            same = len(now) - sum(1 for topic in left if topic in now)
            is_whole = is_whole and error is None and not left
            yield self._tell(events.PutBack(self._clock.now(), server.addr, same, how, why, error))
        if is_whole:
            told = self._tell(events.Undone(self._clock.now(), state.broker))
            self._keeping.put_away()
            yield told

    def _tell(self, event: Event) -> Record:
        told = record(event)
        self._keeping.note(told)
        return told


def _difference(now: QueueData | None, target: QueueData) -> str:
    if now is None:
        return f"gone, was {perm_text(target.perm)}"
    if now.perm != target.perm:
        return f"{perm_text(now.perm)} instead of {perm_text(target.perm)}"
    return (
        f"{now.read_queue_nums}/{now.write_queue_nums} queues instead of"
        f" {target.read_queue_nums}/{target.write_queue_nums}"
    )
