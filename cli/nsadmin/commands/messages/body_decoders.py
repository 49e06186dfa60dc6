"""Decodes message bodies for display: chains of base64, gzip, hex, JSON, Avro and Protobuf."""

import binascii
import gzip
import json
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from functools import lru_cache
from io import BytesIO
from typing import Annotated, Any

from typer import Option

from nsadmin.command_line.argument_values import parse_choice
from nsadmin.console.exit_codes import UsageError

BODY_DECODERS = ("base64", "gzip", "json", "hex", "avro", "protobuf")
"""avro and protobuf can have an argument, such as avro:order.avsc."""
_LAST_DECODERS = ("json", "hex", "avro", "protobuf")
_MAX_INFLATED_BYTES = 16 << 20
"""Brokers accept messages of 4 MiB by default."""
# A comma can also be a part of a file name.
_LIST_SEPARATOR = re.compile(rf",(?=(?:{'|'.join(BODY_DECODERS)})(?:[:,]|$))", re.IGNORECASE)

DecodeOption = Annotated[
    list[str] | None,
    Option(
        "--decode",
        metavar="KIND",
        help="Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.",
    ),
]


def parse_decoders(decoder_texts: Sequence[str] | None) -> list[str]:
    """Parse the values of --decode, and load the schemas that they name.

    Returns the decoders in the order of their use. Raises UsageError.
    """
    decoders: list[str] = []
    for decoder_text in decoder_texts or ():
        for item in _LIST_SEPARATOR.split(decoder_text):
            name, colon, argument = item.partition(":")
            decoder_name = parse_choice("--decode", name, BODY_DECODERS) or ""
            if decoders and decoders[-1].partition(":")[0] in _LAST_DECODERS:
                raise UsageError(f'--decode: no decoder can follow "{decoders[-1]}": omit "{item}"')
            if colon and decoder_name not in ("avro", "protobuf"):
                raise UsageError(f'invalid value "{item}" for --decode: use {decoder_name}')
            decoders.append(decoder_name + colon + argument)
            _load_decoder(decoders[-1])
    return decoders


def decode_body(body: bytes, decoders: Sequence[str]) -> tuple[Any, str, str | None]:
    """Return the body as text or as a JSON value, its encoding, and the reason if a decoder failed."""
    for decoder in decoders:
        decoder_name = decoder.partition(":")[0]
        try:
            value = _load_decoder(decoder)(body)
        except (ValueError, OSError, EOFError, RecursionError, zlib.error) as error:
            return (*_decode_text(body), f"not {decoder_name}: {error}")
        if decoder_name in _LAST_DECODERS:
            return value, "hex" if decoder_name == "hex" else "json", None
        body = value
    return (*_decode_text(body), None)


@lru_cache(maxsize=16)
def _load_decoder(decoder: str) -> Callable[[bytes], Any]:
    decoder_name, _, argument = decoder.partition(":")
    # Imported late: few command lines need them.
    if decoder_name == "avro":
        from nsadmin.commands.messages.avro_decoder import load_avro_decoder

        return load_avro_decoder(argument)
    if decoder_name == "protobuf":
        from nsadmin.commands.messages.protobuf_decoder import load_protobuf_decoder

        return load_protobuf_decoder(argument)
    return _PLAIN_DECODERS[decoder_name]


def _decode_base64(body: bytes) -> bytes:
    try:
        return b64decode(body, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None


def _inflate_gzip(body: bytes) -> bytes:
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


_PLAIN_DECODERS: dict[str, Callable[[bytes], Any]] = {
    "base64": _decode_base64,
    "gzip": _inflate_gzip,
    "json": json.loads,
    "hex": bytes.hex,
}
