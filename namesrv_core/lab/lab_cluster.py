"""LabCluster: the name servers and brokers of a scenario, with their states and network links."""

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

LOCAL_HOST = "127.0.0.1"

ClockSeconds = Callable[[], float]


class ReservedPort:
    """A port of this machine that stays reserved, whether a server listens there or not."""

    def __init__(self, member_name: str, wanted_port: int = 0, option_flag: str = "") -> None:
        self._bound_socket = socket.socket()
        self._bound_socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._bound_socket.bind((LOCAL_HOST, wanted_port))
        except OSError as error:
            self._bound_socket.close()
            raise RocketMQError(
                f"{member_name} cannot listen at {LOCAL_HOST}:{wanted_port}: {error.strerror}: "
                f"pass another {option_flag}, or omit it for free ports"
            ) from error
        except OverflowError:
            self._bound_socket.close()
            raise RocketMQError(
                f"{member_name} cannot listen at {LOCAL_HOST}:{wanted_port}: use a port up to 65535"
            ) from None
        self.port: int = self._bound_socket.getsockname()[1]

    @property
    def socket_addr(self) -> str:
        return f"{LOCAL_HOST}:{self.port}"

    def release_port(self) -> None:
        self._bound_socket.close()


class LabNameServer:
    """A name server. `state` is up, down or frozen; `skew` is the error of its clock in seconds."""

    def __init__(
        self,
        server_name: str,
        reserved_port: ReservedPort,
        server_folder: Path,
        clock_seconds: ClockSeconds,
        settings: Mapping[str, Any],
    ) -> None:
        self.name = server_name
        self.reserved_port = reserved_port
        self.journal_folder = server_folder / "journal"
        self.run_state = "down"
        self.clock_skew_seconds = 0.0
        self.server: NameServer
        self._clock_seconds = clock_seconds
        self._settings: dict[str, Any] = {
            "listenPort": reserved_port.port,
            "bindAddress": LOCAL_HOST,
            "kvConfigPath": str(server_folder / "kvConfig.json"),
            "configStorePath": str(server_folder / "namesrv.properties"),
            "journalDir": str(self.journal_folder),
            "journalServerId": server_name,
            # A lab needs no durability, and waiting for the disk would take real time.
            "journalFsync": "never",
            **settings,
        }

    async def start_server(self) -> None:
        self.server = NameServer(
            NameServerSettings(**self._settings),
            self._clock_seconds,
            lambda: self._clock_seconds() + self.clock_skew_seconds,
        )
        await self.server.start()
        self.run_state = "up"

    async def stop_server(self) -> None:
        self.run_state = "down"
        await self.server.stop()

    async def kill_server(self) -> None:
        self.run_state = "down"
        await self.server.stop_abruptly()

    def freeze_server(self) -> None:
        self.run_state = "frozen"
        self.server.freeze()

    def thaw_server(self) -> None:
        self.run_state = "up"
        self.server.thaw()


class LabBroker:
    """A broker. `state` is up, down or frozen; `skew` is the error of its clock in seconds.

    `servers` are the name servers in its list, by name.
    """

    def __init__(self, broker_name: str, spec: BrokerSpec, reserved_port: ReservedPort) -> None:
        self.name = broker_name
        self.spec = spec
        self.reserved_port = reserved_port
        self.run_state = "down"
        self.clock_skew_seconds = 0.0
        self.links_by_server: dict[str, NetworkLink] = {}
        self.listed_servers: tuple[str, ...] = ()
        self.simulated_broker: SimulatedBroker


class LabCluster:
    """All members of a lab. `clock` returns seconds since 1970; `folder` has the files of the name servers.

    `namesrv_port` and `broker_port` are the first ports; 0 selects free ports.
    """

    def __init__(
        self,
        scenario: Scenario,
        run_folder: Path,
        clock_seconds: ClockSeconds,
        first_namesrv_port: int = 0,
        first_broker_port: int = 0,
    ) -> None:
        self.scenario = scenario
        self.clock_seconds = clock_seconds
        self.wiped_permissions: set[tuple[str, str]] = set()
        self.name_servers: dict[str, LabNameServer] = {}
        self.lab_brokers: dict[str, LabBroker] = {}
        self._peer_models: PeerModels = {}
        self._reserved_ports: list[ReservedPort] = []
        try:
            for member_index, server_name in enumerate(scenario.server_names()):
                reserved_port = self._reserve_port(
                    server_name, first_namesrv_port and first_namesrv_port + member_index, "--namesrv-port"
                )
                server_settings = {"supportActingMaster": scenario.acting, **scenario.settings}
                self.name_servers[server_name] = LabNameServer(
                    server_name, reserved_port, run_folder / server_name, clock_seconds, server_settings
                )
            for member_index, spec in enumerate(scenario.initial_specs()):
                self.add_broker(spec, first_broker_port and first_broker_port + member_index * PORT_STEP)
        except RocketMQError:
            self.release_links_and_ports()
            raise

    def _reserve_port(
        self, member_name: str, wanted_port: int = 0, option_flag: str = "--broker-port"
    ) -> ReservedPort:
        reserved_port = ReservedPort(member_name, wanted_port, option_flag)
        self._reserved_ports.append(reserved_port)
        return reserved_port

    def add_broker(self, spec: BrokerSpec, wanted_port: int = 0, name_suffix: str = "") -> LabBroker:
        """Add a broker without starting it."""
        broker_name = f"{spec.broker_name}:{spec.broker_id}{name_suffix}"
        lab_broker = self.lab_brokers[broker_name] = LabBroker(
            broker_name, spec, self._reserve_port(broker_name, wanted_port)
        )
        lab_broker.links_by_server = {server_name: NetworkLink() for server_name in self.name_servers}
        lab_broker.listed_servers = tuple(self.name_servers)
        return lab_broker

    def move_broker(self, lab_broker: LabBroker) -> None:
        lab_broker.reserved_port = self._reserve_port(lab_broker.name)

    @property
    def namesrv_addrs(self) -> list[str]:
        return [name_server.reserved_port.socket_addr for name_server in self.name_servers.values()]

    async def start_all(self) -> None:
        """Start the name servers first, then the brokers, masters before slaves."""
        for name_server in self.name_servers.values():
            await name_server.start_server()
        await write_order_confs((b.spec for b in self.lab_brokers.values()), self.namesrv_addrs)
        for is_master in (True, False):
            await self.start_brokers(b for b in self.lab_brokers.values() if b.spec.is_master is is_master)

    async def start_brokers(self, lab_brokers: Iterable[LabBroker]) -> None:
        await asyncio.gather(*(self.start_broker(lab_broker) for lab_broker in lab_brokers))

    async def start_broker(self, lab_broker: LabBroker) -> None:
        link_by_addr = {
            name_server.reserved_port.socket_addr: lab_broker.links_by_server[server_name]
            for server_name, name_server in self.name_servers.items()
        }
        lab_broker.simulated_broker = SimulatedBroker(
            lab_broker.spec,
            [
                self.name_servers[server_name].reserved_port.socket_addr
                for server_name in lab_broker.listed_servers
            ],
            port=lab_broker.reserved_port.port,
            first_delay_seconds=random.Random(f"{self.scenario.plan.seed} {lab_broker.name}").uniform(
                1, HEARTBEAT_PERIOD_SECONDS
            ),
            peer_models=self._peer_models
            if lab_broker.name == f"{lab_broker.spec.broker_name}:{lab_broker.spec.broker_id}"
            else None,
            clock_ms=lambda: int((self.clock_seconds() + lab_broker.clock_skew_seconds) * 1000),
            open_channel=lambda namesrv_addr: LinkedChannel(
                # An operator may add a name server that is not one of the lab.
                namesrv_addr,
                link_by_addr.get(namesrv_addr) or NetworkLink(),
            ),
        )
        lab_broker.run_state = "up"
        await lab_broker.simulated_broker.start()

    async def take_down_broker(self, lab_broker: LabBroker, *, is_abrupt: bool) -> None:
        lab_broker.run_state = "down"
        if is_abrupt:
            lab_broker.simulated_broker.die_abruptly()
        else:
            await lab_broker.simulated_broker.leave_cluster()

    def can_hear(self, server_name: str, lab_broker: LabBroker) -> bool:
        """Whether requests of a broker reach a name server now."""
        is_reachable = (
            server_name in lab_broker.listed_servers and not lab_broker.links_by_server[server_name].is_cut
        )
        return (
            self.name_servers[server_name].run_state == "up" and lab_broker.run_state == "up" and is_reachable
        )

    def listeners(self, lab_broker: LabBroker) -> tuple[str, ...]:
        """The names of the name servers that requests of a broker reach now."""
        return tuple(name for name in self.name_servers if self.can_hear(name, lab_broker))

    def silent_seconds(self, server_name: str, lab_broker: LabBroker) -> float | None:
        """Seconds since a broker's last request reached a name server; None if another fault prevents it."""
        heard_at_seconds = lab_broker.links_by_server[server_name].heard_at_seconds
        if heard_at_seconds is None or not self.can_hear(server_name, lab_broker):
            return None
        return asyncio.get_running_loop().time() - heard_at_seconds

    async def send_request(
        self, server_name: str, request_code: int, ext_fields: dict[str, str]
    ) -> RemotingCommand:
        namesrv_channel = RequestChannel(self.name_servers[server_name].reserved_port.socket_addr)
        try:
            return await namesrv_channel.send_request(build_request(request_code, ext_fields))
        finally:
            namesrv_channel.close()

    async def stop_all(self) -> None:
        """Stop everything in order. Brokers have at most 0.8 seconds to unregister."""
        running_brokers = [broker for broker in self.lab_brokers.values() if broker.run_state != "down"]
        try:
            async with asyncio.timeout(0.8):
                await asyncio.gather(*(b.simulated_broker.leave_cluster() for b in running_brokers))
        except TimeoutError:
            for lab_broker in running_brokers:
                lab_broker.simulated_broker.die_abruptly()
        for name_server in self.name_servers.values():
            if name_server.run_state != "down":
                await name_server.stop_server()
        self.release_links_and_ports()

    def release_links_and_ports(self) -> None:
        for lab_broker in self.lab_brokers.values():
            for network_link in lab_broker.links_by_server.values():
                network_link.drop_held_streams()
        for reserved_port in self._reserved_ports:
            reserved_port.release_port()
