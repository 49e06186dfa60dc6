"""NameServerList, the configured name servers with their source, and the parsers of address lists."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_addr

DEFAULT_NAME_SERVER_PORT = 9876
DEFAULT_BROKER_PORT = 10911
DEFAULT_PROXY_PORT = 8080
"""The port of proxies for remoting clients (remotingListenPort)."""
ENVIRONMENT_VARIABLE = "NAMESRV_ADDR"
LOCAL_NAME_SERVER = "127.0.0.1:9876"

_LIST_SEPARATORS = re.compile(r"[;,\s]+")


class BadAddress(RocketMQError):
    """An invalid address; the text says why."""


class NameServerList(NamedTuple):
    """The configured name servers.

    Attributes:
        addrs: The addresses "host:port", in request order.
        source: "given", "environment", "context", "file", "endpoint", "bundle" or "default".
        origin: The context's name, the file's path or the endpoint's URL; "" otherwise.
        note: A line to show to the operator, or None.
    """

    addrs: tuple[str, ...]
    source: str
    origin: str = ""
    note: str | None = None


NameServerFinder = Callable[[], NameServerList]


def parse_addr(addr_text: str, default_port: int = DEFAULT_NAME_SERVER_PORT) -> str:
    """Normalize an address to "host:port" or "[v6]:port"."""
    normalized_addr = addr_text.strip()
    if normalized_addr.count(":") > 1 and not normalized_addr.startswith("["):
        normalized_addr = f"[{normalized_addr}]"
    if ":" not in normalized_addr or normalized_addr.endswith("]"):
        normalized_addr = f"{normalized_addr}:{default_port}"
    port_text = normalized_addr.rpartition(":")[2]
    if port_text.isdecimal() and not 1 <= int(port_text) <= 65535:
        raise BadAddress(f'invalid port {port_text} in "{addr_text}": use 1 to 65535')
    try:
        host, port = split_addr(normalized_addr)
    except ValueError:
        host = ""
    if not host or any(character in host for character in "/[]@"):
        raise BadAddress(
            f'invalid address "{addr_text}": use HOST:PORT or [IPv6]:PORT, with a port from 1 to 65535'
        )
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse_addrs(
    addr_lists: str | Iterable[str], default_port: int = DEFAULT_NAME_SERVER_PORT
) -> tuple[str, ...]:
    """Parse one or several lists of name servers, separated by `;`, `,` or blanks, without duplicates."""
    list_texts = [addr_lists] if isinstance(addr_lists, str) else addr_lists
    addr_texts = (text for list_text in list_texts for text in _LIST_SEPARATORS.split(list_text) if text)
    return tuple(dict.fromkeys(parse_addr(addr_text, default_port) for addr_text in addr_texts))


def require_addrs(addr_lists: str | Iterable[str]) -> tuple[str, ...]:
    """Parse lists of name servers that must not be empty. An empty variable is a mistake, not a default."""
    parsed_addrs = parse_addrs(addr_lists)
    if not parsed_addrs:
        raise BadAddress("the list of name servers is empty: use HOST:PORT;HOST:PORT")
    return parsed_addrs


def choose_name_servers(
    given_addrs: str | Iterable[str] | None = None, environ: Mapping[str, str] = os.environ
) -> NameServerList:
    """Choose the name servers: the given ones, else NAMESRV_ADDR, else 127.0.0.1:9876."""
    if given_addrs is not None and given_addrs != ():
        return NameServerList(require_addrs(given_addrs), "given")
    environment_text = environ.get(ENVIRONMENT_VARIABLE, "").strip()
    if environment_text:
        return NameServerList(require_addrs(environment_text), "environment")
    return NameServerList((LOCAL_NAME_SERVER,), "default")


def make_finder(
    addrs_or_finder: str | Iterable[str] | NameServerList | NameServerFinder | None,
) -> NameServerFinder:
    """Return a function that returns the name servers; check a given list immediately."""
    if callable(addrs_or_finder):
        return addrs_or_finder
    name_server_list = (
        addrs_or_finder
        if isinstance(addrs_or_finder, NameServerList)
        else choose_name_servers(addrs_or_finder)
    )
    return lambda: name_server_list
