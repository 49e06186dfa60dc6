"""What a fenced broker may claim in the body of a registration: queue mappings and filter servers."""

import zlib
from typing import Any

import pytest

from namesrv_core.handlers import fence_rules
from namesrv_core.handlers.access_guard import judge_request
from namesrv_core.protocol import fastjson, headers, registration_codec
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import BrokerRegistration
from namesrv_core.state.access_policy import AccessGrant, AccessPolicy, AccessRole, RegistrationFence
from namesrv_core.state.refusals import RefusalReason
from tests.namesrv_core.handlers.test_access_guard import HERE, Guarded, fenced
from tests.support.wire import broker_ext, registration_body


def mapping(broker: str | None, topic: str = "T") -> dict[str, object]:
    return {topic: {"topic": topic, "bname": broker, "totalQueues": 1, "currIdMap": {"0": 0}}}


FORMS = ["as it is", "escaped", "blank", "compressed"]


def in_form(body: bytes, form: str, topic: str, info: object, filters: object = ()) -> bytes:
    """The same registration in another form; compressed, with a topic of the mapping's name."""
    if form == "escaped":
        return body.replace(b"bname", b"\\u0062name").replace(b"filterServerList", b"filter\\u0053erverList")
    if form == "blank":
        return b" " + body
    if form != "compressed":
        return body
    version = fastjson.encode_json(DataVersion(2, 0, 2).to_json())
    infos = [] if info is None else [info]
    parts: list[bytes | int] = [
        version,
        1,
        f"{topic} 4 4 6 SINGLE_TAG".encode(),
        fastjson.encode_json(filters),
        len(infos),
    ]
    parts += [fastjson.encode_json(info) for info in infos]
    return zlib.compress(
        b"".join(p.to_bytes(4) if isinstance(p, int) else len(p).to_bytes(4) + p for p in parts)
    )


def mapped_brokers(server: Guarded) -> set[str | None]:
    return {name for names in server.state.tables.queue_mappings.values() for name in names}


@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize(
    ("broker", "refused"), [("a", None), ("b", RefusalReason.FENCE), (None, RefusalReason.FENCE)]
)
def test_a_fenced_broker_maps_its_own_queues_alone(
    how: str, broker: str | None, refused: RefusalReason | None
) -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    info = mapping(broker, "own")
    body = registration_body(["own", "U"], DataVersion(2, 0, 2), info)
    assert server.refused("kept", 103, ext, in_form(body, how, "own", info["own"])) == refused
    assert mapped_brokers(server) == (set() if refused else {broker})


def test_a_mapping_that_names_no_broker_is_refused_to_a_fenced_broker() -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    body = registration_body(["own", "U"], DataVersion(2, 0, 2), {"own": {"totalQueues": 1}})
    assert server.refused("kept", 103, ext, body) == RefusalReason.FENCE
    assert server.refused("broker", 103, ext, body) is None


@pytest.mark.parametrize("how", FORMS)
@pytest.mark.parametrize("cluster_alone", [True, False])
def test_a_fenced_broker_maps_no_topic_that_a_broker_outside_has(how: str, cluster_alone: bool) -> None:
    server = fenced()
    if cluster_alone:
        server.by("broker", 104, broker_ext("far", 0, "192.168.0.1:1", "c"))
    ext, info = broker_ext("a", 0, "10.0.0.1:1", "c"), mapping("a")
    body = in_form(registration_body(["T", "U"], DataVersion(2, 0, 2), info), how, "T", info["T"])
    answer = server.by("kept", 103, ext, body)
    where = "broker b of cluster d" if cluster_alone else "broker far at address 192.168.0.1:1"
    assert answer.code == 16
    assert answer.remark == (f"User:kept has no permission to act for topic T of {where} in a queue mapping")
    assert mapped_brokers(server) == set()
    assert server.refused("broker", 103, ext, body) is None


def test_a_mapping_is_refused_where_a_broker_outside_has_only_a_mapping() -> None:
    server = fenced()
    foreign = registration_body(["T", "U"], DataVersion(2, 0, 2), mapping("b", "static"))
    assert server.by("broker", 103, broker_ext("b", 0, "10.0.0.2:1", "d"), foreign).code == 0
    body = registration_body(["T", "U"], DataVersion(2, 0, 2), mapping("a", "static"))
    assert server.refused("kept", 103, broker_ext("a", 0, "10.0.0.1:1", "c"), body) == RefusalReason.FENCE


def test_another_cluster_does_not_push_a_fenced_broker_out_of_its_static_topic() -> None:
    server = fenced()
    home, away = broker_ext("a", 0, "10.0.0.1:1", "c"), broker_ext("b", 0, "10.0.0.2:1", "d")
    body = registration_body(["own", "U"], DataVersion(2, 0, 2), mapping("a", "own"))
    assert server.refused("kept", 103, home, body) is None
    assert server.by("broker", 103, away, registration_body(["own", "U"], DataVersion(2, 0, 2))).code == 0
    changed = registration_body(["own", "U"], DataVersion(3, 0, 3), mapping("a", "own"))
    assert server.refused("kept", 103, home, changed) is None


def test_each_broker_that_has_mapped_topics_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server, topics = fenced(), [f"own-{number}" for number in range(50)]
    for number in range(20):
        ext = broker_ext(f"c-{number}", 0, f"10.0.1.{number}:1", "c")
        assert server.by("broker", 103, ext, registration_body(topics)).code == 0
    checked: list[str] = []
    check = fence_rules._find_foreign_part

    def counted(fence: RegistrationFence, group: Any) -> str | None:
        checked.append(group.broker_name)
        return check(fence, group)

    monkeypatch.setattr(fence_rules, "_find_foreign_part", counted)
    mappings = {topic: mapping("a", topic)[topic] for topic in topics}
    body = registration_body(topics, DataVersion(2, 0, 2), mappings)
    assert server.refused("kept", 103, broker_ext("a", 0, "10.0.0.1:1", "c"), body) is None
    assert len(checked) == len(set(checked)) == 20


def test_a_long_name_is_cut_in_the_refusal() -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    claim = BrokerRegistration(None, {}, {}, ["x" * 1_000_000])
    fence = RegistrationFence(frozenset({"c"}))
    header = headers.read_header(headers.RegisterBroker, ext)
    remark = fence_rules.find_foreign_body_claim(fence, server.state.tables, header, claim)
    assert remark is not None
    assert len(remark) < 1_100


def test_a_list_of_static_topics_decides_alone_which_topics_may_be_mapped() -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    fence = RegistrationFence(frozenset({"c"}), static_topics=frozenset({"T"}))
    server.state.policy = AccessPolicy([AccessGrant(AccessRole.BROKER, fence=fence)])
    for topic, refused in (("T", None), ("own", RefusalReason.FENCE)):
        body = registration_body(["T", "own"], DataVersion(2, 0, 2), mapping("a", topic))
        assert server.refused(None, 103, ext, body) == refused


@pytest.mark.parametrize("how", FORMS)
def test_the_filter_servers_of_a_fenced_broker_are_on_its_host_or_in_its_networks(how: str) -> None:
    ext = broker_ext("a", 0, "10.0.0.1:1", "c")
    for filters, refused in (
        (["10.0.0.1:2"], None),
        (["10.0.0.7:2", "10.0.0.1:3"], None),
        (["192.168.0.1:2"], RefusalReason.FENCE),
        (["10.0.0.1:2", "elsewhere:2"], RefusalReason.FENCE),
        (["10.0.0.1"], RefusalReason.FENCE),
        ([None], RefusalReason.FENCE),
    ):
        server = fenced()
        body = registration_body(["own", "U"], DataVersion(2, 0, 2), filters=filters)
        body = in_form(body, how, "own", None, filters)
        assert server.refused("kept", 103, ext, body) == refused
        assert server.state.tables.filter_servers == ({} if refused else {("c", "10.0.0.1:1"): filters})
        assert server.refused("broker", 103, ext, body) is None


def test_a_fence_of_clusters_keeps_filter_servers_on_the_brokers_host() -> None:
    server = fenced()
    server.state.policy = AccessPolicy(
        [AccessGrant(AccessRole.BROKER, fence=RegistrationFence(frozenset({"c"})))]
    )
    for broker_addr, filter_server, refused in (
        ("broker-a:1", "broker-a:2", None),
        ("[2001:db8::1]:1", "[2001:db8::1]:2", None),
        ("broker-a:1", "10.0.0.1:2", RefusalReason.FENCE),
        ("broker-a", "elsewhere", RefusalReason.FENCE),
    ):
        body = registration_body(["own", "U"], DataVersion(2, 0, 2), filters=[filter_server])
        assert server.refused(None, 103, broker_ext("new", 0, broker_addr, "c"), body) == refused


@pytest.mark.parametrize(
    ("body", "decoded"),
    [
        (registration_body(["T"]), False),
        (registration_body(["T"], mappings=mapping("a")), True),
        (registration_body(["T"], filters=["10.0.0.1:2"]), True),
        (registration_body(["T"]).replace(b"{}", b'{},"topicQueueMappingInfoMap":{"T":{}}', 1), True),
        (registration_body(["T"])[:-1] + b",'filterServerList':['10.0.0.1:2']}", True),
    ],
)
def test_only_a_body_without_mappings_and_filter_servers_is_not_decoded_for_the_fence(
    body: bytes, decoded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, calls = fenced(), []
    decode = registration_codec.decode_registration

    def counted(*args: Any, **more: Any) -> Any:
        calls.append(args)
        return decode(*args, **more)

    monkeypatch.setattr(registration_codec, "decode_registration", counted)
    asked = build_request(103, broker_ext("a", 0, "10.0.0.1:1", "c"), body)
    policy = AccessPolicy([AccessGrant(AccessRole.BROKER, fence=RegistrationFence(frozenset({"c"})))])
    judge_request(policy, server.state, asked, HERE)
    assert bool(calls) == decoded
