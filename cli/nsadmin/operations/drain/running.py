"""Running: a drain from its check to the moment when the broker can be stopped, told as it happens."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import Perm
from nsadmin.client.results import NotFound
from nsadmin.operations.drain import events
from nsadmin.operations.drain.events import Event, Record, record
from nsadmin.operations.drain.facts import Look, Server, World
from nsadmin.operations.drain.keeping import Keeping
from nsadmin.operations.drain.machine import Machine, Rules
from nsadmin.operations.drain.risks import masters, risks, share, slaves
from nsadmin.operations.drain.state import Snapshot, State

_JOINED_PAUSE = 0.5


class Refused(RocketMQError):
    """The drain was not begun; the text says why and what to do."""


class Plan(NamedTuple):
    """How to drain a broker; `interval` is seconds from one look to the next.

    `then` is called once it is safe on all name servers, with the master's address; `hold` goes on afterwards
    until somebody ends it.
    """

    broker: str
    rules: Rules = Rules()
    interval: float = 10.0
    durable: bool = False
    force: bool = False
    allow_unreachable: bool = False
    hold: bool = False
    then: Callable[[str], events.CommandEnded] | None = None
    by: str = ""


class Clock(NamedTuple):
    """What time it is, in ms since 1970, and how to let some seconds pass."""

    now: Callable[[], int]
    pause: Callable[[float], None]


def check(
    plan: Plan, servers: tuple[Server, ...], system: frozenset[str], ordered: frozenset[str], now: int
) -> events.Checked:
    """What would be left without the broker. NotFound, or Refused where it cannot or should not be begun."""
    silent = [server for server in servers if server.error is not None]
    if len(silent) == len(servers):
        raise Refused("no name server answered: " + "; ".join(f"{s.addr}: {s.error}" for s in silent))
    known = [server for server in servers if server.is_registered]
    if not known:
        raise NotFound(f"no broker {plan.broker!r} is registered at any name server that answered")
    if silent and not plan.allow_unreachable:
        raise Refused(
            "; ".join(f"{s.addr}: {s.error}" for s in silent)
            + ": what it tells clients would stay unknown; --allow-unreachable drains without it"
        )
    if masters(known) is None:
        raise Refused(f"{plan.broker} has no master now, so nobody writes to it")
    found = risks(plan.broker, known, system, ordered, plan.durable)
    return events.Checked(now, max(len(server.topics) for server in known), share(known, system), found)


class Drain:
    """One drain by this process; it ends when it is safe, or never with `hold`."""

    def __init__(self, plan: Plan, world: World, keeping: Keeping, clock: Clock) -> None:
        self._plan = plan
        self._world = world
        self._keeping = keeping
        self._clock = clock

    def run(self, checked: events.Checked | None, servers: tuple[Server, ...]) -> Iterator[Record]:
        """Drain; `checked` is what a check of these `servers` has found, None where one goes on."""
        yield from self._join()
        try:
            loaded = self._keeping.load()
            machine = self._begin(loaded, checked, servers)
            resumed = None if loaded is None else loaded[0].phase
            state = machine.state
            started = events.Started(
                self._clock.now(), state.cluster, state.broker, state.name_servers, resumed
            )
            yield self._tell(started)
            if checked is not None:
                yield self._tell(checked)
            yield from self._go(machine)
        finally:
            self._keeping.leave()

    def _join(self) -> Iterator[Record]:
        """Until the process that is at it has ended, tell what it does."""
        if self._keeping.take():
            return
        notes = self._keeping.notes()
        yield record(events.Joined(self._clock.now(), self._keeping.pid))
        while not self._keeping.take():
            self._clock.pause(_JOINED_PAUSE)
            yield from notes.read()

    def _begin(
        self,
        loaded: tuple[State, Snapshot] | None,
        checked: events.Checked | None,
        servers: tuple[Server, ...],
    ) -> Machine:
        if loaded is not None:
            # What was only counted is counted anew.
            state = loaded[0]._replace(safe_since=None)
            if state.phase in ("safe", "undrain"):
                state = state._replace(phase="wipe")
            return Machine(self._plan.rules, state, loaded[1])
        if checked is None:
            raise Refused(f"the drain of {self._plan.broker} was undone meanwhile")
        known = [server for server in servers if server.is_registered]
        own = self._world.own_queues(masters(known) or "")
        if isinstance(own, str):
            raise Refused(f"the broker itself does not answer: {own}")
        now = self._clock.now()
        addrs = tuple(server.addr for server in servers)
        state = State(
            known[0].cluster or "",
            self._plan.broker,
            addrs,
            now,
            now,
            self._plan.by,
            durable=self._plan.durable,
        )
        return Machine(self._plan.rules, state, Snapshot({}, own))

    def _go(self, machine: Machine) -> Iterator[Record]:
        wiped = ran = False
        while True:
            look = self._look(machine)
            decision = machine.take(look)
            self._keeping.save(machine.state, machine.snapshot)
            for event in decision.events:
                yield self._tell(event)
            if machine.state.durable:
                yield from self._set_permission(machine, look)
            elif decision.wipe:
                results = self._world.wipe(decision.wipe)
                for event in machine.wiped(results, self._clock.now()):
                    yield self._tell(event)
                self._keeping.save(machine.state, machine.snapshot)
                # Read back at once, but not again and again.
                if not wiped:
                    wiped = True
                    continue
            wiped = False
            if machine.is_safe:
                is_sure = self._plan.allow_unreachable or not machine.unknown
                if self._plan.then is not None and is_sure and not ran:
                    ran = True
                    yield self._tell(self._plan.then(look.broker.addr or ""))
                if not self._plan.hold:
                    return
            self._clock.pause(self._plan.interval)

    def _look(self, machine: Machine) -> Look:
        servers = self._world.servers()
        broker = self._world.broker(
            masters(servers), slaves(servers), machine.last_broker, machine.rules.for_good
        )
        return Look(self._clock.now(), servers, broker)

    def _set_permission(self, machine: Machine, look: Look) -> Iterator[Record]:
        """Once, and again where somebody gave it back."""
        master = look.broker.addr
        if master is None or not any(server.open_topics for server in look.servers):
            return
        perm = self._world.permission(master)
        if isinstance(perm, str) or not perm & Perm.WRITE:
            return
        if machine.state.permission is None:
            machine.state = machine.state._replace(permission=perm)
            self._keeping.save(machine.state, machine.snapshot)
        after = perm & ~Perm.WRITE
        error = self._world.set_permission(master, after)
        yield self._tell(events.PermissionSet(self._clock.now(), master, perm, after, error))

    def _tell(self, event: Event) -> Record:
        told = record(event)
        if not isinstance(event, events.Progress):
            self._keeping.note(told)
        return told
