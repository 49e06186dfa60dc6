"""A lab whose clock the test holds: name servers and brokers in a thread, and what a screen sees of it.

Addresses are replaced by documented ones, and how long an answer took by 1 ms, so that screens are the same
in every run.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import msgspec

from namesrv_core.fleet.fleet import PORT_STEP, FleetPlan
from namesrv_core.lab.lab_cluster import LabCluster
from namesrv_core.lab.scenario import Scenario
from namesrv_core.transport.event_loop import run_coroutine
from nsadmin import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.operations.collector.request_pace import RequestPace
from nsadmin.tui.polling import detail_queries, server_polls
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, decode_poll, encode_poll
from nsadmin.tui.polling.server_polls import RequestStopwatch, ServerProbe
from tests.support.name_servers import DEADLINE

NOON = 1_767_182_400_000
"""2025-12-31 12:00 UTC, in ms."""
_PATIENCE = 3.0
"""Seconds: a machine that is busy with other things makes nobody look frozen."""
SMALL = FleetPlan(clusters=2, groups=2, replicas=2, topics=12)


class Playground:
    """`now` is what time it is, for servers and looks alike, in ms."""

    def __init__(self, home: Path, plan: FleetPlan, name_servers: int) -> None:
        self.now = NOON
        self._scenario = Scenario("playground", plan=plan, namesrvs=name_servers)
        self._home = home
        self._kept: dict[str, Any] = {}
        self._started: Future[LabCluster] = Future()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()
        self.world = self._started.result(DEADLINE)
        self.addrs = self.world.namesrv_addrs

    def _run(self) -> None:
        async def live() -> None:
            self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
            world = LabCluster(self._scenario, self._home, lambda: self.now / 1000)
            await world.start_all()
            self._started.set_result(world)
            await self._end.wait()
            await world.stop_all()

        try:
            run_coroutine(live())
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)

    def end(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(DEADLINE)

    def _do(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        asyncio.run_coroutine_threadsafe(work(), self._loop).result(DEADLINE)

    def kill_broker(self, name: str, broker_id: int = 0) -> None:
        """The broker's process dies."""
        seat = self.world.lab_brokers[f"{name}:{broker_id}"]
        self._do(lambda: self.world.take_down_broker(seat, is_abrupt=True))

    def send_heartbeat(self, seat: Any) -> None:
        """Its heartbeat."""
        self._do(seat.broker.register)

    def start_broker(self, name: str, broker_id: int = 0) -> None:
        seat = self.world.lab_brokers[f"{name}:{broker_id}"]
        self._do(lambda: self.world.start_broker(seat))

    def freeze_broker(self, name: str, broker_id: int = 0) -> None:
        """It keeps its connections and does nothing."""

        async def freeze() -> None:
            self.world.lab_brokers[f"{name}:{broker_id}"].simulated_broker.freeze()

        self._do(freeze)

    def thaw_broker(self, name: str, broker_id: int = 0) -> None:
        self._do(self.world.lab_brokers[f"{name}:{broker_id}"].simulated_broker.thaw)

    def stop_server(self, number: int) -> None:
        """A name server dies."""
        self._do(list(self.world.name_servers.values())[number].kill_server)

    def start_server(self, number: int) -> None:
        self._do(list(self.world.name_servers.values())[number].start_server)

    def open_client(self, addrs: Sequence[str] | None = None, **more: Any) -> AdminClient:
        return AdminClient(list(addrs or self.addrs), access=Access(timeout=_PATIENCE), **more)

    def poll_everything(self) -> list[AnyPoll]:
        """One look at everything that is always looked at."""
        polls: list[AnyPoll] = []
        brokers: dict[str, None] = {}
        for addr in self.addrs:
            with self._looker([addr]) as looker:
                poll = server_polls.poll_name_server(looker, addr)
                polls.append(poll)
                for group in poll.groups.values():
                    brokers.update(dict.fromkeys(group.broker_addrs.values()))
        with self._looker(self.addrs) as looker:
            polls += server_polls.poll_brokers(looker, brokers)
        return [self.document_addresses(poll) for poll in polls]

    def poll_details(self, *asked: DetailQuery) -> list[AnyPoll]:
        """The answers to what a screen wants to know; names may be documented addresses."""
        real = {documented: addr for addr, documented in self.stand_ins().items()}
        wanted = [DetailQuery(kind, real.get(name, name)) for kind, name in asked]
        with self._looker(self.addrs) as looker:
            return [self.document_addresses(poll) for poll in detail_queries.run_queries(looker, wanted)]

    @contextmanager
    def _looker(self, addrs: Sequence[str]) -> Iterator[ServerProbe]:
        watch = RequestStopwatch()
        with self.open_client(addrs, observer=watch) as admin:
            yield ServerProbe(
                admin,
                watch,
                lambda: self.now,
                RequestPace(10_000),
                self.addrs,
                ("ORDER_TOPIC_CONFIG",),
                self._kept,
            )

    def stand_ins(self) -> dict[str, str]:
        """Documented addresses by real ones."""
        addresses = {addr: f"10.0.0.{at}:9876" for at, addr in enumerate(self.addrs, 1)}
        for at, seat in enumerate(self.world.lab_brokers.values()):
            addresses[seat.reserved_port.socket_addr] = f"10.0.1.{at + 1}:{10911 + at % 2 * PORT_STEP}"
        return addresses

    def document_addresses(self, poll: AnyPoll) -> AnyPoll:
        line = encode_poll(poll).decode()
        for real, documented in self.stand_ins().items():
            line = line.replace(real, documented)
        documented_poll = decode_poll(line.encode())
        return (
            msgspec.structs.replace(documented_poll, millis=1.0)
            if hasattr(documented_poll, "millis")
            else documented_poll
        )


@contextmanager
def start_playground(home: Path, plan: FleetPlan = SMALL, name_servers: int = 3) -> Iterator[Playground]:
    """The lab of a plan, with its clock standing at noon."""
    ground = Playground(home, plan, name_servers)
    try:
        yield ground
    finally:
        ground.end()
