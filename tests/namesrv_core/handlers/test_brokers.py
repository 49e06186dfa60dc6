"""103, 104, 205, 322, 327, 901, 904."""

import zlib

import pytest

from namesrv_core.events import BrokerRegistered, BrokerUnregistered, TopicsChanged, WritePermWiped
from namesrv_core.protocol import registration_codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import encode_compressed_registration
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import STARTED_AT, VERSION, Wire, broker_ext, registration_body, topic_config

ADDR = "10.0.0.1:10911"
KEY = ("c", ADDR)


def topics(wire: Wire) -> set[str]:
    return set(wire.state.tables.placements_by_topic)


def test_a_registration_is_answered_with_empty_fields_and_no_body(form: HeaderType) -> None:
    wire = Wire(form)
    answer = wire.register_broker("a", "T", "U")
    assert (answer.code, answer.remark, answer.body) == (0, None, b"")
    assert not answer.ext
    assert [type(event) for event in wire.events] == [BrokerRegistered, TopicsChanged]
    assert topics(wire) == {"T", "U"}


def test_a_slave_is_told_its_master(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.register_broker("a", "T", "U", broker_id=1, addr="10.0.0.2:10911")
    assert answer.ext == {"haServerAddr": f"ha-{ADDR}", "masterAddr": ADDR}


def test_order_topics_are_told_to_every_broker(form: HeaderType) -> None:
    wire = Wire(form)
    wire.send_request(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:8"})
    assert wire.register_broker("a", "T", "U").body == b'{"table":{"T":"a:8"}}'


def test_order_topics_are_not_told_where_the_settings_say_so(form: HeaderType) -> None:
    wire = Wire(form, NameServerSettings(returnOrderTopicConfigToBroker=False))
    wire.send_request(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:8"})
    assert wire.register_broker("a", "T", "U").body == b""


def test_what_a_broker_says_of_itself_is_kept(form: HeaderType) -> None:
    wire = Wire(form)
    more = {"heartbeatTimeoutMillis": "10000", "enableActingMaster": "TRUE", "__ZONE_NAME": "z"}
    wire.register_broker("a", "T", "U", more=more, channel=7, now=STARTED_AT + 9)
    live, group = wire.state.tables.live_brokers[KEY], wire.state.tables.broker_groups["a"]
    assert (live.timeout_ms, live.heard_at_ms, live.channel_id) == (10_000, STARTED_AT + 9, 7)
    assert live.ha_server_addr == f"ha-{ADDR}"
    assert (group.enable_acting_master, group.zone_name) == (True, "z")


def test_a_body_with_its_checksum_is_taken(form: HeaderType) -> None:
    wire = Wire(form)
    body = registration_body(["T", "U"])
    crc = zlib.crc32(body) & 0x7FFFFFFF
    assert wire.register_broker(body=body, more={"bodyCrc32": str(crc)}).code == 0
    assert topics(wire) == {"T", "U"}


@pytest.mark.parametrize("body", [registration_body(["T", "U"]), b""])
def test_a_body_with_another_checksum_is_refused(form: HeaderType, body: bytes) -> None:
    wire = Wire(form)
    answer = wire.register_broker(body=body, more={"bodyCrc32": "7"})
    assert (answer.code, answer.remark) == (1, "crc32 not match")
    assert wire.state.tables.broker_groups == {}


def test_a_checksum_of_0_is_not_looked_at(form: HeaderType) -> None:
    assert Wire(form).register_broker("a", "T", "U", more={"bodyCrc32": "0"}).code == 0


def test_a_compressed_body_is_taken(form: HeaderType) -> None:
    wire = Wire(form)
    body = registration_codec.encode_compressed_registration(
        VERSION, {name: topic_config(name) for name in ("T", "U")}
    )
    assert wire.register_broker(body=body, more={"compressed": "true"}).code == 0
    assert topics(wire) == {"T", "U"}


def test_a_body_that_cannot_be_decoded_is_refused_and_changes_nothing(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.register_broker(body=b'{"topicConfigSerializeWrapper":[]}')
    assert answer.code == 1
    assert "Failed to decode RegisterBrokerBody" in (answer.remark or "")
    assert wire.events == ()
    assert topics(wire) == {"T", "U"}


def test_a_new_broker_with_one_topic_is_refused_and_leaves_no_trace(form: HeaderType) -> None:
    wire = Wire(form)
    answer = wire.register_broker("a", "T")
    assert (answer.code, answer.remark) == (1, "register broker failed")
    assert wire.send_request(106).body == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'


@pytest.mark.parametrize("field", ["brokerName", "brokerAddr", "clusterName", "brokerId"])
def test_a_registration_without_one_of_its_fields_is_refused(form: HeaderType, field: str) -> None:
    wire = Wire(form)
    ext = {key: value for key, value in broker_ext().items() if key != field}
    assert wire.send_request(103, ext, registration_body(["T", "U"])).code == 1
    assert wire.state.tables.broker_groups == {}


def test_a_registration_with_an_unreadable_id_or_version_is_refused(form: HeaderType) -> None:
    wire = Wire(form)
    assert wire.register_broker(more={"brokerId": "x"}).code == 1
    assert wire.send_request(103, broker_ext(), registration_body(["T", "U"]), version=-1).code == 1


def test_a_broker_before_3_0_11_registers_the_bare_wrapper(form: HeaderType) -> None:
    wire = Wire(form)
    body = b'{"topicConfigTable":{"T":{"topicName":"T"},"U":{"topicName":"U"}}}'
    assert wire.send_request(103, broker_ext(), body, version=36).code == 0
    assert topics(wire) == {"T", "U"}


def test_missing_topics_are_deleted_where_the_settings_say_so(form: HeaderType) -> None:
    wire = Wire(form, NameServerSettings(deleteTopicWithBrokerRegistration=True))
    wire.register_broker("a", "T", "U")
    wire.register_broker("a", "T", version=DataVersion(2, 0, 1))
    assert topics(wire) == {"T"}


def test_a_null_topic_table_deletes_no_topic_and_a_missing_one_all(form: HeaderType) -> None:
    wire = Wire(form, NameServerSettings(deleteTopicWithBrokerRegistration=True))
    wire.register_broker("a", "T", "U")
    for wrapper in (b"null", b'{"topicConfigTable":null}'):
        wire.register_broker("a", body=b'{"topicConfigSerializeWrapper":%s}' % wrapper)
        assert topics(wire) == {"T", "U"}
    wire.register_broker("a", body=b"{}")
    assert topics(wire) == set()


def test_filters_that_outlive_their_broker_count_as_brokers(form: HeaderType) -> None:
    wire = Wire(form, NameServerSettings(maxBrokers=3))
    body = registration_body(["T", "U"], DataVersion(1, 1, 1), filters=["f"])
    wire.register_broker("a", addr="x:1", body=registration_body(["T", "U"], DataVersion(1, 2, 1)))
    for number in range(5):
        addr = f"y:{number}"
        answer = wire.register_broker("a", broker_id=1, addr=addr, body=body)
        assert answer.code == (0 if number < 3 else 1)
        wire.register_broker("a", broker_id=0, addr=addr, body=body)
    assert len(wire.state.tables.filter_servers) == 3


def test_a_broker_unregisters(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U", channel=7)
    answer = wire.send_request(104, broker_ext())
    assert (answer.code, answer.remark, answer.ext, answer.body) == (0, None, None, b"")
    assert wire.events[0] == BrokerUnregistered("c", "a", 0, ADDR, "unregistered", 7)
    assert topics(wire) == set()


def test_an_unknown_broker_unregisters_with_success(form: HeaderType) -> None:
    wire = Wire(form)
    assert wire.send_request(104, broker_ext("z")).code == 0
    assert list(wire.events) == []


def test_last_words_on_a_channel_that_the_broker_has_left_do_nothing(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U", channel=7)
    wire.register_broker("a", "T", "U", channel=8)
    assert wire.send_request(104, broker_ext(), channel=7).code == 0
    assert topics(wire) == {"T", "U"}
    wire.send_request(104, broker_ext(), channel=8)
    assert topics(wire) == set()


def test_a_broker_is_taken_out_by_somebody_it_never_registered_with(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U", channel=7)
    wire.register_broker("a", "T", "U", channel=8)
    wire.send_request(104, broker_ext(), channel=9)
    assert topics(wire) == set()


VERSION_BODY = b'{"counter":1,"stateVersion":0,"timestamp":1}'


def test_the_version_that_was_registered_is_unchanged(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.send_request(322, broker_ext(), VERSION_BODY)
    assert (answer.code, answer.ext, answer.body) == (0, {"changed": "false"}, VERSION_BODY)


@pytest.mark.parametrize("body", [VERSION_BODY.replace(b"1", b"2", 1), b"", b"null", b'""', b"{}"])
def test_another_version_or_none_is_changed_and_the_stored_one_is_told(form: HeaderType, body: bytes) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.send_request(322, broker_ext(), body)
    assert (answer.code, answer.ext, answer.body) == (0, {"changed": "true"}, VERSION_BODY)
    assert wire.state.tables.live_brokers[KEY].data_version == VERSION


def test_the_version_of_an_unknown_broker_is_changed_and_there_is_no_body(form: HeaderType) -> None:
    answer = Wire(form).send_request(322, broker_ext(), VERSION_BODY)
    assert (answer.code, answer.ext, answer.body) == (0, {"changed": "true"}, b"")


def test_a_broker_that_registered_no_version_is_changed_and_there_is_no_body(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker(body=b'{"topicConfigSerializeWrapper":{"dataVersion":null}}')
    answer = wire.send_request(322, broker_ext(), VERSION_BODY)
    assert (answer.ext, answer.body) == ({"changed": "true"}, b"")


def test_a_version_with_a_null_counter_is_told_without_it(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker(
        body=b'{"topicConfigSerializeWrapper":{"dataVersion":{"counter":null,"timestamp":1}}}'
    )
    assert wire.send_request(322, broker_ext(), VERSION_BODY).body == b'{"stateVersion":0,"timestamp":1}'


@pytest.mark.parametrize("body", [VERSION_BODY, b"{}"])
def test_asking_for_the_version_is_a_sign_of_life_changed_or_not(form: HeaderType, body: bytes) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    wire.send_request(322, broker_ext(), body, now=STARTED_AT + 50)
    assert wire.state.tables.live_brokers[KEY].heard_at_ms == STARTED_AT + 50


@pytest.mark.parametrize("body", [b"[]", b" ", b"x", VERSION_BODY[:-1], b"5"])
def test_a_body_that_is_no_version_is_refused(form: HeaderType, body: bytes) -> None:
    answer = Wire(form).send_request(322, broker_ext(), body)
    assert (answer.code, answer.body) == (1, b"")
    assert not answer.ext


@pytest.mark.parametrize("code", [322, 904])
@pytest.mark.parametrize("field", ["brokerAddr", "clusterName"])
def test_a_sign_of_life_of_nobody_is_refused(form: HeaderType, code: int, field: str) -> None:
    ext = {key: value for key, value in broker_ext().items() if key != field}
    assert Wire(form).send_request(code, ext).code == 1


def test_a_heartbeat_is_a_sign_of_life(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.send_request(904, broker_ext(), now=STARTED_AT + 50)
    assert (answer.code, answer.ext, answer.body) == (0, None, b"")
    assert wire.state.tables.live_brokers[KEY].heard_at_ms == STARTED_AT + 50


def test_a_heartbeat_counts_only_for_the_cluster_it_names(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    assert wire.send_request(904, broker_ext(cluster="d"), now=STARTED_AT + 50).code == 0
    assert wire.state.tables.live_brokers[KEY].heard_at_ms == STARTED_AT
    assert list(wire.state.tables.live_brokers) == [KEY]


def test_wiping_and_adding_count_topics(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    answer = wire.send_request(205, {"brokerName": "a"})
    assert (answer.code, answer.ext, answer.body) == (0, {"wipeTopicCount": "2"}, b"")
    assert [type(event) for event in wire.events] == [WritePermWiped]
    assert wire.send_request(205, {"brokerName": "a"}).ext == {"wipeTopicCount": "2"}
    assert wire.events == ()
    answer = wire.send_request(327, {"brokerName": "a"})
    assert (answer.code, answer.ext, answer.body) == (0, {"addTopicCount": "2"}, b"")


@pytest.mark.parametrize(("code", "field"), [(205, "wipeTopicCount"), (327, "addTopicCount")])
@pytest.mark.parametrize("ext", [{"brokerName": "z"}, {}])
def test_an_unknown_broker_has_0_topics(form: HeaderType, code: int, field: str, ext: dict[str, str]) -> None:
    assert Wire(form).send_request(code, ext).ext == {field: "0"}


def test_a_member_group_is_told_with_upstream_s_remark(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    wire.register_broker("a", "T", "U", broker_id=1, addr="10.0.0.2:10911")
    answer = wire.send_request(901, {"clusterName": "any", "brokerName": "a"})
    assert (answer.code, answer.remark) == (0, "not set any response code")
    assert answer.body == (
        b'{"brokerMemberGroup":{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},'
        b'"brokerName":"a","cluster":"any"}}'
    )


LONG = "n" * 256
REGISTERED_FIELDS = [
    ("clusterName", "cluster"), ("brokerName", "broker"), ("brokerAddr", "address"),
    ("haServerAddr", "address"), ("__ZONE_NAME", "zone"),
]  # fmt: skip


@pytest.mark.parametrize(("field", "kind"), REGISTERED_FIELDS)
def test_a_registration_with_too_long_a_name_is_refused_and_leaves_nothing(
    form: HeaderType, field: str, kind: str
) -> None:
    wire = Wire(form)
    answer = wire.register_broker("a", "T", "U", more={field: LONG})
    assert answer.code == 1
    assert (answer.remark or "").startswith(f"a {kind} name of 256 bytes (")
    assert wire.state.limit_hits.hit_counts["maxNameBytes"] == 1
    tables = wire.state.tables
    assert (tables.broker_groups, tables.live_brokers, tables.broker_names_by_cluster) == ({}, {}, {})


@pytest.mark.parametrize(("field", "kind"), REGISTERED_FIELDS)
def test_a_registration_with_names_of_255_bytes_is_accepted(form: HeaderType, field: str, kind: str) -> None:
    wire = Wire(form)
    assert wire.register_broker("a", "T", "U", more={field: LONG[1:]}).code == 0


MAPPED = {"topic": "M", "bname": "a", "scope": "s", "totalQueues": 1, "epoch": 1, "currIdMap": {}}
BODIES_WITH_LONG_NAMES = {
    "topic": registration_body(["T", LONG]),
    "filter server": registration_body(["T", "U"], filters=["a:1", LONG]),
    "key of a mapping": registration_body(["T", "U"], mappings={LONG: MAPPED}),
    "topic of a mapping": registration_body(["T", "U"], mappings={"M": MAPPED | {"topic": LONG}}),
    "broker of a mapping": registration_body(["T", "U"], mappings={"M": MAPPED | {"bname": LONG}}),
    "scope of a mapping": registration_body(["T", "U"], mappings={"M": MAPPED | {"scope": LONG}}),
}


@pytest.mark.parametrize("place", BODIES_WITH_LONG_NAMES)
def test_a_body_with_too_long_a_name_is_refused_and_leaves_nothing(form: HeaderType, place: str) -> None:
    wire = Wire(form)
    answer = wire.register_broker("a", body=BODIES_WITH_LONG_NAMES[place])
    assert answer.code == 1
    assert "name of 256 bytes" in (answer.remark or "")
    assert wire.state.limit_hits.hit_counts["maxNameBytes"] == 1
    assert not wire.state.tables.broker_groups


def test_a_compressed_body_with_a_topic_name_of_megabytes_gets_a_short_answer(form: HeaderType) -> None:
    wire = Wire(form)
    configs = {name: topic_config(name) for name in ("T", "x" * 6_000_000)}
    answer = wire.register_broker("a", body=encode_compressed_registration(VERSION, configs))
    assert answer.code == 1
    assert len(answer.remark or "") < 200
    assert not wire.state.tables.placements_by_topic


def test_a_topic_line_of_megabytes_that_cannot_be_read_gets_a_short_answer(form: HeaderType) -> None:
    wire = Wire(form)
    configs = {name: topic_config(name) | {"perm": "\x01" * 1_000_000} for name in ("T", "U")}
    answer = wire.register_broker("a", body=encode_compressed_registration(VERSION, configs))
    assert answer.code == 1
    assert len(answer.remark or "") < 2_000


def test_a_registration_with_a_large_header_is_never_kept_as_a_fingerprint(form: HeaderType) -> None:
    wire = Wire(form)
    for more in ({}, {"x": "y" * 100_000}):
        assert wire.register_broker("a", "T", "U", more=more).code == 0
        last = wire.state.tables.live_brokers["c", "10.0.0.1:10911"].last_fingerprint
        assert (last is None) == bool(more)
