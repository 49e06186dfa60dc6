"""A small real cluster on our name servers, and what the tests ask of it over the wire."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.interop import wire
from tests.interop.differential.loose_json import Pairs, parse
from tests.interop.java_parts import JavaBroker, JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

NameServer = OurNameServer | JavaNameServer
SYSTEM_BUSY = 2
"""The response code of a broker on which a request waited for 200 ms."""
SERVICE_NOT_AVAILABLE = 14
"""The response code of a broker whose disk is full."""


def name_server(home: Path, port: int = 0) -> NameServer:
    """Ours; with NSADMIN_INTEROP_SERVER=java the released one, to see that a test itself is right."""
    if os.environ.get("NSADMIN_INTEROP_SERVER") == "java":
        return JavaNameServer(home, port=port or None)
    return OurNameServer(home, port=port)


def plain(value: Any) -> Any:
    """A parsed body as dicts, lists, texts and ints."""
    if isinstance(value, Pairs):
        return {str(key): plain(item) for key, item in value}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return int(value[1]) if isinstance(value, tuple) else value


def body(server: NameServer, code: int, ext: dict[str, str] | None = None) -> Any:
    """The body of an answer, None when there is none."""
    answer = wire.ask(server.port, code, ext)
    return plain(parse(answer.body)) if answer.body else None


def brokers(server: NameServer) -> dict[str, dict[str, str]]:
    """Every broker group the name server knows, as broker id to address."""
    return {name: group["brokerAddrs"] for name, group in body(server, 106)["brokerAddrTable"].items()}


def route(server: NameServer, topic: str) -> dict[str, Any] | None:
    route_body = body(server, 105, {"topic": topic})
    return route_body if isinstance(route_body, dict) else None


def permissions(server: NameServer, broker: str) -> dict[str, int]:
    """The permission of each topic on one broker."""
    perms_by_topic: dict[str, int] = {}
    for topic in body(server, 206)["topicList"]:
        for queue in (route(server, topic) or {"queueDatas": []})["queueDatas"]:
            if queue["brokerName"] == broker:
                perms_by_topic[topic] = queue["perm"]
    return perms_by_topic


def wait_on_each(servers: Sequence[NameServer], what: str, probe: Callable[[NameServer], object]) -> None:
    """Wait until the probe is true of every name server."""
    for server in servers:
        wait_for(f"{what} on {server.address}", partial(probe, server))


def wait_for_broker(servers: Sequence[NameServer], name: str, broker_id: int = 0) -> None:
    key = str(broker_id)
    wait_on_each(servers, f"{name} {key}", lambda server: key in brokers(server).get(name, {}))


def wait_for_registration(servers: Sequence[NameServer], broker: JavaBroker) -> None:
    """Wait until each name server has a broker of 5.x that registers again and again.

    Without a timer wheel, or with the files of an earlier run, it first registers before it has looked for
    name servers, with none of them, and then after 10 s.
    """

    def has_broker(server: NameServer) -> bool:
        register_now(broker.port)
        return str(broker.broker_id) in brokers(server).get(broker.name, {})

    wait_on_each(servers, broker.name, has_broker)


def wait_for_runtime_info(broker_port: int) -> None:
    """A fresh broker answers GET_BROKER_RUNTIME_INFO with an exception in its first seconds."""
    wait_for("runtime info", lambda: wire.ask(broker_port, 28).code == 0)


def register_now(broker_port: int) -> None:
    """Have a broker register as after a change of its permission, not only after some seconds."""
    assert wire.ask(broker_port, 25, {}, b"brokerPermission=6\n").code == 0


def create_topic(broker_port: int, topic: str, queues: int = 4, perm: int = 6) -> None:
    """UPDATE_AND_CREATE_TOPIC, as mqadmin sends it to a broker."""
    ext = {
        "topic": topic,
        "defaultTopic": "TBW102",
        "readQueueNums": str(queues),
        "writeQueueNums": str(queues),
        "perm": str(perm),
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "false",
    }
    answer = wire.ask(broker_port, 17, ext)
    assert answer.code == 0, answer


def wait_for_topic(servers: Sequence[NameServer], topic: str) -> None:
    wait_on_each(servers, topic, lambda server: route(server, topic))


def send_code(broker_port: int, topic: str, queue: int = 0, body: bytes = b"hello") -> int:
    """The response code of SEND_MESSAGE_V2, from past our client."""
    ext = {
        "a": "P", "b": topic, "c": "TBW102", "d": "4", "e": str(queue), "f": "0", "g": "1700000000000",
        "h": "0", "i": "", "j": "0", "k": "false", "l": "0", "m": "false",
    }  # fmt: skip
    return wire.ask(broker_port, 310, ext, body).code


def send(broker_port: int, topic: str, queue: int, count: int, body: bytes = b"hello") -> None:
    """Send messages. A broker that is too busy to store a message gets it again."""

    def is_stored() -> bool:
        code = send_code(broker_port, topic, queue, body)
        assert code in (0, SYSTEM_BUSY), code
        return code == 0

    for _ in range(count):
        wait_for("a broker that is not busy", is_stored)
