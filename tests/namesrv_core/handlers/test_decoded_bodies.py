"""Bodies that the access guard and a handler read: decoded once, large ones in steps, too long ones never."""

import gc
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from namesrv_core.handlers import access_guard, registration_precompute
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import json_bodies, registration_codec, registration_steps
from namesrv_core.protocol.acl_signature import sign_command
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state.access_policy import (
    AccessGrant,
    AccessPolicy,
    AccessRole,
    PeerIdentity,
    RegistrationFence,
    SignerAccount,
)
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import STARTED_AT, broker_ext, registration_body

PEER = PeerIdentity("10.0.0.9")
FENCED = AccessPolicy([AccessGrant(AccessRole.BROKER, fence=RegistrationFence(frozenset({"c"})))])
QUEUES = b'{"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1}]}'
EXT = broker_ext("a", 0, "10.0.0.1:1", "c")


@pytest.fixture
def state() -> NameServerState:
    new_state = NameServerState(NameServerSettings(), KvConfig(), STARTED_AT)
    new_state.policy = FENCED
    return new_state


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The decoders that were called."""
    called: list[str] = []

    def count(module: Any, name: str) -> None:
        decode: Callable[..., Any] = getattr(module, name)

        def counted(*args: Any, **more: Any) -> Any:
            called.append(name)
            return decode(*args, **more)

        monkeypatch.setattr(module, name, counted)

    count(json_bodies, "parse_queue_datas")
    count(registration_codec, "decode_registration")
    count(registration_steps, "decode_registration_steps")
    return called


def answer_code(state: NameServerState, asked: RemotingCommand) -> int:
    return handle_request(state, asked, 1, STARTED_AT, PEER)[0].code


def registration(version: int = 1, mapped_broker: str = "a", topics: int = 20) -> RemotingCommand:
    mappings = {
        "static": {"topic": "static", "bname": mapped_broker, "totalQueues": 1, "currIdMap": {"0": 0}}
    }
    names = [f"topic-{number}" for number in range(topics)]
    return build_request(103, EXT, registration_body(names, DataVersion(version, 0, version), mappings))


def prepared(state: NameServerState, asked: RemotingCommand) -> RemotingCommand:
    """The request after all its steps."""
    steps = registration_precompute.precompute_steps(state, asked, STARTED_AT, PEER)
    assert steps is not None
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        result: RemotingCommand = ended.value
        return result


def test_a_body_over_its_limit_is_read_by_nobody(state: NameServerState, calls: list[str]) -> None:
    asked = build_request(217, {"topic": "T"}, QUEUES + b" " * (256 * 1024))
    assert answer_code(state, asked) == 1
    assert state.limit_hits.hit_counts["maxBodyBytes"] == 1
    assert calls == []


@pytest.mark.parametrize(("body", "code"), [(QUEUES, 0), (b"", 0), (b"[", 1), (b"[" * 200, 1)])
def test_the_queues_of_a_topic_are_decoded_once(
    state: NameServerState, calls: list[str], body: bytes, code: int
) -> None:
    assert answer_code(state, build_request(217, {"topic": "T"}, body)) == code
    assert len(calls) == (1 if body else 0)


def test_a_registration_of_a_fenced_broker_is_decoded_once_and_in_steps(
    state: NameServerState, calls: list[str]
) -> None:
    assert answer_code(state, prepared(state, registration())) == 0
    assert calls == ["decode_registration_steps"]
    assert [*state.tables.queue_mappings] == ["static"]


def test_a_body_without_claims_of_a_fenced_broker_needs_no_steps(state: NameServerState) -> None:
    asked = build_request(103, EXT, registration_body([f"topic-{number}" for number in range(20)]))
    assert registration_precompute.precompute_steps(state, asked, STARTED_AT, PEER) is None


def test_a_foreign_claim_is_found_in_a_body_that_was_decoded_in_steps(
    state: NameServerState, calls: list[str]
) -> None:
    assert answer_code(state, prepared(state, registration(mapped_broker="b"))) == 16
    assert calls == ["decode_registration_steps"]
    assert not state.tables.broker_groups


def test_a_repeated_registration_is_decoded_for_the_fence_alone(
    state: NameServerState, calls: list[str]
) -> None:
    state.policy = None
    foreign = registration(mapped_broker="b", topics=3000)
    for decoders in (["decode_registration_steps"], []):
        assert answer_code(state, prepared(state, foreign)) == 0
        assert calls == decoders
        calls.clear()
    state.policy = FENCED
    assert answer_code(state, prepared(state, foreign)) == 16
    assert calls == ["decode_registration_steps"]


def test_who_may_not_register_at_all_causes_no_steps(state: NameServerState, calls: list[str]) -> None:
    asked = registration()
    asked.ext = broker_ext("a", 0, "10.0.0.1:1", "another")
    assert registration_precompute.precompute_steps(state, asked, STARTED_AT, PEER) is None
    assert answer_code(state, asked) == 16
    assert calls == []


@pytest.mark.parametrize(("code", "body"), [(103, b"x" * 3_000_000), (206, b"x" * 3_000_000)])
@pytest.mark.parametrize(("key", "secret"), [("known", "12345678"), ("known", "87654321"), ("unknown", "1")])
def test_the_signature_of_a_large_body_is_computed_once_and_in_steps(
    monkeypatch: pytest.MonkeyPatch, code: int, body: bytes, key: str, secret: str
) -> None:
    state = NameServerState(NameServerSettings(maxBodyBytes=0), KvConfig(), STARTED_AT)
    state.policy = AccessPolicy([], {"known": SignerAccount("12345678", AccessGrant(AccessRole.ADMIN))})
    signed = sign_command(build_request(code, EXT if code == 103 else {}, body), key, secret)
    steps = registration_precompute.precompute_steps(state, signed, STARTED_AT, PEER)
    assert steps is not None
    assert [next(steps) for _ in range(10)] == [None] * 10
    asked = prepared(state, signed)
    monkeypatch.setattr(access_guard, "has_valid_signature", lambda *_: pytest.fail("computed again"))
    remark = handle_request(state, asked, 1, STARTED_AT, PEER)[0].remark or ""
    is_signed = (key, secret) == ("known", "12345678")
    assert ("check signature failed" in remark) is not is_signed


@pytest.mark.parametrize("has_steps", [False, True])
@pytest.mark.parametrize("body", [b"\x78" + bytes(5000), zlib.compress(bytes(5_000_000))])
def test_a_refused_body_is_freed_without_garbage_collection(has_steps: bool, body: bytes) -> None:
    state = NameServerState(NameServerSettings(maxRegistrationBytes=100_000), KvConfig(), STARTED_AT)
    references = sys.getrefcount(body)
    asked = build_request(103, EXT, body)
    gc.disable()
    try:
        assert answer_code(state, prepared(state, asked) if has_steps else asked) == 1
        del asked
        assert sys.getrefcount(body) == references
    finally:
        gc.enable()


CLAIM = {"AccessKey": "somebody", "Signature": "A" * 27 + "="}
LARGE = bytes(300_000)


def refuse_to_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise AssertionError

    monkeypatch.setattr(registration_precompute, "expected_signature_in_steps", fail)
    monkeypatch.setattr(access_guard, "has_valid_signature", fail)


@pytest.mark.parametrize(
    ("code", "ext", "answer"),
    [(105, {"topic": "T"}, 17), (103, EXT, 0), (216, {"topic": "T"}, 1), (318, {}, 1),
     (100, {"namespace": "n", "key": "k", "value": "v"}, 1), (9999, {}, 1)],
)  # fmt: skip
def test_a_body_is_hashed_only_if_the_key_decides(
    state: NameServerState, monkeypatch: pytest.MonkeyPatch, code: int, ext: dict[str, str], answer: int
) -> None:
    refuse_to_hash(monkeypatch)
    body = registration_body([f"{number:0200}" for number in range(2_000)]) if code == 103 else LARGE
    asked = build_request(code, ext | CLAIM, body)
    assert answer_code(state, prepared(state, asked) if code == 103 else asked) == answer
    if code != 103:
        assert registration_precompute.precompute_steps(state, asked, STARTED_AT, PEER) is None


def test_a_registration_outside_the_fence_is_hashed_in_steps(state: NameServerState) -> None:
    asked = build_request(103, broker_ext("a", 0, "10.0.0.1:1", "other") | CLAIM, LARGE)
    assert answer_code(state, prepared(state, asked)) == 16
