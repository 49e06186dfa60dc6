"""World: the name servers and brokers of a scenario, each up, down or frozen, and the links between them."""

import asyncio
import random
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS, SimulatedBroker
from namesrv_core.fleet.broker_model import BrokerSpec, PeerModels
from namesrv_core.fleet.fleet import PORT_STEP, write_order_confs
from namesrv_core.lab.network_links import LinkedChannel, NetworkLink
from namesrv_core.lab.scenario import Scenario
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport.request_channel import RequestChannel

HOST = "127.0.0.1"

Clock = Callable[[], float]


class Place:
    """A port of this machine that stays ours, whether anybody listens there or not."""

    def __init__(self, name: str, port: int = 0) -> None:
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
        except OSError as error:
            self._socket.close()
            raise RocketMQError(f"{name} cannot listen at {HOST}:{port}: {error.strerror}") from error
        except OverflowError:
            self._socket.close()
            raise RocketMQError(f"{name} cannot listen at {HOST}:{port}: there is no such port") from None
        self.port: int = self._socket.getsockname()[1]

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def close(self) -> None:
        self._socket.close()


class Site:
    """A name server: `state` is up, down or frozen; `skew` (s) is how wrong its clock is."""

    def __init__(
        self, name: str, place: Place, folder: Path, clock: Clock, settings: Mapping[str, Any]
    ) -> None:
        self.name = name
        self.place = place
        self.journal = folder / "journal"
        self.state = "down"
        self.skew = 0.0
        self.server: NameServer
        self._clock = clock
        self._settings: dict[str, Any] = {
            "listenPort": place.port,
            "bindAddress": HOST,
            "kvConfigPath": str(folder / "kvConfig.json"),
            "configStorePath": str(folder / "namesrv.properties"),
            "journalDir": str(self.journal),
            "journalServerId": name,
            # Nobody cuts the power of a lab, and a disk that is waited for is real time.
            "journalFsync": "never",
            **settings,
        }

    async def start(self) -> None:
        self.server = NameServer(
            NameServerSettings(**self._settings), self._clock, lambda: self._clock() + self.skew
        )
        await self.server.start()
        self.state = "up"

    async def stop(self) -> None:
        self.state = "down"
        await self.server.stop()

    async def die(self) -> None:
        self.state = "down"
        await self.server.stop_abruptly()

    def freeze(self) -> None:
        self.state = "frozen"
        self.server.freeze()

    def thaw(self) -> None:
        self.state = "up"
        self.server.thaw()


class Seat:
    """A broker: `state` is up, down or frozen; `skew` (s) is how wrong its clock is.

    `servers` are the name servers in its list, by name.
    """

    def __init__(self, name: str, spec: BrokerSpec, place: Place) -> None:
        self.name = name
        self.spec = spec
        self.place = place
        self.state = "down"
        self.skew = 0.0
        self.links: dict[str, NetworkLink] = {}
        self.servers: tuple[str, ...] = ()
        self.broker: SimulatedBroker


class World:
    """`clock` is seconds since 1970, `folder` where the name servers have their files.

    `namesrv_port` and `broker_port` are the first ones; 0 takes free ones.
    """

    def __init__(
        self, scenario: Scenario, folder: Path, clock: Clock, namesrv_port: int = 0, broker_port: int = 0
    ) -> None:
        self.scenario = scenario
        self.clock = clock
        self.wiped: set[tuple[str, str]] = set()
        self.sites: dict[str, Site] = {}
        self.seats: dict[str, Seat] = {}
        self._peers: PeerModels = {}
        self._places: list[Place] = []
        try:
            for at, name in enumerate(scenario.server_names()):
                place = self._place(name, namesrv_port and namesrv_port + at)
                settings = {"supportActingMaster": scenario.acting, **scenario.settings}
                self.sites[name] = Site(name, place, folder / name, clock, settings)
            for at, spec in enumerate(scenario.initial_specs()):
                self.seat(spec, broker_port and broker_port + at * PORT_STEP)
        except RocketMQError:
            self.close()
            raise

    def _place(self, name: str, port: int = 0) -> Place:
        place = Place(name, port)
        self._places.append(place)
        return place

    def seat(self, spec: BrokerSpec, port: int = 0, suffix: str = "") -> Seat:
        """A place for a broker, which is not started yet."""
        name = f"{spec.broker_name}:{spec.broker_id}{suffix}"
        seat = self.seats[name] = Seat(name, spec, self._place(name, port))
        seat.links = {server: NetworkLink() for server in self.sites}
        seat.servers = tuple(self.sites)
        return seat

    def move(self, seat: Seat) -> None:
        """The broker comes back at another address."""
        seat.place = self._place(seat.name)

    @property
    def addresses(self) -> list[str]:
        return [site.place.address for site in self.sites.values()]

    async def start(self) -> None:
        """Name servers first; of the brokers masters before slaves."""
        for site in self.sites.values():
            await site.start()
        await write_order_confs((seat.spec for seat in self.seats.values()), self.addresses)
        for is_master in (True, False):
            await self.all_up(seat for seat in self.seats.values() if seat.spec.is_master is is_master)

    async def all_up(self, seats: Iterable[Seat]) -> None:
        await asyncio.gather(*(self.up(seat) for seat in seats))

    async def up(self, seat: Seat) -> None:
        """Start a broker, or start it again."""
        ways = {self.sites[name].place.address: seat.links[name] for name in seat.servers}
        seat.broker = SimulatedBroker(
            seat.spec,
            list(ways),
            port=seat.place.port,
            first_delay_seconds=random.Random(f"{self.scenario.plan.seed} {seat.name}").uniform(
                1, HEARTBEAT_PERIOD_SECONDS
            ),
            peer_models=self._peers
            if seat.name == f"{seat.spec.broker_name}:{seat.spec.broker_id}"
            else None,
            clock_ms=lambda: int((self.clock() + seat.skew) * 1000),
            open_channel=lambda address: LinkedChannel(address, ways[address]),
        )
        seat.state = "up"
        await seat.broker.start()

    async def down(self, seat: Seat, *, abruptly: bool) -> None:
        seat.state = "down"
        if abruptly:
            seat.broker.die_abruptly()
        else:
            await seat.broker.leave_cluster()

    def hears(self, server: str, seat: Seat) -> bool:
        """Whether what a broker says gets to a name server now."""
        is_open = server in seat.servers and not seat.links[server].is_cut
        return self.sites[server].state == "up" and seat.state == "up" and is_open

    def silence(self, server: str, seat: Seat) -> float | None:
        """Seconds since a name server heard a broker; None where it does not, for another reason."""
        heard_at = seat.links[server].heard_at_seconds
        if heard_at is None or not self.hears(server, seat):
            return None
        return asyncio.get_running_loop().time() - heard_at

    async def ask(self, server: str, code: int, ext: dict[str, str]) -> RemotingCommand:
        channel = RequestChannel(self.sites[server].place.address)
        try:
            return await channel.send_request(build_request(code, ext))
        finally:
            channel.close()

    async def stop(self, patience: float = 0.8) -> None:
        """Brokers say goodbye as long as that takes no more than `patience` seconds; all ends in order."""
        running = [seat for seat in self.seats.values() if seat.state != "down"]
        try:
            async with asyncio.timeout(patience):
                await asyncio.gather(*(seat.broker.leave_cluster() for seat in running))
        except TimeoutError:
            for seat in running:
                seat.broker.die_abruptly()
        for site in self.sites.values():
            if site.state != "down":
                await site.stop()
        self.close()

    def close(self) -> None:
        """Let go of links and ports."""
        for seat in self.seats.values():
            for link in seat.links.values():
                link.drop_held_streams()
        for place in self._places:
            place.close()
