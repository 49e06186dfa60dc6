"""A page over a plain connection, read to its end."""

import asyncio
from typing import NamedTuple


class HttpAnswer(NamedTuple):
    """An answer; header names are in lower case."""

    status: int
    headers: dict[str, str]
    text: str


async def exchange_bytes(address: str, sent: bytes) -> bytes:
    """All that comes back until the server closes."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    try:
        writer.write(sent)
        return await reader.read()
    finally:
        writer.close()


def parse_answer(raw: bytes) -> HttpAnswer:
    """One answer, whole."""
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return HttpAnswer(int(first.split()[1]), headers, body.decode())


async def fetch_page(address: str, path: str, method: str = "GET", **headers: str) -> HttpAnswer:
    """The page at a path."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {address}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return parse_answer(await exchange_bytes(address, "\r\n".join([*lines, "", ""]).encode()))
