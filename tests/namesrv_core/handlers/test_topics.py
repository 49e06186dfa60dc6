"""206, 216, 217, 224, 304, 311, 312, 313."""

import pytest

from namesrv_core.events import TopicDeleted, TopicsChanged
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.handlers.stepped_reply import SteppedReply
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state.settings import NameServerSettings
from tests.namesrv_core.handlers.test_stepped_reply import run_steps
from tests.support.wire import STARTED_AT, Wire, broker_ext, registration_body, topic_config

QUEUE = b'{"brokerName":"a","perm":4,"readQueueNums":3,"topicSysFlag":0,"writeQueueNums":2}'
ROUTE = b'{"brokerDatas":[],"filterServerTable":{},"queueDatas":[' + QUEUE + b"]}"


def lab(form: HeaderType, settings: NameServerSettings | None = None) -> Wire:
    """Broker a of cluster c with T0 to T3 by sys flag, broker b of cluster d with T0 and V."""
    wire = Wire(form, settings)
    flags = [topic_config(f"T{flag}", topicSysFlag=flag) for flag in range(4)]
    wire.register_broker("a", body=registration_body(flags))
    wire.register_broker("b", "T0", "V", cluster="d", addr="10.0.0.2:10911", channel=2)
    return wire


LISTS = [
    (206, {}, {"T0", "T1", "T2", "T3", "V"}),
    (224, {"cluster": "d"}, {"T0", "V"}),
    (224, {"cluster": "x"}, set()),
    (311, {}, {"T1", "T3"}),
    (312, {}, {"T2", "T3"}),
    (313, {}, {"T2"}),
]


@pytest.mark.parametrize(("code", "ext", "topics"), LISTS)
def test_topics_are_listed(form: HeaderType, code: int, ext: dict[str, str], topics: set[str]) -> None:
    answer = lab(form).send_request(code, ext)
    assert (answer.code, answer.ext) == (0, None)
    body = fastjson.decode_json(answer.body)
    assert set(body) == {"topicList"}
    assert sorted(body["topicList"]) == sorted(topics)


@pytest.mark.parametrize("code", [206, 224, 311, 312, 313])
def test_a_list_that_the_settings_disable_is_refused(form: HeaderType, code: int) -> None:
    off = NameServerSettings(enableAllTopicList=code != 206, enableTopicList=code == 206)
    answer = lab(form, off).send_request(code, {"cluster": "c"})
    assert (answer.code, answer.remark, answer.body) == (1, "disable", b"")


@pytest.mark.parametrize("code", [206, 224, 311, 312, 313])
def test_one_switch_does_not_disable_the_lists_of_the_other(form: HeaderType, code: int) -> None:
    other_off = NameServerSettings(enableAllTopicList=code == 206, enableTopicList=code != 206)
    assert lab(form, other_off).send_request(code, {"cluster": "c"}).code == 0


def test_system_topics_are_clusters_and_brokers_and_never_disabled(form: HeaderType) -> None:
    answer = lab(form, NameServerSettings(enableAllTopicList=False, enableTopicList=False)).send_request(304)
    body = fastjson.decode_json(answer.body)
    assert sorted(body["topicList"]) == ["a", "b", "c", "d"]
    assert body["brokerAddr"] in ("10.0.0.1:10911", "10.0.0.2:10911")
    assert answer.body.startswith(b'{"brokerAddr":')
    assert Wire(form).send_request(304).body == b'{"topicList":[]}'


def test_a_topic_is_deleted_everywhere_or_in_one_cluster(form: HeaderType) -> None:
    wire = lab(form)
    assert wire.send_request(216, {"topic": "T0", "clusterName": "d"}).code == 0
    assert [type(event) for event in wire.events] == [TopicDeleted]
    assert set(wire.state.tables.queues_of_topic("T0")) == {"a"}
    assert wire.send_request(216, {"topic": "T0"}).code == 0
    assert "T0" not in wire.state.tables.placements_by_topic
    assert wire.send_request(105, {"topic": "T0"}).code == 17


@pytest.mark.parametrize(
    "ext", [{"topic": "X"}, {"topic": "T0", "clusterName": "x"}, {"clusterName": "c"}, {}]
)
def test_deleting_nothing_succeeds(form: HeaderType, ext: dict[str, str]) -> None:
    wire = lab(form)
    assert wire.send_request(216, ext).code == 0
    assert list(wire.events) == []


def test_a_topic_registered_by_itself_is_stored_as_it_is(form: HeaderType) -> None:
    wire = lab(form)
    assert wire.send_request(217, {"topic": "X"}, ROUTE).code == 0
    assert [type(event) for event in wire.events] == [TopicsChanged]
    assert wire.state.tables.queues_of_topic("X")["a"] == ("a", 3, 2, 4, 0)


@pytest.mark.parametrize("body", [b"", b"null", b"{}", b'{"queueDatas":null}', b'{"queueDatas":{}}'])
def test_a_topic_without_queues_is_registered_without_effect(form: HeaderType, body: bytes) -> None:
    wire = lab(form)
    assert wire.send_request(217, {"topic": "X"}, body).code == 0
    assert list(wire.events) == []


def test_a_topic_of_an_unknown_broker_is_answered_with_success_and_not_stored(form: HeaderType) -> None:
    wire = lab(form)
    assert wire.send_request(217, {"topic": "X"}, ROUTE.replace(b'"a"', b'"z"')).code == 0
    assert "X" not in wire.state.tables.placements_by_topic


@pytest.mark.parametrize("body", [b"[]", b" ", b'{"queueDatas":"x"}', b"x", ROUTE[:-1]])
def test_a_body_that_is_no_route_is_refused(form: HeaderType, body: bytes) -> None:
    wire = lab(form)
    assert wire.send_request(217, {"topic": "X"}, body).code == 1
    assert "X" not in wire.state.tables.placements_by_topic


@pytest.mark.parametrize(("length", "code"), [(255, 0), (256, 1)])
def test_a_registered_topic_has_a_name_of_255_bytes_at_most(form: HeaderType, length: int, code: int) -> None:
    wire = lab(form)
    answer = wire.send_request(217, {"topic": "n" * length}, ROUTE)
    assert answer.code == code
    assert ("n" * length in wire.state.tables.placements_by_topic) == (code == 0)
    assert wire.state.limit_hits.hit_counts["maxNameBytes"] == code


def many_topics(form: HeaderType) -> Wire:
    wire = Wire(form)
    configs = [topic_config(f"T{number}", topicSysFlag=number % 4) for number in range(2_500)]
    wire.register_broker("a", body=registration_body(configs))
    return wire


@pytest.mark.parametrize(
    ("code", "ext", "count"),
    [(206, {}, 2_500), (224, {"cluster": "c"}, 2_500), (311, {}, 1_250), (312, {}, 1_250), (313, {}, 625)],
)
def test_a_list_of_many_topics_is_computed_in_steps_and_then_kept(
    form: HeaderType, code: int, ext: dict[str, str], count: int
) -> None:
    wire = many_topics(form)
    asked = RemotingCommand(code, ext, opaque=7, header_type=form)
    reply = handle_request(wire.state, asked, 1, STARTED_AT)[0]
    assert isinstance(reply, SteppedReply)
    answer = run_steps(reply)[0]
    assert len(fastjson.decode_json(answer.body)["topicList"]) == count
    again = wire.send_request(code, ext)
    assert (answer.code, answer.opaque, answer.flag) == (0, 7, 1)
    assert again.body == answer.body


def test_the_list_of_a_cluster_that_nobody_knows_takes_no_steps(form: HeaderType) -> None:
    wire = many_topics(form)
    for ext in ({"cluster": "x"}, {}):
        assert wire.send_request(224, ext).body == b'{"topicList":[]}'


@pytest.mark.parametrize("code", [106, 206, 224, 304])
def test_a_list_shows_each_change_of_brokers_and_topics(form: HeaderType, code: int) -> None:
    wire = lab(form)
    bodies = [wire.send_request(code, {"cluster": "d"}).body]
    wire.register_broker("e", "T0", "X", cluster="d", addr="10.0.0.3:10911", channel=3)
    bodies.append(wire.send_request(code, {"cluster": "d"}).body)
    wire.send_request(104, broker_ext("e", 0, "10.0.0.3:10911", "d"))
    assert wire.send_request(code, {"cluster": "d"}).body == bodies[0]
    assert bodies[0] != bodies[1]


@pytest.mark.parametrize("code", [106, 224, 304])
def test_a_broker_that_registers_again_under_another_cluster_is_listed_there(
    form: HeaderType, code: int
) -> None:
    wire = lab(form)
    ext = {"cluster": "e"}
    before = wire.send_request(code, ext).body
    wire.register_broker("b", "T0", "V", cluster="e", addr="10.0.0.2:10911", channel=2)
    assert wire.send_request(code, ext).body != before
