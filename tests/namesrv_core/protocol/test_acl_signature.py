"""Signatures: the content in Java's order, known values, and the traps of two generations of brokers."""

import base64
import hashlib
import hmac

from namesrv_core.protocol.acl_signature import (
    compute_signature,
    has_valid_signature,
    sign_command,
    signed_content,
)
from namesrv_core.protocol.codes import V4_9_3, V5_5_0, HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_request
from tests.support.wire import carry_command

SECRET = "12345678"


def as_a_broker_checks(seen: RemotingCommand, secret: str = SECRET) -> str:
    """The signature that `DefaultAuthenticationContextBuilder` of 5.5.0 computes from what arrived."""
    ext = dict(seen.ext or {})
    if seen.version <= 399:
        ext.pop("_UNIQUE_KEY_QUERY", None)
    ext.pop("Signature")
    values = "".join("null" if ext[key] is None else ext[key] or "" for key in sorted(ext))
    digest = hmac.new(secret.encode(), values.encode() + seen.body, hashlib.sha1).digest()
    return base64.b64encode(digest).decode()


def signed(
    form: HeaderType, ext: dict[str, str | None], body: bytes = b"", token: str | None = None
) -> RemotingCommand:
    return carry_command(
        sign_command(build_request(17, ext, body, header_type=form), "rocketmq2", SECRET, token)
    )


def test_the_value_that_java_computes() -> None:
    assert compute_signature(SECRET, b"rocketmq2broker-abody") == "RB6EthmZSkYvxqp8SgRRCdygpB8="
    ext = {"brokerName": "broker-a", "AccessKey": "rocketmq2", "Signature": "of before"}
    assert signed_content(ext, b"body") == b"rocketmq2broker-abody"


def test_values_stand_in_the_order_of_java_strings() -> None:
    beyond, high = "\U0001f600", "\uffff"
    assert sorted([beyond, high]) == [high, beyond]
    assert signed_content({high: "2", beyond: "1", "b": "b", "B": "B", "ba": "ba"}, b"") == b"Bbba12"


def test_a_broker_computes_the_same_from_what_arrives(form: HeaderType) -> None:
    received = signed(form, {"topic": "Türkei😀", "perm": "6", "nothing": None}, b"\x00\xff")
    assert received.ext is not None
    assert received.ext["AccessKey"] == "rocketmq2"
    assert "SecurityToken" not in received.ext
    assert "nothing" not in received.ext
    assert received.ext["Signature"] == as_a_broker_checks(received)


def test_the_security_token_is_sent_and_signed(form: HeaderType) -> None:
    received = signed(form, {"topic": "T"}, token="sts-1")
    without = signed(form, {"topic": "T"})
    assert received.ext is not None
    assert without.ext is not None
    assert received.ext["SecurityToken"] == "sts-1"
    assert received.ext["Signature"] == as_a_broker_checks(received) != without.ext["Signature"]


def test_an_empty_value_counts_only_where_it_arrives_as_such(form: HeaderType) -> None:
    received = signed(form, {"topic": "T", "attributes": ""})
    assert received.ext is not None
    assert ("attributes" in received.ext) == (form == HeaderType.JSON)
    assert received.ext["Signature"] == as_a_broker_checks(received)


def test_the_flag_of_unique_keys_is_sent_and_signed_by_nobody(form: HeaderType) -> None:
    received = signed(form, {"topic": "T", "_UNIQUE_KEY_QUERY": "true"})
    plain = signed(form, {"topic": "T"})
    assert received.ext is not None
    assert plain.ext is not None
    assert received.ext["_UNIQUE_KEY_QUERY"] == "true"
    assert (received.version, plain.version) == (V4_9_3, V5_5_0)
    assert received.ext["Signature"] == as_a_broker_checks(received) == plain.ext["Signature"]


def test_nothing_else_of_a_request_changes_and_the_request_itself_does_not(form: HeaderType) -> None:
    asked = build_request(17, {"topic": "T"}, b"body", header_type=form, is_oneway=True)
    signed_command = sign_command(asked, "rocketmq2", SECRET)
    assert asked.ext == {"topic": "T"}
    for name in ("body", "code", "flag", "header_type", "language", "opaque", "remark", "version"):
        assert getattr(signed_command, name) == getattr(asked, name)


def test_signing_again_replaces_the_signature(form: HeaderType) -> None:
    once = sign_command(build_request(17, {"topic": "T"}, header_type=form), "rocketmq2", SECRET, "token")
    assert sign_command(once, "rocketmq2", SECRET, "token") == once
    assert (
        sign_command(once, "other", SECRET).ext
        == sign_command(build_request(17, {"topic": "T"}, header_type=form), "other", SECRET).ext
    )


def test_a_secret_that_is_no_text_is_not_told() -> None:
    assert compute_signature("se\udcffcret", b"x") == compute_signature("se?cret", b"x")


def test_a_representation_does_not_show_the_proof() -> None:
    representation = repr(sign_command(build_request(17, {"topic": "T"}), "rocketmq2", SECRET, "token-1"))
    assert "rocketmq2" in representation
    assert "'T'" in representation
    assert "token-1" not in representation
    assert compute_signature(SECRET, b"rocketmq2token-1T") not in representation


def test_what_is_signed_is_recognised_and_nothing_else(form: HeaderType) -> None:
    received = signed(form, {"topic": "Türkei😀", "perm": "6"}, b"\x00\xff")
    assert has_valid_signature(received, SECRET)
    assert not has_valid_signature(received, SECRET + "9")
    for name, value in (("ext", {**(received.ext or {}), "perm": "7"}), ("body", b"\x00"), ("ext", None)):
        other = signed(form, {"topic": "Türkei😀", "perm": "6"}, b"\x00\xff")
        setattr(other, name, value)
        assert not has_valid_signature(other, SECRET)


def test_a_signature_that_is_none_is_no_error(form: HeaderType) -> None:
    for given in (None, "", "é😀", "x" * 10_000):
        asked = build_request(17, {"AccessKey": "rocketmq2", "Signature": given}, header_type=form)
        assert not has_valid_signature(carry_command(asked), SECRET)


def test_an_empty_value_that_the_binary_header_loses_was_signed_as_empty() -> None:
    ext = {"topic": "T", "zone": "", "AccessKey": "rocketmq2"}
    ext["Signature"] = compute_signature(SECRET, signed_content(ext, b""))
    for form in HeaderType:
        assert has_valid_signature(carry_command(RemotingCommand(17, ext, header_type=form)), SECRET)


def test_the_field_that_old_releases_do_not_sign_is_left_out_for_them() -> None:
    ext = {"topic": "T", "AccessKey": "rocketmq2"}
    ext["Signature"] = compute_signature(SECRET, signed_content(ext, b""))
    ext["_UNIQUE_KEY_QUERY"] = "true"
    assert has_valid_signature(RemotingCommand(12, ext, version=V4_9_3), SECRET)
    assert not has_valid_signature(RemotingCommand(12, ext, version=V5_5_0), SECRET)
