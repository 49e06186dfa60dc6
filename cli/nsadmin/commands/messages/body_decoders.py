"""Decodes message bodies for display: chains of base64, gzip, hex and JSON. Pure."""

import binascii
import gzip
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Sequence
from io import BytesIO
from typing import Any

BODY_DECODERS = ("base64", "gzip", "json", "hex")
_MAX_INFLATED_BYTES = 64 << 20


def decode_body(body: bytes, decoder_names: Sequence[str]) -> tuple[Any, str, str | None]:
    """Return the body as text or as a JSON value, its encoding, and the reason if a decoder failed."""
    for decoder_name in decoder_names:
        try:
            if decoder_name == "json":
                return json.loads(body), "json", None
            if decoder_name == "hex":
                return body.hex(), "hex", None
            body = _decode_bytes(body, decoder_name)
        except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
            return (*_decode_text(body), f"not {decoder_name}: {error}")
    return (*_decode_text(body), None)


def _decode_bytes(body: bytes, decoder_name: str) -> bytes:
    if decoder_name == "base64":
        try:
            return b64decode(body, validate=True)
        except binascii.Error as error:
            raise ValueError(str(error)) from None
    with gzip.GzipFile(fileobj=BytesIO(body)) as gzip_file:
        inflated_body = gzip_file.read(_MAX_INFLATED_BYTES + 1)
    if len(inflated_body) > _MAX_INFLATED_BYTES:
        raise ValueError(f"more than {_MAX_INFLATED_BYTES} bytes when inflated")
    return inflated_body


def _decode_text(body: bytes) -> tuple[str, str]:
    try:
        return body.decode(), "utf-8"
    except UnicodeDecodeError:
        return b64encode(body).decode("ascii"), "base64"
