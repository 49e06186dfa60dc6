"""What a broker registers, read back as a name server reads it."""

import zlib

from namesrv_core.fleet.broker_model import BrokerModel, BrokerSpec
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import registration_codec
from namesrv_core.protocol.codes import V5_5_0

NOW = 1_700_000_000_000
TOPICS = (make_topic_config("orders", 8), make_topic_config("history", 4, perm=4))


def model(broker_id: int = 0) -> BrokerModel:
    spec = BrokerSpec("c", "b", broker_id, TOPICS, traffic_seed=5, heartbeat_timeout_millis=9000)
    return BrokerModel(spec, "127.0.0.1:1000", ["127.0.0.1:9876"], NOW)


def decoded(body: bytes) -> registration_codec.BrokerRegistration:
    return registration_codec.decode_registration(body, version=V5_5_0, compressed=False, now=NOW)


def test_a_registration_says_who_and_what() -> None:
    ext, body = model().encode_registration()
    assert ext == {
        "brokerName": "b", "brokerAddr": "127.0.0.1:1000", "clusterName": "c",
        "haServerAddr": "127.0.0.1:1001", "brokerId": "0", "compressed": "false",
        "bodyCrc32": str(zlib.crc32(body) & 0x7FFFFFFF),
        "heartbeatTimeoutMillis": "9000", "enableActingMaster": "false",
    }  # fmt: skip
    registration = decoded(body)
    assert registration.data_version == (0, 0, NOW)
    assert registration.topic_configs is not None
    assert (
        len(registration.topic_configs),
        registration.topic_configs["orders"].perm,
        registration.topic_configs["history"].perm,
    ) == (17, 6, 4)


def test_an_incremental_one_has_the_named_topics_only() -> None:
    _, body = model().encode_registration(["orders", "gone"])
    assert list(decoded(body).topic_configs or ()) == ["orders"]


def test_the_brokers_permission_limits_that_of_its_topics() -> None:
    mine = model()
    mine.properties.apply_update(b"brokerPermission=2", NOW)
    topics = decoded(mine.encode_registration()[1]).topic_configs
    assert topics is not None
    assert (topics["orders"].perm, topics["history"].perm, topics["TBW102"].perm) == (2, 0, 2)
    assert mine.topic_table.configs["orders"]["perm"] == 6


def test_a_slave_starts_with_the_systems_topics() -> None:
    assert len(model(broker_id=1).topic_table.configs) == 15


def test_it_has_been_up_for_a_while() -> None:
    assert NOW - 40 * 86_400_000 < model().traffic.booted_at_ms < NOW


def test_it_boots_again_with_the_messages_that_it_had() -> None:
    first = model()
    log_end = first.traffic.stored_bytes(NOW)
    again = BrokerModel(first.spec, first.broker_addr, first.namesrv_addrs, NOW + 60_000, first)
    assert again.traffic.booted_at_ms == NOW + 60_000
    assert again.traffic.stored_bytes(NOW) == log_end > 0


def test_a_broker_that_creates_no_topics_is_not_found_by_who_wants_some() -> None:
    spec = BrokerSpec("c", "b", auto_create=False)
    own = BrokerModel(spec, "127.0.0.1:1000", [], NOW)
    assert "TBW102" not in own.topic_table.configs
    assert own.properties["autoCreateTopicEnable"] == "false"
    assert "TBW102" in model().topic_table.configs
    assert model().properties["autoCreateTopicEnable"] == "true"
