"""Bodies decoded for display."""

import gzip
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from nsadmin.commands.messages.body_decoders import decode_body, parse_decoders
from nsadmin.console.exit_codes import UsageError

PACKED = gzip.compress(b'{"a": [1]}', mtime=0)


@pytest.mark.parametrize(
    ("body", "names", "expected"),
    [
        (b"text", [], ("text", "utf-8", None)),
        (b"\xff", [], ("/w==", "base64", None)),
        (b'{"a": 1}', ["json"], ({"a": 1}, "json", None)),
        (b"\xff\x00", ["hex"], ("ff00", "hex", None)),
        (b64encode(b"text"), ["base64"], ("text", "utf-8", None)),
        (PACKED, ["gzip"], ('{"a": [1]}', "utf-8", None)),
        (b64encode(PACKED), ["base64", "gzip", "json"], ({"a": [1]}, "json", None)),
    ],
)
def test_decoders_apply_in_order(
    body: bytes, names: list[str], expected: tuple[Any, str, str | None]
) -> None:
    assert decode_body(body, names) == expected


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b"{", "json"),
        (b"[" * 100_000, "json"),
        (b"no base64!", "base64"),
        (b"text", "gzip"),
        (PACKED[:-4], "gzip"),
    ],
)
def test_a_body_that_a_decoder_refuses_is_shown_as_it_is(body: bytes, name: str) -> None:
    text, encoding, error = decode_body(body, [name])
    assert (encoding, (error or "").startswith(f"not {name}: ")) == (
        "base64" if body.startswith(b"\x1f") else "utf-8", True,
    )  # fmt: skip
    assert text


def test_a_body_that_inflates_to_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsadmin.commands.messages.body_decoders._MAX_INFLATED_BYTES", 100)
    _, _, error = decode_body(gzip.compress(b"x" * 101), ["gzip"])
    assert error == "not gzip: more than 100 bytes when inflated"


def test_decoders_are_lists_or_repeated(tmp_path: Path) -> None:
    schema = tmp_path / "a,json.avsc"
    schema.write_text('"int"')
    assert parse_decoders(["base64,GZIP", f"avro:{schema}"]) == ["base64", "gzip", f"avro:{schema}"]
    assert parse_decoders([f"gzip,avro:{tmp_path}/a,json.avsc"]) == ["gzip", f"avro:{tmp_path}/a,json.avsc"]
    assert parse_decoders(None) == []


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["gzip,xml"], 'invalid value "gzip,xml" for --decode: expected base64, gzip, json, hex, avro or'),
        (["json,gzip"], '--decode: no decoder can follow "json": omit "gzip"'),
        (["avro", "hex"], '--decode: no decoder can follow "avro": omit "hex"'),
        (["gzip:9"], 'invalid value "gzip:9" for --decode: use gzip'),
    ],
)
def test_decoders_that_do_not_fit(texts: list[str], error: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_decoders(texts)
    assert error in str(raised.value)


def test_avro_and_protobuf_end_a_chain_as_json(tmp_path: Path) -> None:
    (tmp_path / "int.avsc").write_text('"int"')
    body = gzip.compress(b"\x54")
    assert decode_body(body, ["gzip", f"avro:{tmp_path / 'int.avsc'}"]) == (42, "json", None)
    assert decode_body(b"plain", ["avro"]) == (
        "plain", "utf-8", "not avro: no object container: pass avro:SCHEMA.avsc",
    )  # fmt: skip
    (tmp_path / "a.proto").write_text('syntax = "proto3"; message A { int32 number = 1; }')
    decoder = f"protobuf:{tmp_path / 'a.proto'}#A"
    assert decode_body(b"\x08\x2a", [decoder]) == ({"number": 42}, "json", None)
    _, encoding, error = decode_body(b"\x08", [decoder])
    assert (encoding, (error or "").startswith("not protobuf: ")) == ("utf-8", True)
