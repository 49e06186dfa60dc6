"""Running: a rolling restart, told as it happens. What it may do next is on the disk before it is done."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from nsadmin.operations.drain.events import Record
from nsadmin.operations.drain.facts import Look, Server, World
from nsadmin.operations.drain.keeping import Keeping
from nsadmin.operations.drain.risks import masters, slaves
from nsadmin.operations.drain.running import Clock, Drain, Refused, check
from nsadmin.operations.drain.running import Plan as DrainPlan
from nsadmin.operations.drain.state import Snapshot
from nsadmin.operations.drain.undoing import Undo
from nsadmin.operations.restart.events import Began, Finished, Paused, Restarted, StepBegan, Waiting, told
from nsadmin.operations.restart.keeping import Progress
from nsadmin.operations.restart.state import (
    Process,
    State,
    beginning,
    groups_left,
    name,
    ordered,
)

Run = Callable[[str, Process], int]
"""Runs the operator's command for a step, "stop" or "start", of a process; its exit code."""


class Broker(NamedTuple):
    """What a restart of a broker needs."""

    world: World
    keeping: Keeping
    plan: DrainPlan
    system: frozenset[str]
    ordered: frozenset[str]


class Rules(NamedTuple):
    """How long a process may take to be healthy again, in ms, and after how many groups to pause."""

    patience: int = 600_000
    pause_after: int | None = None


class Restart:
    """One rolling restart by this process; `broker` tells what a broker's restart needs."""

    def __init__(
        self,
        cluster: str,
        rules: Rules,
        broker: Callable[[str], Broker],
        run: Run,
        progress: Progress,
        clock: Clock,
        interval: float = 2.0,
    ) -> None:
        self._cluster = cluster
        self._rules = rules
        self._broker = broker
        self._run = run
        self._progress = progress
        self._clock = clock
        self._interval = interval

    def plan(self, groups: Mapping[str, Mapping[int, str]]) -> State:
        """What is restarted, in which order."""
        return beginning(State(self._cluster, ordered(groups), self._clock.now()))

    def run(self, groups: Mapping[str, Mapping[int, str]]) -> Iterator[Record]:
        """Restart them, or go on with what was begun. Refused where something is not healthy."""
        if not self._progress.lock.take():
            raise Refused(
                f"process {self._progress.lock.pid or 'unknown'} is restarting {self._cluster} already"
            )
        try:
            kept = self._progress.load()
            state = self.plan(groups) if kept is None else kept
            left = tuple(groups_left(state))
            yield told(Began(self._clock.now(), self._cluster, left, kept is not None))
            yield from self._go(state)
        finally:
            self._progress.lock.leave()

    def _go(self, state: State) -> Iterator[Record]:
        done = 0
        while not state.is_done:
            process = state.process
            if state.step == process.steps[0] and state.boot is None:
                # Whoever was restarted last has to be well, and so has who is next.
                for each in filter(None, (state.before, process)):
                    self._require_health(each)
            begun = self._clock.now()
            while not state.is_done and state.process == process:
                if state.step == "stop" and state.boot is None:
                    state = state._replace(boot=self._boot(process))
                self._progress.save(state)
                yield told(StepBegan(self._clock.now(), *process, state.step))
                yield from self._step(state)
                state = state.next()
            self._progress.save(state)
            seconds = (self._clock.now() - begun) // 1000
            yield told(Restarted(self._clock.now(), process.broker, process.broker_id, seconds))
            done += process.is_master
            if done == self._rules.pause_after and not state.is_done:
                yield told(Paused(self._clock.now(), tuple(groups_left(state))))
                return
        self._progress.end()
        yield told(Finished(self._clock.now(), self._cluster, len(state.processes)))

    def _step(self, state: State) -> Iterator[Record]:
        process = state.process
        if state.step == "drain":
            yield from self._drain(process)
        elif state.step == "undrain":
            yield from self._undrain(process)
        elif state.step == "wait":
            yield from self._wait(process, state.boot)
        else:
            code = self._run(state.step, process)
            if code:
                raise Refused(f"the command of --{state.step} for {name(process)} ended with {code}")

    def _drain(self, process: Process) -> Iterator[Record]:
        broker = self._broker(process.broker)
        servers = broker.world.servers()
        checked = None
        if broker.keeping.load() is None:
            checked = check(broker.plan, servers, broker.system, broker.ordered, self._clock.now())
            if checked.risks and not broker.plan.force:
                found = "; ".join(risk.text for risk in checked.risks)
                raise Refused(f"{process.broker}: {found}; --force drains it all the same")
        unknown: list[str] = []
        for item in Drain(broker.plan, broker.world, broker.keeping, self._clock).run(checked, servers):
            unknown = item["unknown"] if item["event"] == "safe" else unknown
            yield item
        if unknown and not broker.plan.allow_unreachable:
            raise Refused(
                f"{process.broker} is drained, but {', '.join(unknown)} did not answer: start it again"
            )
        self._require_others(broker)

    def _require_others(self, broker: Broker) -> None:
        """Others have to take its messages now, not only when its drain began: one may have gone since."""
        kept = broker.keeping.load()
        if broker.plan.force or kept is None:
            return
        servers = tuple(undrained(server, kept[1]) for server in broker.world.servers())
        now = self._clock.now()
        found = check(broker.plan, servers, broker.system, broker.ordered, now).risks
        if found:
            raise Refused(
                f"{broker.plan.broker} is drained, but not stopped: {'; '.join(risk.text for risk in found)};"
                f" start it again when the others are well, or nsadmin undrain {broker.plan.broker}"
            )

    def _undrain(self, process: Process) -> Iterator[Record]:
        broker = self._broker(process.broker)
        if broker.keeping.load() is None:
            return
        last: Record = {"event": ""}
        for last in Undo(process.broker, broker.world, broker.keeping, self._clock).run():
            yield last
        if last["event"] != "undone":
            raise Refused(
                f"{process.broker} does not take writes as before: nsadmin undrain {process.broker}"
            )

    def _boot(self, process: Process) -> int | None:
        world = self._broker(process.broker).world
        return world.broker(process.addr, {}, None, False).boot

    def _wait(self, process: Process, boot: int | None) -> Iterator[Record]:
        """Until every name server knows the process and its group is in sync."""
        until = self._clock.now() + self._rules.patience
        before = said = None
        while True:
            look = self._look(process.broker)
            lacking = self._lacking(process, boot, look, before)
            if not lacking:
                return
            if self._clock.now() >= until:
                raise Refused(
                    f"{name(process)} is not healthy: {'; '.join(lacking)}; start it again to go on"
                )
            if lacking != said:
                yield told(Waiting(self._clock.now(), process.broker, process.broker_id, tuple(lacking)))
            before, said = look, lacking
            self._clock.pause(self._interval)

    def _require_health(self, process: Process) -> None:
        """The one before has to be well before the next one is touched; slaves get a moment to catch up."""
        before = look = self._look(process.broker)
        for is_last in (False, True):
            lacking = self._lacking(process, None, look, before)
            if not lacking:
                return
            if not is_last:
                self._clock.pause(self._interval)
                look = self._look(process.broker)
        raise Refused(
            f"{name(process)} is not healthy, so nothing is stopped: waits for {'; '.join(lacking)}"
        )

    def _look(self, broker: str) -> Look:
        world = self._broker(broker).world
        servers = world.servers()
        found = world.broker(masters(servers), slaves(servers), None, False)
        return Look(self._clock.now(), servers, found)

    def _lacking(self, process: Process, boot: int | None, look: Look, before: Look | None) -> list[str]:
        """What it lacks; slaves have to have what their master had a look ago."""
        broker = self._broker(process.broker)
        found = [
            f"{server.addr} to answer" if server.error else f"{server.addr} to know it"
            for server in look.servers
            if not _knows(server, process, broker.plan.allow_unreachable)
        ]
        own = broker.world.broker(process.addr, {}, None, False)
        if own.error is not None:
            found.append(f"an answer of {process.addr}")
        elif boot is not None and own.boot == boot:
            found.append("it to be restarted: it runs since before")
        if look.broker.error is not None and not process.is_master:
            found.append("an answer of its master")
        end = look.broker.end if before is None or before.broker.end is None else before.broker.end
        return found + [
            f"the slave {slave.addr} to be in sync"
            for slave in look.broker.slaves
            if slave.end is None or end is None or slave.end < end
        ]


def undrained(server: Server, snapshot: Snapshot) -> Server:
    """A name server as it would be without the drain: the other brokers as they are now."""
    queues = snapshot.servers.get(server.addr, {})
    topics = {
        topic: place._replace(queue=queues.get(topic, place.queue)) for topic, place in server.topics.items()
    }
    return server._replace(topics=topics)


def _knows(server: Server, process: Process, allowed: bool) -> bool:
    if server.error is not None:
        return allowed
    return server.members.get(process.broker_id) == process.addr
