"""Who may ask what: each request in each role, keys, fences, switches; what is told and counted."""

import zlib
from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.handlers import dispatch
from namesrv_core.handlers.guard import CHANGES, ROLES, judge, may
from namesrv_core.protocol import fastjson
from namesrv_core.protocol.bodies import DataVersion
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import Command, request
from namesrv_core.protocol.signing import sign
from namesrv_core.state.kv import KvConfig
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import Account, Fence, Grant, Peer, Policy, Role, Somebody
from namesrv_core.state.refusals import Reason
from namesrv_core.state.settings import Settings
from tests.support.wire import STARTED_AT, Wire, broker_ext, carried, registration_body

READ = {105, 106, 206, 224, 304, 311, 312, 313}
BROKER = {103, 104, 217, 322, 901, 904}
OBSERVER = {101, 219, 319, 901}
ADMIN = {100, 101, 102, 205, 216, 219, 318, 319, 327}
HERE = Somebody("10.0.0.9")
NET = (ip_network("10.0.0.0/8"),)

KEYS = {
    "reader": Account("reader's secret", Grant(Role.READ)),
    "observer": Account("observer's secret", Grant(Role.OBSERVER)),
    "broker": Account("broker's secret", Grant(Role.BROKER)),
    "admin": Account("admin's secret", Grant(Role.ADMIN)),
    "away": Account("away's secret", Grant(Role.ADMIN, (ip_network("192.168.0.0/16"),))),
    "kept": Account("kept's secret", Grant(Role.BROKER, fence=Fence(frozenset({"c"}), NET))),
}


class Guarded(Wire):
    """A name server's state with a policy, asked by `peer`."""

    def __init__(self, policy: Policy, form: HeaderType = HeaderType.JSON) -> None:
        super().__init__(form)
        self.state.policy = policy

    def by(
        self,
        key: str | None,
        code: int,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
        peer: Peer = HERE,
        secret: str | None = None,
    ) -> Command:
        """The answer to a request, signed with the key's secret, or another."""
        asked = request(code, ext, body, header_type=self.form)
        if key is not None:
            known = KEYS.get(key)
            asked = sign(asked, key, secret or (known.secret_key if known else "a guess"))
        answer, self.events = dispatch.handle(self.state, carried(asked), 1, STARTED_AT, peer)
        return answer

    def refused(self, *args: Any, **more: Any) -> Reason | None:
        """Why a request was refused; None where it was not."""
        before = dict(self.state.refusals.counts)
        answer = self.by(*args, **more)
        reasons = [reason for reason, count in self.state.refusals.counts.items() if count > before[reason]]
        assert (answer.code == 16) == bool(reasons)
        assert len(reasons) <= 1
        return reasons[0] if reasons else None


def closed(form: HeaderType = HeaderType.JSON) -> Guarded:
    return Guarded(Policy([Grant(Role.NONE)], KEYS), form)


def test_each_request_that_is_answered_has_a_role_here_and_changes_are_known() -> None:
    assert {int(code) for code in dispatch.HANDLERS} == READ | BROKER | ADMIN
    assert {code for code, role in ROLES.items() if role == Role.READ} == READ
    assert {code for code, role in ROLES.items() if role == Role.BROKER} == BROKER
    assert {100, 102, 205, 216, 217, 318, 327} == CHANGES


@pytest.mark.parametrize("code", [*sorted(READ | BROKER | ADMIN), 905, 1001, 28, 0, -1, 32767])
def test_a_request_is_let_through_from_its_role_on(form: HeaderType, code: int) -> None:
    allowed = {
        Role.NONE: False,
        Role.READ: code in READ,
        Role.OBSERVER: code in READ | OBSERVER,
        Role.BROKER: code in READ | BROKER,
        Role.ADMIN: True,
    }
    assert {role for role in Role if may(role, code)} == {role for role in Role if allowed[role]}
    server = closed(form)
    keys = {"reader": Role.READ, "observer": Role.OBSERVER, "broker": Role.BROKER, "admin": Role.ADMIN}
    for key, role in keys.items():
        assert server.refused(key, code, broker_ext()) == (None if allowed[role] else Reason.ROLE)
    for role in Role:
        server = Guarded(Policy([Grant(role)]), form)
        assert server.refused(None, code, broker_ext()) == (None if allowed[role] else Reason.UNSIGNED)


def test_an_observer_changes_nothing_and_keeps_nobody_alive() -> None:
    assert not OBSERVER & CHANGES
    server = closed()
    server.by("broker", 103, broker_ext(), registration_body(["T", "U"]))
    [live] = server.state.tables.live.values()
    before = server.state.generation, live.heard_at
    for code in dispatch.HANDLERS:
        ext = {**broker_ext(), "topic": "T", "namespace": "n", "key": "k", "value": "v"}
        asked = sign(request(code, ext, b"a=b\n" if code == 318 else b""), "observer", "observer's secret")
        _, events = dispatch.handle(server.state, carried(asked), 1, STARTED_AT + 50_000, HERE)
        assert not events
    assert (server.state.generation, live.heard_at) == before


def test_what_an_observer_needs_is_said_and_a_weaker_grant_is_no_obstacle() -> None:
    assert closed().by("broker", 319).remark == (
        "User:broker has no permission. GET_NAMESRV_CONFIG needs the role observer"
    )
    grants = [Grant(Role.NONE), Grant(Role.BROKER, NET), Grant(Role.OBSERVER, NET)]
    server = Guarded(Policy(grants))
    assert server.refused(None, 319) is None
    assert server.refused(None, 322, broker_ext()) is None
    assert server.refused(None, 318) == Reason.UNSIGNED


def test_what_is_refused_changes_nothing_and_tells_nothing(form: HeaderType) -> None:
    server = closed(form)
    server.state.policy = None
    server.register("a", "T", "U")
    assert server.by(None, 105, {"topic": "T"}).code == 0
    server.state.policy = closed().state.policy
    answer = server.by(None, 105, {"topic": "T"})
    assert (answer.code, answer.body, server.events) == (16, b"", ())
    assert server.by("reader", 105, {"topic": "T"}).code == 0
    before = server.state.settings.items()
    assert server.by("broker", 318, body=b"enableTopicList=false\n").code == 16
    assert server.state.settings.items() == before


@pytest.mark.parametrize("code", [103, 104, 322, 904])
def test_a_oneway_request_is_refused_alike(code: int) -> None:
    server = closed()
    asked = Command(code, broker_ext(), registration_body(["T", "U"]), flag=2)
    _, events = dispatch.handle(server.state, asked, 1, STARTED_AT, HERE)
    assert (events, server.state.tables.groups) == ((), {})
    assert server.state.refusals.counts[Reason.UNSIGNED] == 1


def test_who_asks_is_told_what_5_x_brokers_tell_and_never_which_keys_there_are() -> None:
    server = closed()
    told = {
        (key, secret): server.by(key, 318, peer=HERE, secret=secret).remark
        for key, secret in (
            (None, None), ("nobody", None), ("admin", "wrong"), ("reader", None), ("away", None)
        )
    }  # fmt: skip
    assert told == {
        (None, None): "username cannot be null. UPDATE_NAMESRV_CONFIG needs the role admin",
        ("nobody", None): "check signature failed.",
        ("admin", "wrong"): "check signature failed.",
        ("reader", None): "User:reader has no permission. UPDATE_NAMESRV_CONFIG needs the role admin",
        ("away", None): "User:away has no permission to ask from 10.0.0.9",
    }
    assert {reason: count for reason, count in server.state.refusals.counts.items() if count} == {
        Reason.UNSIGNED: 1,
        Reason.UNKNOWN_KEY: 1,
        Reason.BAD_SIGNATURE: 1,
        Reason.ROLE: 1,
        Reason.NETWORK: 1,
    }


def test_a_signature_is_only_good_for_what_was_signed(form: HeaderType) -> None:
    server = closed(form)
    signed = sign(request(100, {"namespace": "n", "key": "k", "value": "v"}, header_type=form), "admin", "x")
    good = sign(signed, "admin", "admin's secret")
    assert dispatch.handle(server.state, carried(good), 1, STARTED_AT, HERE)[0].code == 0
    for changed in (
        {"value": "w"},
        {"more": "x"},
        {"Signature": "x"},
        {"Signature": ""},
        {"AccessKey": "away"},
    ):
        asked = Command(100, {**(good.ext or {}), **changed}, good.body, header_type=form)
        assert dispatch.handle(server.state, carried(asked), 1, STARTED_AT, HERE)[0].code == 16
    with_body = Command(100, good.ext, b"x", header_type=form)
    assert dispatch.handle(server.state, carried(with_body), 1, STARTED_AT, HERE)[0].code == 16


def test_a_key_that_is_not_needed_is_not_looked_at() -> None:
    server = Guarded(Policy([Grant(Role.READ)], KEYS))
    assert server.refused("of another cluster", 106) is None
    assert server.refused("admin", 106, secret="wrong") is None
    assert server.refused("admin", 319, secret="wrong") == Reason.BAD_SIGNATURE


def test_a_network_and_a_certificate_count_as_a_key_does() -> None:
    policy = Policy([Grant(Role.NONE), Grant(Role.READ, NET), Grant(Role.ADMIN, subject="CN=ops")], KEYS)
    server = Guarded(policy)
    assert server.refused(None, 106, peer=HERE) is None
    assert server.refused(None, 106, peer=Somebody("192.168.0.1")) == Reason.UNSIGNED
    assert server.refused(None, 319, peer=HERE) == Reason.UNSIGNED
    assert server.refused(None, 319, peer=Somebody("192.168.0.1", "CN=ops")) is None
    assert server.refused(None, 319, peer=Somebody("192.168.0.1", "CN=oops")) == Reason.UNSIGNED
    assert server.refused("away", 319, peer=Somebody("192.168.0.1")) is None
    assert server.refused("reader", 319, peer=Somebody("192.168.0.1", "CN=ops")) is None


def test_without_a_peer_only_what_everybody_may_is_allowed() -> None:
    server = Guarded(Policy([Grant(Role.NONE), Grant(Role.ADMIN, (ip_network("0.0.0.0/0"),))]))
    answer, _ = dispatch.handle(server.state, request(106), 1, STARTED_AT)
    assert answer.code == 16


# Fences.


def fenced() -> Guarded:
    """Two clusters: c, where the key "kept" is at home, and d, where it is not."""
    server = closed()
    for cluster, name, addr in (
        ("c", "a", "10.0.0.1:1"),
        ("c", "far", "192.168.0.1:1"),
        ("d", "b", "10.0.0.2:1"),
    ):
        ext = broker_ext(name, 0, addr, cluster)
        assert server.by("broker", 103, ext, registration_body(["T", "U"])).code == 0
    return server


@pytest.mark.parametrize("code", [103, 104, 322, 904])
def test_a_fenced_broker_may_speak_for_its_cluster_and_its_network_alone(code: int) -> None:
    server = fenced()
    body = registration_body(["T", "U"]) if code == 103 else b""
    for ext, remark in (
        (broker_ext("a", 0, "10.0.0.1:1", "c"), None),
        (broker_ext("a", 0, "10.0.0.1:1", "d"), "cluster d"),
        (broker_ext("a", 0, "192.168.0.1:1", "c"), "address 192.168.0.1:1"),
        (broker_ext("b", 0, "10.0.0.2:1", "c"), "broker b of cluster d"),
        (broker_ext("b", 1, "10.0.0.3:1", "c"), "broker b of cluster d"),
        (broker_ext("a", 0, "broker-a:1", "c"), "address broker-a:1"),
        ({}, "cluster None"),
    ):
        answer = server.by("kept", code, ext, body)
        assert (answer.code, answer.remark) == (
            (0, None) if remark is None else (16, f"User:kept has no permission to act for {remark}")
        )
    assert server.refused("broker", code, broker_ext("b", 0, "10.0.0.2:1", "d"), body) is None


def test_a_fenced_broker_is_at_home_with_its_ha_address_too() -> None:
    server = fenced()
    ext, body = broker_ext("new", 0, "10.0.0.7:1", "c"), registration_body(["T", "U"])
    assert server.refused("kept", 103, ext | {"haServerAddr": "10.0.0.7:2"}, body) is None
    assert server.refused("kept", 103, ext | {"haServerAddr": "192.168.0.1:2"}, body) == Reason.FENCE
    assert server.refused("kept", 103, ext | {"haServerAddr": "[2001:db8::1]:2"}, body) == Reason.FENCE


def test_a_fenced_broker_registers_a_topic_for_brokers_within_alone() -> None:
    server = fenced()

    def queues(*brokers: str) -> bytes:
        items = ",".join(
            f'{{"brokerName":"{name}","readQueueNums":1,"writeQueueNums":1}}' for name in brokers
        )
        return b'{"queueDatas":[%s]}' % items.encode()

    for body, refused in (
        (queues("a"), None),
        (queues("unknown"), None),
        (b"", None),
        (queues("a", "b"), Reason.FENCE),
        (queues("far"), Reason.FENCE),
    ):
        assert server.refused("kept", 217, {"topic": "V"}, body) == refused
    assert server.by("kept", 217, {"topic": "V"}, b"[").code == 1
    assert server.refused("broker", 217, {"topic": "V"}, queues("a", "b")) is None


def mapping(broker: str | None, topic: str = "T") -> dict[str, object]:
    return {topic: {"topic": topic, "bname": broker, "totalQueues": 1, "currIdMap": {"0": 0}}}


@pytest.mark.parametrize("how", ["as it is", "escaped", "blank", "compressed"])
@pytest.mark.parametrize(("broker", "refused"), [("a", None), ("b", Reason.FENCE), (None, None)])
def test_a_fenced_broker_maps_its_own_queues_alone(
    how: str, broker: str | None, refused: Reason | None
) -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    body = registration_body(["T", "U"], DataVersion(2, 0, 2), mapping(broker))
    if how == "escaped":
        body = body.replace(b"bname", b"\\u0062name")
    elif how == "blank":
        body = b" " + body
    elif how == "compressed":
        info = fastjson.dumps(mapping(broker)["T"])
        parts = [fastjson.dumps(DataVersion(2, 0, 2).to_json()), None, b"[]", None, info]
        counts = iter((0, 1))
        body = zlib.compress(
            b"".join(
                next(counts).to_bytes(4) if part is None else len(part).to_bytes(4) + part for part in parts
            )
        )
    assert server.refused("kept", 103, ext, body) == refused
    mapped = {name for names in server.state.tables.mappings.values() for name in names}
    assert mapped == (set() if refused else {broker})


def test_a_registration_that_cannot_be_read_is_left_to_its_handler() -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    for body in (b"[", b"x\x9c", b'{"bname":', registration_body(["T", "U"])[:-1]):
        assert server.by("kept", 103, ext, body).code == 1


def test_a_fence_keeps_nobody_from_reading() -> None:
    server = fenced()
    for code in sorted(READ | {901}):
        assert server.refused("kept", code, {"clusterName": "d", "brokerName": "b", "topic": "T"}) is None


def test_a_fence_around_a_network_needs_no_key_and_another_grant_may_let_through() -> None:
    inside = Grant(Role.BROKER, NET, fence=Fence(frozenset({"c"})))
    server = Guarded(Policy([Grant(Role.NONE), inside], KEYS))
    body = registration_body(["T", "U"])
    assert server.refused(None, 103, broker_ext("a", cluster="c"), body) is None
    assert server.refused(None, 103, broker_ext("b", cluster="d"), body) == Reason.FENCE
    assert server.by(None, 103, broker_ext("b", cluster="d"), body).remark == (
        "10.0.0.9 has no permission to act for cluster d"
    )
    assert server.refused("broker", 103, broker_ext("b", cluster="d"), body) is None


# Switches.


def test_read_only_refuses_every_change_and_lets_brokers_live(form: HeaderType) -> None:
    server = Guarded(Policy([Grant(Role.ADMIN)], KEYS, read_only=True), form)
    for code in sorted(READ | BROKER | ADMIN):
        assert server.refused("admin", code) == (Reason.READ_ONLY if code in CHANGES else None)
    assert server.by("admin", 205, {"brokerName": "a"}).remark == "this name server is read-only"
    assert server.by(None, 9999).code == 3


def test_no_request_that_read_only_lets_through_changes_what_an_operator_can_change() -> None:
    server = fenced()
    server.state.policy = Policy(read_only=True)
    kv, items = {n: dict(t) for n, t in server.state.kv.tables.items()}, server.state.settings.items()
    ext = {"namespace": "n", "key": "k", "value": "v", "brokerName": "a", "topic": "T", "clusterName": "c"}
    for code in sorted((READ | ADMIN | {217}) - {101, 219, 319}):
        server.by(None, code, ext, b"enableTopicList=false\n")
        assert server.events == ()
    assert (server.state.kv.tables, server.state.settings.items()) == (kv, items)


def test_no_remote_config_refuses_the_one_request() -> None:
    server = Guarded(Policy(no_remote_config=True))
    refused = {code for code in READ | BROKER | ADMIN if server.refused(None, code) is not None}
    assert refused == {318}
    assert server.by(None, 318).remark == "this name server takes no settings by request"


STATE = NameServerState(Settings(), KvConfig(), STARTED_AT)
TEXTS = st.one_of(st.none(), st.text(max_size=20))
NAMES = [
    "AccessKey",
    "Signature",
    "clusterName",
    "brokerName",
    "brokerAddr",
    "haServerAddr",
    "_UNIQUE_KEY_QUERY",
]


@given(
    code=st.one_of(st.sampled_from(sorted(READ | BROKER | ADMIN)), st.integers(-(2**31), 2**31 - 1)),
    ext=st.one_of(st.none(), st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=5)), TEXTS)),
    body=st.binary(max_size=50),
    key=st.sampled_from([None, *KEYS]),
    host=st.one_of(st.sampled_from(["10.0.0.9", "::1", ""]), st.text(max_size=10)),
)
def test_whatever_is_asked_there_is_an_answer_and_nobody_without_a_key_gets_past(
    code: int, ext: dict[str, str | None] | None, body: bytes, key: str | None, host: str
) -> None:
    asked = Command(code, ext, body)
    signs = key is not None
    if key is not None:
        asked = sign(asked, key, KEYS[key].secret_key)
    policy = Policy([Grant(Role.NONE)], KEYS)
    refusal = judge(policy, STATE, asked, Somebody(host))
    assert signs or refusal is not None
    if refusal is None:
        assert key is not None
        assert may(KEYS[key].grant.role, code)
