"""Bodies decoded for display."""

import gzip
from base64 import b64encode
from typing import Any

import pytest

from nsadmin.commands.messages.body_decoders import decode_body

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
