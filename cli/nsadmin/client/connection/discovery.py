"""Discovery of name servers from a properties file, or from an HTTP endpoint as RocketMQ's clients use it.

AdminClient(from_endpoint("http://ns.example.com:8080/rocketmq/nsaddr"))
AdminClient(from_file(Path("broker.conf")))
"""

import json
import os
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from namesrv_core import operator_files, private_files
from namesrv_core.protocol.codes import V5_5_0, VERSION_NAMES
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.addresses import BadAddress, NameServerList, parse_addrs, require_addrs

if TYPE_CHECKING:
    from namesrv_core.transport.host_resolver import AddrLookup

DEFAULT_DOMAIN = "jmenv.tbsite.net"
DEFAULT_SUBGROUP = "nsaddr"
ENDPOINT_TIMEOUT_SECONDS = 3.0
"""Seconds for the whole request to an endpoint. In the Java client they limit each read."""
_ENDPOINT_PORT = 8080
_MAX_ERROR_LENGTH = 200
# The file's own keys take precedence over the keys of Java's system properties, as in BrokerStartup.
_ADDR_KEYS = ("namesrvAddr", "rocketmq.namesrv.addr")
_DOMAIN_KEYS = ("rmqAddressServerDomain", "rocketmq.namesrv.domain")
_SUBGROUP_KEYS = ("rmqAddressServerSubGroup", "rocketmq.namesrv.domain.subgroup")


def build_endpoint_url(
    domain: str = DEFAULT_DOMAIN, subgroup: str = DEFAULT_SUBGROUP, unit_name: str | None = None
) -> str:
    """Return the URL of an address endpoint by the rules of `MixAll.getWSAddr` and `DefaultTopAddressing`."""
    if "://" in domain:
        url = _complete_url(domain.strip(), subgroup)
    else:
        host_and_port = domain.strip() if domain.find(":") > 0 else f"{domain.strip()}:{_ENDPOINT_PORT}"
        url = _check_url(f"http://{host_and_port}/rocketmq/{subgroup}", domain)
    return f"{url}-{unit_name}?nofix=1" if unit_name else url


def _complete_url(url: str, subgroup: str) -> str:
    url_parts = urlsplit(_check_url(url, url))
    if url_parts.path in ("", "/") and not url_parts.query:
        return f"{url_parts.scheme}://{url_parts.netloc}/rocketmq/{subgroup}"
    return url


def _check_url(url: str, given_text: str) -> str:
    try:
        url_parts = urlsplit(url)
        is_valid = url_parts.scheme in ("http", "https") and bool(url_parts.hostname) and url_parts.port != 0
    except ValueError:
        is_valid = False
    # Refuse a URL with a password, because messages show the URL as the source of the name servers.
    if not is_valid or "@" in url or any(letter.isspace() for letter in url):
        raise BadAddress(
            f'invalid endpoint "{given_text}": use http://HOST:PORT/rocketmq/{DEFAULT_SUBGROUP} or DOMAIN'
        )
    return url


def from_endpoint(
    domain: str = DEFAULT_DOMAIN,
    subgroup: str = DEFAULT_SUBGROUP,
    unit_name: str | None = None,
    *,
    cache_folder: Path | None = None,
    timeout_seconds: float = ENDPOINT_TIMEOUT_SECONDS,
    find_addrs: "AddrLookup | None" = None,
) -> NameServerList:
    """Read the name servers from an HTTP endpoint, or from its cached last answer if it does not answer."""
    url = build_endpoint_url(domain, subgroup, unit_name)
    cache_file = None if cache_folder is None else cache_folder / _cache_file_name(url)
    try:
        namesrv_addrs = _parse_answer(url, _fetch_text(url, timeout_seconds, find_addrs))
    except CallError as error:
        cached_answer = None if cache_file is None else _read_cache(cache_file)
        if cached_answer is None:
            reason = f"the endpoint returned no name servers: {error.reason}"
            raise CallError(url, error.kind, reason) from None
        addrs, saved_at_seconds = cached_answer
        saved_at = datetime.fromtimestamp(saved_at_seconds).astimezone().isoformat(timespec="seconds")
        operator_note = f"endpoint {error}; using its answer of {saved_at}: {';'.join(addrs)}"
        return NameServerList(addrs, "endpoint", url, operator_note)
    if cache_file is not None:
        _write_cache(cache_file, namesrv_addrs)
    return NameServerList(namesrv_addrs, "endpoint", url)


def _fetch_text(url: str, timeout_seconds: float, find_addrs: "AddrLookup | None") -> str:
    # Imported here because it loads threading, and few commands ask an endpoint.
    from nsadmin.client.connection.endpoint_request import fetch_endpoint_text

    http_headers = {
        "Client-Version": VERSION_NAMES[V5_5_0],
        "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8",
        "Metaq-Client-RequestTS": str(round(time() * 1000)),
    }
    return fetch_endpoint_text(url, http_headers, timeout_seconds, find_addrs)


def _parse_answer(url: str, answer_text: str) -> tuple[str, ...]:
    """Parse the addresses on the first line, which ends at a CR, or else at an LF, as in `clearNewLine`."""
    first_line = answer_text.strip()
    for line_end in ("\r", "\n"):
        first_line = first_line.split(line_end, 1)[0]
    try:
        namesrv_addrs = parse_addrs(first_line)
    except BadAddress as error:
        # The error quotes the answer, which may be a long page.
        text = str(error)[:_MAX_ERROR_LENGTH]
        raise CallError(url, "unreadable", f"the answer is not a list of name servers: {text}") from None
    if not namesrv_addrs:
        raise CallError(url, "unreadable", "the answer has no name server")
    return namesrv_addrs


def from_file(
    properties_file: Path,
    *,
    cache_folder: Path | None = None,
    timeout_seconds: float = ENDPOINT_TIMEOUT_SECONDS,
    find_addrs: "AddrLookup | None" = None,
) -> NameServerList:
    """Read the name servers from a broker's or client's properties file, or from the endpoint it names."""
    file_items = _read_properties(properties_file)
    addr_list, domain, subgroup = (
        next((item_text for key in keys if (item_text := file_items.get(key, "").strip())), None)
        for keys in (_ADDR_KEYS, _DOMAIN_KEYS, _SUBGROUP_KEYS)
    )
    try:
        if addr_list:
            return NameServerList(require_addrs(addr_list), "file", str(properties_file))
        if domain:
            unit_name = file_items.get("unitName") or None
            return from_endpoint(
                domain,
                subgroup or DEFAULT_SUBGROUP,
                unit_name,
                cache_folder=cache_folder,
                timeout_seconds=timeout_seconds,
                find_addrs=find_addrs,
            )
    except BadAddress as error:
        raise BadAddress(f"{properties_file}: {error}") from None
    raise BadAddress(
        f"{properties_file} has none of {', '.join((*_ADDR_KEYS, *_DOMAIN_KEYS))}: add the name "
        "servers or the domain of the endpoint"
    )


def _read_properties(properties_file: Path) -> dict[str, str]:
    # Imported here because few commands read a properties file.
    from javaproperties import InvalidUEscapeError, loads

    try:
        return dict(
            loads(
                operator_files.read_text(
                    properties_file, max_characters=operator_files.MAX_CONFIG_CHARACTERS, encoding="latin-1"
                )
            )
        )
    except OSError as error:
        raise BadAddress(f"{properties_file} is not readable: {error.strerror}") from None
    except InvalidUEscapeError as error:
        raise BadAddress(f"{properties_file} is not a valid properties file: {error}") from None


def _cache_file_name(url: str) -> str:
    from hashlib import sha256

    return f"endpoint-{sha256(url.encode()).hexdigest()[:16]}.json"


def _read_cache(cache_file: Path) -> tuple[tuple[str, ...], float] | None:
    """Read a cached answer and its time in seconds since 1970; None if the file is missing or damaged."""
    try:
        cache_text = operator_files.read_text(cache_file, max_characters=operator_files.MAX_CONFIG_CHARACTERS)
        cache_content = operator_files.parse_json(cache_text)
        namesrv_addrs = parse_addrs(cache_content["namesrvAddr"])
        return (namesrv_addrs, float(cache_content["time"])) if namesrv_addrs else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, BadAddress):
        return None


def _write_cache(cache_file: Path, namesrv_addrs: tuple[str, ...]) -> None:
    # The cache is optional: a failed write must not fail the command.
    with suppress(OSError):
        cache_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary_file = cache_file.with_suffix(f".{os.getpid()}")
        with open(temporary_file, "w", opener=private_files.open_private_file) as opened_file:
            json.dump({"namesrvAddr": ";".join(namesrv_addrs), "time": time()}, opened_file)
        os.replace(temporary_file, cache_file)
