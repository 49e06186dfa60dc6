"""105, and that what is remembered of it is never old."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state import liveness, routes
from namesrv_core.state.settings import NameServerSettings
from tests.support.brokers import leave_at_once
from tests.support.wire import STARTED_AT, Wire, broker_ext, registration_body, topic_config

MEMBERS = "rmq_sys_SYNC_BROKER_MEMBER_a"
GOLDEN = Path(__file__).parents[2] / "golden" / "wire"


def broker_a(form: HeaderType, settings: NameServerSettings | None = None, **more: str) -> Wire:
    """The topic T on a master and its slave."""
    wire = Wire(form, settings)
    cluster, name = "DefaultCluster", "broker-a"
    wire.register_broker(name, "T", "U", addr="127.0.0.1:10911", cluster=cluster, more=more)
    wire.register_broker(name, broker_id=1, addr="127.0.0.1:10921", cluster=cluster, more=more)
    return wire


@pytest.mark.parametrize(
    ("file", "form", "version"),
    [
        ("route_answer_standard_json", HeaderType.JSON, 401),
        ("route_answer_standard_json", HeaderType.JSON, 513),
        ("route_answer_default_json", HeaderType.JSON, 400),
        ("route_answer_default_json", HeaderType.JSON, 121),
        ("route_answer_default_binary", HeaderType.ROCKETMQ, 317),
    ],
)
def test_a_route_is_answered_byte_for_byte(file: str, form: HeaderType, version: int) -> None:
    wire = broker_a(form)
    for _ in range(2):
        answer = wire.send_request(105, {"topic": "T"}, version=version)
        answer.opaque = 1
        assert codec.encode_command(answer) == (GOLDEN / f"{file}.bin").read_bytes()


def route(wire: Wire, version: int = 317, **ext: str) -> Any:
    return wire.send_request(105, {"topic": "T", **ext}, version=version)


@pytest.mark.parametrize(
    ("text", "standard"), [("true", True), ("TRUE", True), ("false", False), ("1", False)]
)
def test_an_old_client_may_ask_for_standard_json(form: HeaderType, text: str, standard: bool) -> None:
    body = route(broker_a(form), acceptStandardJsonOnly=text).body
    assert (b'{"0":' in body, b"{0:" in body) == (standard, not standard)


def test_a_topic_without_route_is_code_17_in_upstream_s_words(form: HeaderType) -> None:
    answer = Wire(form).send_request(105, {"topic": "X"})
    assert (answer.code, answer.body) == (17, b"")
    assert answer.remark == (
        "No topic route info in name server for the topic: X\n"
        "See https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
    )


def test_an_order_topic_has_its_configuration_where_the_settings_say_so(form: HeaderType) -> None:
    order = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "broker-a:8"}
    off, on = broker_a(form), broker_a(form, NameServerSettings(orderMessageEnable=True))
    for wire in (off, on):
        assert b"orderTopicConf" not in route(wire).body
        wire.send_request(100, order)
    assert b"orderTopicConf" not in route(off).body
    assert b'"orderTopicConf":"broker-a:8"' in route(on).body
    on.send_request(102, order)
    assert b"orderTopicConf" not in route(on).body


def test_a_slave_stands_in_for_its_master_where_the_settings_say_so(form: HeaderType) -> None:
    for supported in (False, True):
        wire = broker_a(form, NameServerSettings(supportActingMaster=supported), enableActingMaster="true")
        wire.send_request(104, broker_ext("broker-a", 0, "127.0.0.1:10911", "DefaultCluster"))
        addrs = b'{0:"127.0.0.1:10921"}' if supported else b'{1:"127.0.0.1:10921"}'
        assert b'"brokerAddrs":' + addrs in route(wire).body


def test_a_name_server_that_has_to_wait_is_not_ready_until_it_has(form: HeaderType) -> None:
    wire = broker_a(form, NameServerSettings(needWaitForService=True, waitSecondsForService=45))
    answer = wire.send_request(105, {"topic": "T"}, now=STARTED_AT + 44_999)
    assert (answer.code, answer.remark, answer.body) == (1, "name server not ready", b"")
    assert wire.send_request(105, {"topic": "T"}, now=STARTED_AT + 45_000).code == 0
    assert wire.send_request(105, {"topic": "T"}, now=STARTED_AT).code == 1


def test_a_route_cut_to_a_zone_is_in_the_default_dialect(form: HeaderType) -> None:
    wire = broker_a(form, __ZONE_NAME="east")
    ext = {"topic": "T", "__ZONE_MODE": "true", "__ZONE_NAME": "EAST"}
    assert b'"brokerAddrs":{0:' in wire.send_request(105, ext, version=513).body
    answer = wire.send_request(105, ext | {"__ZONE_NAME": "west"}, version=513)
    assert (answer.code, answer.body) == (0, b'{"brokerDatas":[],"filterServerTable":{},"queueDatas":[]}')


@pytest.mark.parametrize(
    "ext",
    [
        {"__ZONE_NAME": "west"},
        {"__ZONE_MODE": "true"},
        {"__ZONE_MODE": "true", "__ZONE_NAME": " "},
        {"__ZONE_MODE": "no", "__ZONE_NAME": "west"},
    ],
)
def test_a_route_is_whole_for_whoever_names_no_zone(form: HeaderType, ext: dict[str, str]) -> None:
    wire = broker_a(form, __ZONE_NAME="east")
    assert b'"brokerAddrs":{"0":' in wire.send_request(105, {"topic": "T"} | ext).body


def test_a_zone_s_route_and_the_whole_one_are_not_mixed_up(form: HeaderType) -> None:
    wire = broker_a(form, __ZONE_NAME="east")
    whole = route(wire).body
    cut = route(wire, __ZONE_MODE="true", __ZONE_NAME="west").body
    assert whole != cut
    assert route(wire).body == whole


def test_topics_that_are_placed_alike_have_one_body(
    form: HeaderType, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = broker_a(form)
    body = route(wire).body
    monkeypatch.delattr(routes, "encode_route_body")
    assert wire.send_request(105, {"topic": "U"}, version=317).body == body


class Remembered(RuleBasedStateMachine):
    """A route that is asked for between any changes is the one that the tables have at that moment."""

    @initialize()
    def begin(self) -> None:
        self.wire = Wire()
        self.now = STARTED_AT

    @rule(
        name=st.sampled_from("ab"),
        broker_id=st.integers(0, 1),
        perm=st.sampled_from([4, 6]),
        counter=st.integers(1, 2),
        filters=st.none() | st.lists(st.just("f"), max_size=1),
        mapped=st.booleans(),
        more=st.sampled_from([{}, {"enableActingMaster": "true"}, {"__ZONE_NAME": "z"}]),
        addr=st.sampled_from("xy"),
    )
    def register(
        self,
        name: str,
        broker_id: int,
        perm: int,
        counter: int,
        filters: list[str] | None,
        mapped: bool,
        more: dict[str, str],
        addr: str,
    ) -> None:
        mapping = {"T": {"bname": name, "topic": "T", "totalQueues": perm}} if mapped else None
        body = registration_body(
            [topic_config("T", perm=perm), "U", MEMBERS], DataVersion(counter, 0, 1), mapping, filters
        )
        self.wire.register_broker(
            name, broker_id=broker_id, addr=f"{name}{broker_id}{addr}", more=more, body=body, now=self.now
        )

    @rule(name=st.sampled_from("ab"), broker_id=st.integers(0, 1), addr=st.sampled_from("xy"))
    def unregister(self, name: str, broker_id: int, addr: str) -> None:
        self.wire.send_request(104, broker_ext(name, broker_id, f"{name}{broker_id}{addr}"))

    @rule(code=st.sampled_from([205, 327]), name=st.sampled_from("ab"))
    def set_perm(self, code: int, name: str) -> None:
        self.wire.send_request(code, {"brokerName": name})

    @rule(code=st.sampled_from([100, 102]), value=st.sampled_from(["a:8", "b:8"]))
    def set_order(self, code: int, value: str) -> None:
        self.wire.send_request(code, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": value})

    @rule(key=st.sampled_from(["orderMessageEnable", "supportActingMaster"]), on=st.booleans())
    def update(self, key: str, on: bool) -> None:
        self.wire.send_request(318, body=f"{key}={on}".encode())

    @rule()
    def delete_topic(self) -> None:
        self.wire.send_request(216, {"topic": "T"})

    @rule(perm=st.sampled_from([0, 6]))
    def register_topic(self, perm: int) -> None:
        self.wire.send_request(217, {"topic": "T"}, b'{"queueDatas":[{"brokerName":"a","perm":%d}]}' % perm)

    @rule(passed=st.sampled_from([1, 60_001]))
    def let_time_pass(self, passed: int) -> None:
        self.now += passed
        leave_at_once(self.wire.state.tables, liveness.find_expired_brokers(self.wire.state.tables, self.now))

    @rule()
    def close(self) -> None:
        leave_at_once(self.wire.state.tables, liveness.end_channel(self.wire.state.tables, 1))

    @invariant()
    def a_route_is_what_the_tables_have(self) -> None:
        state = self.wire.state
        # They are placed alike at times, and only one has a mapping and an order.
        for topic, version in product(("T", "U", MEMBERS), (317, 513)):
            topic_route = routes.find_route(state.tables, topic, state.settings.supportActingMaster)
            order = (
                state.kv_config.get_value("ORDER_TOPIC_CONFIG", topic)
                if state.settings.orderMessageEnable
                else None
            )
            fresh = (
                b"" if topic_route is None else routes.encode_route_body(topic_route, order, version >= 401)
            )
            assert self.wire.send_request(105, {"topic": topic}, version=version).body == fresh


TestRemembered = Remembered.TestCase
TestRemembered.settings = hypothesis_settings(max_examples=60, stateful_step_count=20, deadline=None)


@pytest.mark.parametrize("version", [0, 317, 513])
def test_the_cluster_map_is_in_the_default_dialect_whoever_asks(form: HeaderType, version: int) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U", more={"__ZONE_NAME": "z"})
    answer = wire.send_request(106, version=version)
    assert (answer.code, answer.ext) == (0, None)
    assert answer.body == (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"a","cluster":"c",'
        b'"enableActingMaster":false,"zoneName":"z"}},"clusterAddrTable":{"c":["a"]}}'
    )


def test_who_asks_for_it_is_told_how_long_brokers_were_silent(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    plain = wire.send_request(106)
    answer = wire.send_request(106, {"withHeartbeats": "true"}, now=STARTED_AT + 30_000)
    assert answer.ext == {"heartbeats": '{"10.0.0.1:10911":[30000,120000]}'}
    assert answer.body == plain.body
    assert wire.send_request(106, {"withHeartbeats": "false"}).ext is None
