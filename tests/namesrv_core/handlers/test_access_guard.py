"""Who may ask what: each request in each role, keys, fences, switches; what is told and counted."""

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.handlers import dispatch
from namesrv_core.handlers.access_guard import is_role_sufficient, judge_request
from namesrv_core.protocol.acl_signature import sign_command
from namesrv_core.protocol.codes import BROKERS, READERS, WATCHERS, HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.state.access_policy import (
    AccessGrant,
    AccessPolicy,
    AccessRole,
    PeerIdentity,
    RegistrationFence,
    RequestPeer,
    SignerAccount,
)
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.refusals import RefusalReason
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import STARTED_AT, Wire, broker_ext, carry_command, registration_body

READ = {105, 106, 206, 224, 304, 311, 312, 313}
BROKER = {103, 104, 217, 322, 901, 904}
OBSERVER = {101, 219, 319, 901}
ADMIN = {100, 101, 102, 205, 216, 219, 318, 319, 327}
OPERATOR_CHANGES = {100, 102, 205, 216, 217, 318, 327}
HERE = PeerIdentity("10.0.0.9")
NET = (ip_network("10.0.0.0/8"),)

KEYS = {
    "reader": SignerAccount("reader's secret", AccessGrant(AccessRole.READ)),
    "observer": SignerAccount("observer's secret", AccessGrant(AccessRole.OBSERVER)),
    "broker": SignerAccount("broker's secret", AccessGrant(AccessRole.BROKER)),
    "admin": SignerAccount("admin's secret", AccessGrant(AccessRole.ADMIN)),
    "away": SignerAccount("away's secret", AccessGrant(AccessRole.ADMIN, (ip_network("192.168.0.0/16"),))),
    "kept": SignerAccount(
        "kept's secret", AccessGrant(AccessRole.BROKER, fence=RegistrationFence(frozenset({"c"}), NET))
    ),
}


class Guarded(Wire):
    """A name server's state with a policy, asked by `peer`."""

    def __init__(self, policy: AccessPolicy, form: HeaderType = HeaderType.JSON) -> None:
        super().__init__(form)
        self.state.policy = policy

    def by(
        self,
        key: str | None,
        code: int,
        ext: Mapping[str, str] | None = None,
        body: bytes = b"",
        peer: RequestPeer = HERE,
        secret: str | None = None,
    ) -> RemotingCommand:
        """The answer to a request, signed with the key's secret, or another."""
        asked = build_request(code, ext, body, header_type=self.form)
        if key is not None:
            known = KEYS.get(key)
            asked = sign_command(asked, key, secret or (known.secret_key if known else "a guess"))
        answer, self.events = dispatch.handle_request(self.state, carry_command(asked), 1, STARTED_AT, peer)
        return answer

    def refused(self, *args: Any, **more: Any) -> RefusalReason | None:
        """Why a request was refused; None where it was not."""
        before = dict(self.state.refusals.counts_by_reason)
        answer = self.by(*args, **more)
        reasons = [r for r, c in self.state.refusals.counts_by_reason.items() if c > before[r]]
        assert (answer.code == 16) == bool(reasons)
        assert len(reasons) <= 1
        return reasons[0] if reasons else None


def closed(form: HeaderType = HeaderType.JSON) -> Guarded:
    return Guarded(AccessPolicy([AccessGrant(AccessRole.NONE)], KEYS), form)


def test_each_request_that_is_answered_has_a_role_here_and_changes_are_known() -> None:
    assert {int(code) for code in dispatch.HANDLERS_BY_CODE} == READ | BROKER | ADMIN
    assert {code for code in RequestCode if code.senders} == READ | BROKER | ADMIN
    assert {code for code in RequestCode if code.senders == READERS} == READ
    assert {code for code in RequestCode if code.senders in (BROKERS, WATCHERS)} == BROKER
    assert {code for code in RequestCode if code.changes and code.senders} == OPERATOR_CHANGES


@pytest.mark.parametrize("code", [*sorted(READ | BROKER | ADMIN), 905, 1001, 28, 0, -1, 32767])
def test_a_request_is_let_through_from_its_role_on(form: HeaderType, code: int) -> None:
    allowed = {
        AccessRole.NONE: False,
        AccessRole.READ: code in READ,
        AccessRole.OBSERVER: code in READ | OBSERVER,
        AccessRole.BROKER: code in READ | BROKER,
        AccessRole.ADMIN: True,
    }
    assert {role for role in AccessRole if is_role_sufficient(role, code)} == {
        role for role in AccessRole if allowed[role]
    }
    server = closed(form)
    keys = {
        "reader": AccessRole.READ,
        "observer": AccessRole.OBSERVER,
        "broker": AccessRole.BROKER,
        "admin": AccessRole.ADMIN,
    }
    for key, role in keys.items():
        assert server.refused(key, code, broker_ext()) == (None if allowed[role] else RefusalReason.ROLE)
    for role in AccessRole:
        server = Guarded(AccessPolicy([AccessGrant(role)]), form)
        assert server.refused(None, code, broker_ext()) == (None if allowed[role] else RefusalReason.UNSIGNED)


def test_an_observer_changes_nothing_and_keeps_nobody_alive() -> None:
    assert not OBSERVER & OPERATOR_CHANGES
    server = closed()
    server.by("broker", 103, broker_ext(), registration_body(["T", "U"]))
    [live] = server.state.tables.live_brokers.values()
    before = server.state.route_generation, live.heard_at_ms
    for code in dispatch.HANDLERS_BY_CODE:
        ext = {**broker_ext(), "topic": "T", "namespace": "n", "key": "k", "value": "v"}
        asked = sign_command(
            build_request(code, ext, b"a=b\n" if code == 318 else b""), "observer", "observer's secret"
        )
        _, events = dispatch.handle_request(server.state, carry_command(asked), 1, STARTED_AT + 50_000, HERE)
        assert not events
    assert (server.state.route_generation, live.heard_at_ms) == before


def test_what_an_observer_needs_is_said_and_a_weaker_grant_is_no_obstacle() -> None:
    assert closed().by("broker", 319).remark == (
        "User:broker has no permission. GET_NAMESRV_CONFIG needs the role observer"
    )
    grants = [
        AccessGrant(AccessRole.NONE),
        AccessGrant(AccessRole.BROKER, NET),
        AccessGrant(AccessRole.OBSERVER, NET),
    ]
    server = Guarded(AccessPolicy(grants))
    assert server.refused(None, 319) is None
    assert server.refused(None, 322, broker_ext()) is None
    assert server.refused(None, 318) == RefusalReason.UNSIGNED


def test_what_is_refused_changes_nothing_and_tells_nothing(form: HeaderType) -> None:
    server = closed(form)
    server.state.policy = None
    server.register_broker("a", "T", "U")
    assert server.by(None, 105, {"topic": "T"}).code == 0
    server.state.policy = closed().state.policy
    answer = server.by(None, 105, {"topic": "T"})
    assert (answer.code, answer.body, server.events) == (16, b"", ())
    assert server.by("reader", 105, {"topic": "T"}).code == 0
    before = server.state.settings.shown_items()
    assert server.by("broker", 318, body=b"enableTopicList=false\n").code == 16
    assert server.state.settings.shown_items() == before


@pytest.mark.parametrize("code", [103, 104, 322, 904])
def test_a_oneway_request_is_refused_alike(code: int) -> None:
    server = closed()
    asked = RemotingCommand(code, broker_ext(), registration_body(["T", "U"]), flag=2)
    _, events = dispatch.handle_request(server.state, asked, 1, STARTED_AT, HERE)
    assert (events, server.state.tables.broker_groups) == ((), {})
    assert server.state.refusals.counts_by_reason[RefusalReason.UNSIGNED] == 1


def test_who_asks_is_told_what_5_x_brokers_tell_and_never_which_keys_there_are() -> None:
    server = closed()
    remarks = {
        (key, secret): server.by(key, 318, peer=HERE, secret=secret).remark
        for key, secret in (
            (None, None), ("nobody", None), ("admin", "wrong"), ("reader", None), ("away", None)
        )
    }  # fmt: skip
    assert remarks == {
        (None, None): "username cannot be null. UPDATE_NAMESRV_CONFIG needs the role admin",
        ("nobody", None): "check signature failed.",
        ("admin", "wrong"): "check signature failed.",
        ("reader", None): "User:reader has no permission. UPDATE_NAMESRV_CONFIG needs the role admin",
        ("away", None): "User:away has no permission to send requests from 10.0.0.9",
    }
    assert {reason: count for reason, count in server.state.refusals.counts_by_reason.items() if count} == {
        RefusalReason.UNSIGNED: 1,
        RefusalReason.UNKNOWN_KEY: 1,
        RefusalReason.BAD_SIGNATURE: 1,
        RefusalReason.ROLE: 1,
        RefusalReason.NETWORK: 1,
    }


def test_a_signature_is_only_good_for_what_was_signed(form: HeaderType) -> None:
    server = closed(form)
    signed = sign_command(
        build_request(100, {"namespace": "n", "key": "k", "value": "v"}, header_type=form), "admin", "x"
    )
    good = sign_command(signed, "admin", "admin's secret")
    assert dispatch.handle_request(server.state, carry_command(good), 1, STARTED_AT, HERE)[0].code == 0
    for changed in (
        {"value": "w"},
        {"more": "x"},
        {"Signature": "x"},
        {"Signature": ""},
        {"AccessKey": "away"},
    ):
        asked = RemotingCommand(100, {**(good.ext or {}), **changed}, good.body, header_type=form)
        assert dispatch.handle_request(server.state, carry_command(asked), 1, STARTED_AT, HERE)[0].code == 16
    with_body = RemotingCommand(100, good.ext, b"x", header_type=form)
    assert dispatch.handle_request(server.state, carry_command(with_body), 1, STARTED_AT, HERE)[0].code == 16


def test_a_key_that_is_not_needed_is_not_looked_at() -> None:
    server = Guarded(AccessPolicy([AccessGrant(AccessRole.READ)], KEYS))
    assert server.refused("of another cluster", 106) is None
    assert server.refused("admin", 106, secret="wrong") is None
    assert server.refused("admin", 319, secret="wrong") == RefusalReason.BAD_SIGNATURE


def test_a_network_and_a_certificate_count_as_a_key_does() -> None:
    policy = AccessPolicy(
        [
            AccessGrant(AccessRole.NONE),
            AccessGrant(AccessRole.READ, NET),
            AccessGrant(AccessRole.ADMIN, subject="CN=ops"),
        ],
        KEYS,
    )
    server = Guarded(policy)
    assert server.refused(None, 106, peer=HERE) is None
    assert server.refused(None, 106, peer=PeerIdentity("192.168.0.1")) == RefusalReason.UNSIGNED
    assert server.refused(None, 319, peer=HERE) == RefusalReason.UNSIGNED
    assert server.refused(None, 319, peer=PeerIdentity("192.168.0.1", "CN=ops")) is None
    assert server.refused(None, 319, peer=PeerIdentity("192.168.0.1", "CN=oops")) == RefusalReason.UNSIGNED
    assert server.refused("away", 319, peer=PeerIdentity("192.168.0.1")) is None
    assert server.refused("reader", 319, peer=PeerIdentity("192.168.0.1", "CN=ops")) is None


def test_without_a_peer_only_what_everybody_may_is_allowed() -> None:
    server = Guarded(
        AccessPolicy(
            [AccessGrant(AccessRole.NONE), AccessGrant(AccessRole.ADMIN, (ip_network("0.0.0.0/0"),))]
        )
    )
    answer, _ = dispatch.handle_request(server.state, build_request(106), 1, STARTED_AT)
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
    assert server.refused("kept", 103, ext | {"haServerAddr": "192.168.0.1:2"}, body) == RefusalReason.FENCE
    assert server.refused("kept", 103, ext | {"haServerAddr": "[2001:db8::1]:2"}, body) == RefusalReason.FENCE


def test_a_fenced_broker_registers_a_topic_for_brokers_within_alone() -> None:
    server = fenced()

    def queues(*brokers: str) -> bytes:
        items = ",".join(f'{{"brokerName":"{n}","readQueueNums":1,"writeQueueNums":1}}' for n in brokers)
        return b'{"queueDatas":[%s]}' % items.encode()

    for body, refused in (
        (queues("a"), None),
        (queues("unknown"), None),
        (b"", None),
        (queues("a", "b"), RefusalReason.FENCE),
        (queues("far"), RefusalReason.FENCE),
    ):
        assert server.refused("kept", 217, {"topic": "V"}, body) == refused
    assert server.by("kept", 217, {"topic": "V"}, b"[").code == 1
    assert server.refused("broker", 217, {"topic": "V"}, queues("a", "b")) is None


def test_a_registration_that_cannot_be_read_is_left_to_its_handler() -> None:
    server, ext = fenced(), broker_ext("a", 0, "10.0.0.1:1", "c")
    for body in (b"[", b"x\x9c", b'{"bname":', registration_body(["T", "U"])[:-1]):
        assert server.by("kept", 103, ext, body).code == 1


def test_a_fence_keeps_nobody_from_reading() -> None:
    server = fenced()
    for code in sorted(READ | {901}):
        assert server.refused("kept", code, {"clusterName": "d", "brokerName": "b", "topic": "T"}) is None


def test_a_fence_around_a_network_needs_no_key_and_another_grant_may_let_through() -> None:
    inside = AccessGrant(AccessRole.BROKER, NET, fence=RegistrationFence(frozenset({"c"})))
    server = Guarded(AccessPolicy([AccessGrant(AccessRole.NONE), inside], KEYS))
    body = registration_body(["T", "U"])
    assert server.refused(None, 103, broker_ext("a", cluster="c"), body) is None
    assert server.refused(None, 103, broker_ext("b", cluster="d"), body) == RefusalReason.FENCE
    assert server.by(None, 103, broker_ext("b", cluster="d"), body).remark == (
        "10.0.0.9 has no permission to act for cluster d"
    )
    assert server.refused("broker", 103, broker_ext("b", cluster="d"), body) is None


# Switches.


def test_read_only_refuses_every_change_and_lets_brokers_live(form: HeaderType) -> None:
    server = Guarded(AccessPolicy([AccessGrant(AccessRole.ADMIN)], KEYS, read_only=True), form)
    for code in sorted(READ | BROKER | ADMIN):
        assert server.refused("admin", code) == (
            RefusalReason.READ_ONLY if code in OPERATOR_CHANGES else None
        )
    assert server.by("admin", 205, {"brokerName": "a"}).remark == "this name server is read-only"
    assert server.by(None, 9999).code == 3


def test_no_request_that_read_only_lets_through_changes_what_an_operator_can_change() -> None:
    server = fenced()
    server.state.policy = AccessPolicy(read_only=True)
    kv, items = (
        {n: dict(t) for n, t in server.state.kv_config.tables_by_namespace.items()},
        server.state.settings.shown_items(),
    )
    ext = {"namespace": "n", "key": "k", "value": "v", "brokerName": "a", "topic": "T", "clusterName": "c"}
    for code in sorted((READ | ADMIN | {217}) - {101, 219, 319}):
        server.by(None, code, ext, b"enableTopicList=false\n")
        assert server.events == ()
    assert (server.state.kv_config.tables_by_namespace, server.state.settings.shown_items()) == (kv, items)


def test_no_remote_config_refuses_the_one_request() -> None:
    server = Guarded(AccessPolicy(no_remote_config=True))
    refused = {code for code in READ | BROKER | ADMIN if server.refused(None, code) is not None}
    assert refused == {318}
    assert server.by(None, 318).remark == "this name server does not accept settings by request"


STATE = NameServerState(NameServerSettings(), KvConfig(), STARTED_AT)
TEXTS = st.one_of(st.none(), st.text(max_size=20))
NAMES = [
    "AccessKey", "Signature", "clusterName", "brokerName", "brokerAddr", "haServerAddr",
    "_UNIQUE_KEY_QUERY",
]  # fmt: skip


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
    asked = RemotingCommand(code, ext, body)
    signs = key is not None
    if key is not None:
        asked = sign_command(asked, key, KEYS[key].secret_key)
    policy = AccessPolicy([AccessGrant(AccessRole.NONE)], KEYS)
    refusal = judge_request(policy, STATE, asked, PeerIdentity(host))
    assert signs or refusal is not None
    if refusal is None:
        assert key is not None
        assert is_role_sufficient(KEYS[key].grant.role, code)
