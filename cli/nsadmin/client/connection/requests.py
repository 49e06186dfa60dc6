"""Requests whose header fields are a record of `headers` or `broker_headers`, or texts by name."""

from typing import NamedTuple, cast

from namesrv_core.protocol import headers
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_request

Header = ExtFields | tuple[object, ...]
"""Texts by name, or a record."""


def make_request(code: int, header: Header | None = None, body: bytes = b"") -> RemotingCommand:
    """Build a request; fields of a record that are None are not sent."""
    fields = headers.write_header(cast(NamedTuple, header)) if isinstance(header, tuple) else header
    return build_request(code, fields, body)
