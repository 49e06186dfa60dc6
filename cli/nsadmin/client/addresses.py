"""NameServerList, the configured name servers with their source, and the parsers of address lists."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_addr

NAME_SERVER_PORT = 9876
BROKER_PORT = 10911
ENVIRONMENT_VARIABLE = "NAMESRV_ADDR"
LOCAL = "127.0.0.1:9876"

_SEPARATORS = re.compile(r"[;,\s]+")


class BadAddress(RocketMQError):
    """An invalid address; the text says why."""


class NameServers(NamedTuple):
    """The configured name servers.

    Attributes:
        addrs: The addresses "host:port", in request order.
        source: "given", "environment", "context", "file", "endpoint" or "default".
        origin: The context's name, the file's path or the endpoint's URL; "" otherwise.
        note: A line to show to the operator; None without one.
    """

    addrs: tuple[str, ...]
    source: str
    origin: str = ""
    note: str | None = None


Find = Callable[[], NameServers]


def parse_addr(text: str, default_port: int = NAME_SERVER_PORT) -> str:
    """Normalize an address to "host:port" or "[v6]:port".

    Args:
        addr_text: "host", "host:port", "v6", "[v6]" or "[v6]:port".
        default_port: The port of an address without one.

    Raises:
        BadAddress: The text is not an address.
    """
    addr = text.strip()
    if addr.count(":") > 1 and not addr.startswith("["):
        addr = f"[{addr}]"
    if ":" not in addr or addr.endswith("]"):
        addr = f"{addr}:{default_port}"
    try:
        host, port = split_addr(addr)
    except ValueError:
        raise BadAddress(f"{text!r} is no address: write HOST:PORT or [IPv6]:PORT") from None
    if not host or any(character in host for character in "/[]@"):
        raise BadAddress(f"{text!r} is no address: write HOST:PORT or [IPv6]:PORT")
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_addrs(lists: str | Iterable[str]) -> tuple[str, ...]:
    """Parse one or several lists of name servers, separated by `;`, `,` or blanks, without duplicates.

    Raises:
        BadAddress: An item is not an address.
    """
    texts = [lists] if isinstance(lists, str) else lists
    items = (item for text in texts for item in _SEPARATORS.split(text) if item)
    return tuple(dict.fromkeys(parse_addr(item) for item in items))


def listed(lists: str | Iterable[str]) -> tuple[str, ...]:
    """Parse lists of name servers that must not be empty. An empty variable is a mistake, not a default.

    Raises:
        BadAddress: The lists are empty, or an item is not an address.
    """
    addrs = parse_addrs(lists)
    if not addrs:
        raise BadAddress("the list of name servers is empty: write HOST:PORT;HOST:PORT")
    return addrs


def name_servers(
    given: str | Iterable[str] | None = None, environ: Mapping[str, str] = os.environ
) -> NameServers:
    """Choose the name servers: the given ones, else NAMESRV_ADDR, else 127.0.0.1:9876.

    Args:
        given_addrs: One or several address lists; None or () if none were given.
        environ: The environment variables.

    Raises:
        BadAddress: A list is empty or contains an invalid address.
    """
    if given is not None and given != ():
        return NameServers(listed(given), "given")
    text = environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if text:
        return NameServers(listed(text), "environment")
    return NameServers((LOCAL,), "default")


def finder(given: str | Iterable[str] | NameServers | Find | None) -> Find:
    """Return a function that returns the name servers; check a given list immediately.

    Raises:
        BadAddress: A list is empty or contains an invalid address.
    """
    if callable(given):
        return given
    found = given if isinstance(given, NameServers) else name_servers(given)
    return lambda: found
