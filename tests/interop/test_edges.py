"""What no generated sequence can hold: time, files, settings of the start, and what breaks a server.

Each runs against Java's server and ours, with what differs on purpose spelled out.
"""

import contextlib
import json
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop import wire
from tests.interop.cluster import NameServer, brokers, plain
from tests.interop.differential.loose_json import parse
from tests.interop.differential.subject import registration
from tests.interop.java_parts import JavaNameServer
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.wire import Connection, frame, json_header

QUICK_SCAN = {"scanNotActiveBrokerInterval": 200, "notifyMinBrokerIdChanged": "true"}
FRAME_LIMIT = 16 * 1024 * 1024


def server_of(kind: str, home: Path, config: dict[str, object] | None = None) -> NameServer:
    return JavaNameServer(home, config) if kind == "java" else OurNameServer(home, config)


@pytest.fixture(scope="module", params=["java", "ours"])
def server(
    request: pytest.FixtureRequest, released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NameServer]:
    with server_of(request.param, tmp_path_factory.mktemp(request.param), QUICK_SCAN) as running:
        yield running


@pytest.fixture
def connection(server: NameServer) -> Iterator[Connection]:
    with contextlib.closing(Connection(server.port)) as opened:
        yield opened


def is_ours(server: NameServer) -> bool:
    return isinstance(server, OurNameServer)


def register(connection: Connection, name: str, address: str, broker_id: int = 0, **more: str) -> wire.Answer:
    ext, body = registration(name, address, (f"{name}-1", f"{name}-2"))
    return connection.call(103, ext | {"clusterName": "edges", "brokerId": str(broker_id)} | more, body)


def identity(name: str, address: str) -> dict[str, str]:
    return {"brokerName": name, "brokerAddr": address, "clusterName": "edges", "brokerId": "0"}


def test_a_broker_expires_after_its_own_timeout_and_its_connection_is_closed(
    server: NameServer, connection: Connection
) -> None:
    register(connection, "short", "10.1.0.1:1", heartbeatTimeoutMillis="1000")
    wait_for("expiry", lambda: "short" not in brokers(server))
    assert connection.receive() is None


@pytest.mark.parametrize("code", [904, 322])
def test_a_heartbeat_keeps_a_broker_alive(server: NameServer, connection: Connection, code: int) -> None:
    name, address = f"kept-{code}", f"10.1.0.2:{code}"
    register(connection, name, address, heartbeatTimeoutMillis="1500")
    with contextlib.closing(Connection(server.port)) as beside:
        register(beside, "left-alone", "10.1.0.3:1", heartbeatTimeoutMillis="1500")

        def beat() -> bool:
            connection.send(frame(json_header(code, identity(name, address), 1, flag=2), b"{}"))
            return "left-alone" not in brokers(server)

        wait_for("the other's expiry", beat)
        assert name in brokers(server)


def test_a_new_smaller_id_is_announced_to_the_other_members(
    server: NameServer, connection: Connection
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as member:
        slave = f"127.0.0.1:{member.getsockname()[1]}"
        register(connection, "told", slave, broker_id=1, enableActingMaster="true")
        register(connection, "told", "127.0.0.1:9", broker_id=0, enableActingMaster="true")
        member.settimeout(10)
        with member.accept()[0] as accepted, accepted.makefile("rb") as stream:
            (size,) = struct.unpack(">i", stream.read(4))
            announced = wire.read_frame(stream.read(size))
    assert (announced.code, announced.flag) == (905, 2)
    ext = {"minBrokerId": "0", "minBrokerAddr": "127.0.0.1:9", "haBrokerAddr": "-"}
    assert announced.ext == ext


def test_a_frame_of_16_mib_is_read_and_a_longer_one_closes_the_connection(server: NameServer) -> None:
    header = json_header(106, None, 5)
    for more, answered in ((0, True), (1, False)):
        with contextlib.closing(Connection(server.port)) as opened:
            opened.send(frame(header, bytes(FRAME_LIMIT - 8 - len(header) + more)))
            answer = opened.receive(20)
            assert (answer is not None and answer.code == 0) is answered


def test_a_request_in_many_pieces_and_many_requests_in_one_are_answered(
    server: NameServer, connection: Connection
) -> None:
    request = frame(json_header(106, None, 5))
    for at in range(len(request)):
        connection.send(request[at : at + 1])
    assert connection.receive() is not None
    connection.send(request * 50)
    assert [answer.code for answer in (connection.receive() for _ in range(50)) if answer] == [0] * 50


def test_brokers_that_share_a_connection_all_go_with_it_on_ours_only(server: NameServer) -> None:
    with contextlib.closing(Connection(server.port)) as shared:
        for number in range(3):
            register(shared, f"shared-{number}", f"10.1.1.{number}:1")

    def left() -> int:
        return sum(name.startswith("shared-") for name in brokers(server))

    wait_for("the close", lambda: left() < 3)
    assert left() == (0 if is_ours(server) else 2)


def test_an_address_that_two_clusters_share_leaves_each_of_them_for_itself(server: NameServer) -> None:
    shared = "10.1.3.1:1"
    with contextlib.closing(Connection(server.port)) as second:
        with contextlib.closing(Connection(server.port)) as first:
            register(first, "sharing-a", shared)
            register(second, "sharing-b", shared, clusterName="edges-2")
        wait_for("the first's leave", lambda: "sharing-a" not in brokers(server))
        assert wire.ask(server.port, 105, {"topic": "sharing-a-1"}).code == 17
        assert "sharing-b" in brokers(server)
    wait_for("the second's leave", lambda: "sharing-b" not in brokers(server))


def test_a_name_whose_address_unregistered_under_another_name_leaves_on_ours_only(server: NameServer) -> None:
    shared = "10.1.3.2:1"
    with contextlib.closing(Connection(server.port)) as shared_connection:
        for name in ("named-a", "named-b"):
            register(shared_connection, name, shared)
        assert shared_connection.call(104, identity("named-b", shared)).code == 0
        wait_for("the unregistration", lambda: "named-b" not in brokers(server))
        assert "named-a" in brokers(server)
        answer = shared_connection.call(322, identity("named-a", shared), b"{}")
        assert (answer.ext, answer.body) == ({"changed": "true"}, b"")
    with contextlib.closing(Connection(server.port)) as later:
        # It comes and goes after the close above, so that has been handled when it is gone.
        register(later, "named-later", "10.1.3.3:1")
    wait_for("the close", lambda: "named-later" not in brokers(server))
    assert ("named-a" in brokers(server)) is not is_ours(server)
    if not is_ours(server):
        assert wire.ask(server.port, 104, identity("named-a", shared)).code == 0


def test_an_address_that_a_stranger_unregistered_stays_alive_on_ours_only(server: NameServer) -> None:
    master, slave = "10.1.3.4:1", "10.1.3.5:1"
    with (
        contextlib.closing(Connection(server.port)) as of_slave,
        contextlib.closing(Connection(server.port)) as of_master,
    ):
        register(of_master, "mastered", master)
        assert (register(of_slave, "mastered", slave, 1).ext or {})["masterAddr"] == master
        assert of_slave.call(104, identity("stranger", master)).code == 0
        # Java carries it out later. An unregistration that it carries out after this one can be seen.
        register(of_slave, "seen", "10.1.3.6:1")
        assert of_slave.call(104, identity("seen", "10.1.3.6:1")).code == 0
        wait_for("the unregistration", lambda: "seen" not in brokers(server))
        master_seen = (register(of_slave, "mastered", slave, 1).ext or {}).get("masterAddr")
        assert master_seen == (master if is_ours(server) else None)
        assert "0" in brokers(server)["mastered"]
        of_master.close()
        with contextlib.closing(Connection(server.port)) as later:
            register(later, "mastered-later", "10.1.3.7:1")
        wait_for("the close", lambda: "mastered-later" not in brokers(server))
        assert ("0" in brokers(server)["mastered"]) is not is_ours(server)
    if not is_ours(server):
        assert wire.ask(server.port, 104, identity("mastered", master)).code == 0


def body_with(number: str) -> bytes:
    return b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":%s,"unread":1e2048}}}' % number.encode()


@pytest.mark.parametrize(
    ("number", "as_text", "counter"),
    [
        ("1e2047", "Infinity", 2**63 - 1),
        ("-1e308", "-1.0E308", -(2**63)),
        ("1e-2047", "0.0", 0),
        ("1e2048", None, None),
        ("1e-2048", None, None),
        ("0e99999", None, None),
        ("1.50", "1.50", 1),
        ("0.00000001", "1E-8", 0),
        ("9223372036854775808.5", "9223372036854775808.5", -(2**63)),
        ("[1e308]", "[1.0E308]", 2**31 - 1),
        ("[1e309]", "[null]", 2**31 - 1),
        ("[3000000000]", "[3000000000]", 3_000_000_000 - 2**32),
        ("[1.50]", "[1.50]", 1),
        ('"1e2048"', "1e2048", None),
        ('"1e308"', "1e308", 2**63 - 1),
    ],
)
def test_a_number_is_read_as_text_and_as_a_number(
    server: NameServer, number: str, as_text: str | None, counter: int | None
) -> None:
    with contextlib.closing(Connection(server.port)) as connection:
        # A member that nobody reads may have any exponent.
        ext = b'{"namespace":"numbers","key":"k","value":%s}' % number.encode()
        connection.send(frame(b'{"code":100,"opaque":1,"unread":1e2048,"extFields":%s}' % ext))
        answer = connection.receive()
        assert (answer and answer.code) == (None if as_text is None else 0)
    if as_text is not None:
        stored = wire.ask(server.port, 101, {"namespace": "numbers", "key": "k"})
        assert (stored.ext or {})["value"] == as_text
    with contextlib.closing(Connection(server.port)) as connection:
        code = connection.call(103, identity("numbers", "10.1.4.1:1"), body_with(number)).code
        assert code == (1 if counter is None else 0)
        if counter is not None:
            told = connection.call(322, identity("numbers", "10.1.4.1:1"), b'{"counter":7}')
            assert json.loads(told.body)["counter"] == counter


def test_an_unregistration_that_a_newer_registration_has_overtaken_is_carried_out_by_java_only(
    server: NameServer, connection: Connection
) -> None:
    register(connection, "restarted", "10.1.0.9:1")
    with contextlib.closing(Connection(server.port)) as newer:
        register(newer, "restarted", "10.1.0.9:1")
        assert connection.call(104, identity("restarted", "10.1.0.9:1")).code == 0
        if is_ours(server):
            assert "restarted" in brokers(server)
            assert newer.call(104, identity("restarted", "10.1.0.9:1")).code == 0
        wait_for("the broker's leave", lambda: "restarted" not in brokers(server))


def test_an_unregistration_with_a_null_field_is_refused_by_ours_and_spoils_javas_batch(
    server: NameServer, connection: Connection
) -> None:
    register(connection, "victim", "10.1.2.1:1")
    broken = {"brokerAddr": "10.1.2.9:1", "clusterName": "edges", "brokerId": "0"}
    answer = connection.call(104, broken)
    assert answer.code == (1 if is_ours(server) else 0)

    def is_gone() -> bool:
        # Java's thread takes all that has come by then as one batch, so a busy one may lose this, too.
        assert connection.call(104, identity("victim", "10.1.2.1:1")).code == 0
        return "victim" not in brokers(server)

    wait_for("the victim's end", is_gone)


def test_a_value_with_blanks_is_trimmed_by_ours_and_ignored_by_java(
    server: NameServer, connection: Connection
) -> None:
    assert connection.call(318, None, b"waitSecondsForService= 7 \n").code == 0
    settings = connection.call(319).body.decode().splitlines()
    assert (f"waitSecondsForService={7 if is_ours(server) else 45}") in settings


def test_a_value_with_a_line_break_is_one_line_of_ours_and_two_of_javas(
    server: NameServer, connection: Connection
) -> None:
    assert connection.call(318, None, rb"productEnvName=a\nreadOnly=true").code == 0
    settings = connection.call(319).body.decode().splitlines()
    assert connection.call(318, None, b"productEnvName=center").code == 0
    assert (r"productEnvName=a\nreadOnly=true" in settings) == is_ours(server)
    assert ("readOnly=true" in settings) != is_ours(server)


def test_the_table_of_ordered_topics_is_there_without_keys_and_another_on_java_only(
    server: NameServer, connection: Connection
) -> None:
    for namespace, code in (("ORDER_TOPIC_CONFIG", 0), ("edges", 22 if is_ours(server) else 0)):
        key = {"namespace": namespace, "key": "T"}
        assert connection.call(100, key | {"value": "a:8"}).code == 0
        assert connection.call(102, key).code == 0
        assert connection.call(219, {"namespace": namespace}).code == code
    ext, body = registration("ordered", "10.1.4.1:1", ("a", "b"))
    assert connection.call(103, ext, body).body == b'{"table":{}}'


def test_a_registration_without_a_name_is_refused_by_ours_and_breaks_javas_304(
    server: NameServer, connection: Connection
) -> None:
    register(connection, "healthy", "10.1.3.1:1")
    ext, body = registration("nameless", "10.1.3.2:1", ("a", "b"))
    del ext["brokerName"]
    answer = connection.call(103, ext | {"clusterName": "edges"}, body)
    assert answer.code == (1 if is_ours(server) else 0)
    listed = plain(parse(connection.call(304).body))["topicList"]
    assert ("healthy" in listed) or not is_ours(server)


@pytest.mark.parametrize("kind", ["java", "ours"])
def test_an_idle_connection_is_closed_and_its_broker_goes(released: None, tmp_path: Path, kind: str) -> None:
    with (
        server_of(kind, tmp_path, {"serverChannelMaxIdleTimeSeconds": 1}) as server,
        contextlib.closing(Connection(server.port)) as idle,
    ):
        register(idle, "idle", "10.1.4.1:1")
        assert idle.receive(10) is None
        wait_for("the idle broker's end", lambda: "idle" not in brokers(server))


@pytest.mark.parametrize("kind", ["java", "ours"])
def test_routes_wait_for_the_service_when_told_to(released: None, tmp_path: Path, kind: str) -> None:
    config: dict[str, object] = {"needWaitForService": "true", "waitSecondsForService": 3}
    with server_of(kind, tmp_path, config) as server, contextlib.closing(Connection(server.port)) as opened:
        answer = opened.call(105, {"topic": "early"})
        assert (answer.code, answer.remark) == (1, "name server not ready")
        wait_for("readiness", lambda: opened.call(105, {"topic": "early"}).code == 17)


KV = {"configTable": {"Späce": {'"k"\\/\n\t\x01': "é\u2028", "0": "1"}, "ORDER_TOPIC_CONFIG": {"T": "b:8"}}}


@pytest.mark.parametrize(("writer", "reader"), [("java", "ours"), ("ours", "java")])
def test_the_kv_file_of_one_server_is_read_by_the_other(
    released: None, tmp_path: Path, writer: str, reader: str
) -> None:
    with (
        server_of(writer, tmp_path / writer) as server,
        contextlib.closing(Connection(server.port)) as opened,
    ):
        for namespace, table in KV["configTable"].items():
            for key, value in table.items():
                assert opened.call(100, {"namespace": namespace, "key": key, "value": value}).code == 0
    written = (tmp_path / writer / "kvConfig.json").read_text()
    assert json.loads(written) == KV
    (tmp_path / reader).mkdir()
    (tmp_path / reader / "kvConfig.json").write_text(written)
    with (
        server_of(reader, tmp_path / reader) as server,
        contextlib.closing(Connection(server.port)) as opened,
    ):
        for namespace, table in KV["configTable"].items():
            kv_table = plain(parse(opened.call(219, {"namespace": namespace}).body))
            assert kv_table == {"table": table}


@pytest.mark.parametrize(("kind", "starts"), [("java", False), ("ours", True)])
def test_an_empty_object_as_kv_file_stops_java_only(
    released: None, tmp_path: Path, kind: str, starts: bool
) -> None:
    (tmp_path / "kvConfig.json").write_text("{}")
    server = server_of(kind, tmp_path)
    if starts:
        with server:
            assert brokers(server) == {}
    else:
        with pytest.raises(RuntimeError, match=r"ended with"):
            server.start()
