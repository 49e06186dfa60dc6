"""A simulated cluster for command lines of nsadmin: only what is ordered happens."""

import io
import os
import signal
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from namesrv_core.errors import ResponseCode
from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.topics import TopicConfigJson
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.app import main
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.commands.brokers import registration_repair
from nsadmin.commands.procedures import signals
from nsadmin.operations.procedure_clock import ProcedureClock
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS, SimulatedBroker
from tests.simulation.name_server import SimulatedNameServer
from tests.simulation.network import Network
from tests.simulation.world import World

_PATIENCE_MS = 60_000


class _NoMessages:
    """The offsets of a broker without messages and consumers."""

    moved_groups = ()

    def end_offsets(self, topic: str, queue_count: int, time_ms: int) -> list[int]:
        return [0] * queue_count

    begin_offsets = end_offsets

    def groups_of_topic(self, topic: str) -> list[str]:
        return []

    def topics_of_group(self, group: str) -> list[str]:
        return []

    def count_recent_messages(self, topic: str, time_ms: int, window_ms: int) -> int:
        return 0

    def last_stored_ms(self, topic: str, queue_id: int, end_offset: int, now_ms: int) -> int:
        return 0

    def forget_topic(self, topic: str) -> None:
        pass

    def resume_group(self, group: str, now_ms: int) -> None:
        pass


class ReleasedBroker(SimulatedBroker):
    """A master that reports a release, and lacks the requests that this release lacks."""

    version = "V5_5_0"
    unsupported: frozenset[int] = frozenset()

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.model.offsets = cast(Any, _NoMessages())

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        if request.code in self.unsupported:
            return build_reply(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED)
        return super().handle(request)

    def _describe_runtime(self) -> dict[str, str | None]:
        return super()._describe_runtime() | {"brokerVersionDesc": self.version}


class OldBroker(ReleasedBroker):
    """A master of 4.9.7: its topics have no attributes."""

    version = "V4_9_7"
    unsupported = frozenset({RequestCode.GET_TOPIC_CONFIG})

    def handle(self, request: RemotingCommand) -> RemotingCommand:
        reply = super().handle(request)
        if request.code == RequestCode.GET_ALL_TOPIC_CONFIG:
            body = fastjson.decode_json(reply.body)
            for config in body["topicConfigTable"].values():
                del config["attributes"]
            reply.body = fastjson.encode_json(body)
        return reply


class CommandCluster:
    """Two name servers and masters by name, each with these topics."""

    def __init__(
        self,
        state_home: Path,
        topics_by_broker: Mapping[str, tuple[TopicConfigJson, ...]],
        *,
        is_old: bool,
        system_topics: frozenset[str],
    ) -> None:
        self.world = World(0)
        self.world.is_quiet = True
        self.servers = [
            SimulatedNameServer(self.world, f"10.0.0.{number}:9876", is_old=is_old) for number in (1, 2)
        ]
        broker_class = OldBroker if is_old else ReleasedBroker
        servers = {server.addr: server for server in self.servers}
        self.brokers = {
            name: broker_class(
                self.world, BrokerSpec(CLUSTER, name, 0, topics), f"10.0.1.{number}:10911", servers
            )
            for number, (name, topics) in enumerate(topics_by_broker.items(), 1)
        }
        self._network = Network(
            self.world, servers, {broker.addr: broker for broker in self.brokers.values()}
        )
        self.state_home = state_home
        self._environment = {
            "NSADMIN_STATE": str(state_home),
            "NSADMIN_AUDIT": "off",
            "NSADMIN_INVENTORY": "off",
        }
        for server in self.servers:
            server.start()
        for broker in self.brokers.values():
            broker.model.topic_table.reserved_names = system_topics
            broker.start(HEARTBEAT_MS)

    @property
    def labels(self) -> dict[str, str]:
        """The name of each server by its address."""
        return {
            **{server.addr: f"namesrv-{number}" for number, server in enumerate(self.servers, 1)},
            **{broker.addr: name for name, broker in self.brokers.items()},
        }

    def run(self, words: Iterable[str], last_wait: list[str] | None = None) -> tuple[int, str, str]:
        """Run a command line, and return its exit code, stdout and stderr. Ctrl-C ends one that waits."""
        world, began_ms = self.world, self.world.true_ms

        def pause_seconds(seconds: float) -> None:
            world.pause_seconds(seconds)
            if world.true_ms - began_ms > _PATIENCE_MS:
                signal.raise_signal(signal.SIGINT)

        clock = ProcedureClock(lambda: world.clock_ms, pause_seconds, lambda: world.true_ms / 1000)
        stdout, stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        with ExitStack() as stack:
            connections = self._network.pool.get_connections(None)
            stack.enter_context(patch.object(Pool, "get_connections", lambda pool, access: connections))
            for module in (signals, registration_repair):
                stack.enter_context(patch.object(module, "SYSTEM_CLOCK", clock))
            stack.enter_context(patch.dict(os.environ, self._environment))
            stack.enter_context(redirect_stdout(stdout))
            stack.enter_context(redirect_stderr(stderr))
            addrs = ";".join(server.addr for server in self.servers)
            code = main(["-n", addrs, "--json", *words])
        out, err = (stream.detach().getvalue().decode() for stream in (stdout, stderr))
        return code, out, err

    def stop_name_server(self, number: int) -> None:
        self.servers[number].stop()

    def start_name_server(self, number: int) -> None:
        self.servers[number].start()

    def stop_broker(self, name: str) -> None:
        self.brokers[name].stop(is_abrupt=True)

    def start_broker(self, name: str) -> None:
        self.brokers[name].start(HEARTBEAT_MS)

    def settle(self) -> None:
        """Let each broker register."""
        self.world.pass_time(HEARTBEAT_MS + 1_000)

    def read_state(self) -> dict[str, Any]:
        """The queues of each broker on each name server that runs, and what brokers have."""
        queues = {
            f"{name} on namesrv-{number}": {
                topic: (queue.read_queue_nums, queue.write_queue_nums, queue.perm)
                for topic, queue in server.queues_of(name).items()
            }
            for number, server in enumerate(self.servers, 1)
            if server.is_up
            for name in self.brokers
        }
        own = {
            name: {
                topic: (config["readQueueNums"], config["writeQueueNums"], config["perm"])
                for topic, config in broker.model.topic_table.configs.items()
            }
            for name, broker in self.brokers.items()
            if broker.is_up
        }
        perms = {
            f"brokerPermission of {name}": str(int(broker.model.properties.broker_permission))
            for name, broker in self.brokers.items()
            if broker.is_up
        }
        return {**queues, **own, **perms}
