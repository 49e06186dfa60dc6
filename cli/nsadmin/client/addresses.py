"""Address lists of name servers as operators write them, and where the list in force came from."""

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
    """An address that cannot be one; the text says why."""


class NameServers(NamedTuple):
    """The name servers to ask, in order.

    `source` is "given", "environment", "context", "file", "endpoint" or "default"; `origin` is which of
    these: a context's name, a path, a URL. `note` is a line for the operator, if there is something to say.
    """

    addrs: tuple[str, ...]
    source: str
    origin: str = ""
    note: str | None = None


Find = Callable[[], NameServers]


def parse_addr(text: str, default_port: int = NAME_SERVER_PORT) -> str:
    """ "host", "host:port", "v6", "[v6]" or "[v6]:port" as "host:port" or "[v6]:port"."""
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
    """The addresses of one list or several, separated by `;`, `,` or blanks; each of them once."""
    texts = [lists] if isinstance(lists, str) else lists
    items = (item for text in texts for item in _SEPARATORS.split(text) if item)
    return tuple(dict.fromkeys(parse_addr(item) for item in items))


def listed(lists: str | Iterable[str]) -> tuple[str, ...]:
    """The same, at least one: whoever passes an empty variable means neither nobody nor this machine."""
    addrs = parse_addrs(lists)
    if not addrs:
        raise BadAddress("the list of name servers is empty: write HOST:PORT;HOST:PORT")
    return addrs


def name_servers(
    given: str | Iterable[str] | None = None, environ: Mapping[str, str] = os.environ
) -> NameServers:
    """What was given, else the environment's NAMESRV_ADDR, else this machine's port 9876."""
    if given is not None and given != ():
        return NameServers(listed(given), "given")
    text = environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if text:
        return NameServers(listed(text), "environment")
    return NameServers((LOCAL,), "default")


def finder(given: str | Iterable[str] | NameServers | Find | None) -> Find:
    """A function that tells the name servers; a list that is no list is refused at once."""
    if callable(given):
        return given
    found = given if isinstance(given, NameServers) else name_servers(given)
    return lambda: found
