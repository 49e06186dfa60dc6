"""Discovery of name servers from a properties file, or from an HTTP endpoint as RocketMQ's clients use it.

AdminClient(from_endpoint("http://ns.example.com:8080/rocketmq/nsaddr"))
AdminClient(from_file(Path("broker.conf")))
"""

import json
import os
import re
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from time import time
from typing import NamedTuple
from urllib.parse import urlsplit

from namesrv_core.protocol.codes import V5_5_0, version_text
from namesrv_core.transport.calls import CallError
from nsadmin.client.addresses import BadAddress, NameServers, listed, parse_addrs

DOMAIN = "jmenv.tbsite.net"
SUBGROUP = "nsaddr"
TIMEOUT = 3.0
"""Seconds to connect to an endpoint and to read its answer, as in the Java client."""
_PORT = 8080
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
# The file's own keys take precedence over the keys of Java's system properties, as in BrokerStartup.
_ADDR_KEYS = ("namesrvAddr", "rocketmq.namesrv.addr")
_DOMAIN_KEYS = ("rmqAddressServerDomain", "rocketmq.namesrv.domain")
_SUBGROUP_KEYS = ("rmqAddressServerSubGroup", "rocketmq.namesrv.domain.subgroup")


class _Kept(NamedTuple):
    """The last answer of an endpoint, and its time in seconds since 1970 (UTC)."""

    addrs: tuple[str, ...]
    time: float


def endpoint_url(domain: str = DOMAIN, subgroup: str = SUBGROUP, unit_name: str | None = None) -> str:
    """Return the URL of an address endpoint by the rules of `MixAll.getWSAddr` and `DefaultTopAddressing`.

    Args:
        domain: A domain (default port: 8080) or a whole URL. A URL without a path gets /rocketmq/SUBGROUP.
        subgroup: The last part of the path.
        unit_name: The unit name, appended as "-UNIT?nofix=1". Default: none.

    Raises:
        BadAddress: `domain` is neither a domain nor an http or https URL, or contains a password.
    """
    if "://" in domain:
        url = _whole(domain.strip(), subgroup)
    else:
        place = domain.strip() if domain.find(":") > 0 else f"{domain.strip()}:{_PORT}"
        url = _checked(f"http://{place}/rocketmq/{subgroup}", domain)
    return f"{url}-{unit_name}?nofix=1" if unit_name else url


def _whole(url: str, subgroup: str) -> str:
    parts = urlsplit(_checked(url, url))
    if parts.path in ("", "/") and not parts.query:
        return f"{parts.scheme}://{parts.netloc}/rocketmq/{subgroup}"
    return url


def _checked(url: str, given: str) -> str:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    # Refuse a URL with a password, because messages show the URL as the source of the name servers.
    if not fits or "@" in url or any(letter.isspace() for letter in url):
        raise BadAddress(f"{given!r} is no endpoint: write http://HOST:PORT/rocketmq/{SUBGROUP} or DOMAIN")
    return url


def from_endpoint(
    domain: str = DOMAIN,
    subgroup: str = SUBGROUP,
    unit_name: str | None = None,
    *,
    cache: Path | None = None,
    timeout: float = TIMEOUT,
) -> NameServers:
    """Read the name servers from an HTTP endpoint, or from its cached last answer if it does not answer.

    Args:
        domain: A domain or a whole URL; see `build_endpoint_url`.
        subgroup: The last part of the path.
        unit_name: The unit name. Default: none.
        cache_folder: The folder with the last answers. Default: no cache.
        timeout_seconds: The time limit to connect and to read.

    Returns:
        The name servers; `note` is set if they come from the cache.

    Raises:
        CallError: The endpoint does not answer, and the cache has no answer of it.
        BadAddress: `domain` is not a domain or URL.
    """
    url = endpoint_url(domain, subgroup, unit_name)
    file = None if cache is None else cache / _file_name(url)
    try:
        addrs = _listed(url, _get(url, timeout))
    except CallError as error:
        kept = None if file is None else _kept(file)
        if kept is None:
            raise
        moment = datetime.fromtimestamp(kept.time).astimezone().isoformat(timespec="seconds")
        note = f"endpoint {error}; going by what it said at {moment}: {';'.join(kept.addrs)}"
        return NameServers(kept.addrs, "endpoint", url, note)
    if file is not None:
        _keep(file, addrs)
    return NameServers(addrs, "endpoint", url)


def _get(url: str, timeout: float) -> str:
    # Imported here because it takes 100 ms, and most operators use a list of addresses.
    import httpx

    headers = {
        "Client-Version": version_text(V5_5_0),
        "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8",
        "Metaq-Client-RequestTS": str(round(time() * 1000)),
    }
    try:
        # Ignore the environment's proxies: they lead out of the network, and Java's clients ignore them too.
        answer = httpx.get(url, headers=headers, timeout=timeout, follow_redirects=True, trust_env=False)
    except httpx.TimeoutException:
        raise CallError(url, "timeout", f"no answer within {timeout:g} s") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = _ERRNO.sub("", str(error)) or type(error).__name__
        raise CallError(url, "unconnected", reason[0].lower() + reason[1:]) from None
    if answer.status_code != httpx.codes.OK:
        raise CallError(url, "unreadable", f"HTTP status {answer.status_code}; only 200 counts")
    return answer.text


def _listed(url: str, text: str) -> tuple[str, ...]:
    """Parse the addresses on the first line, which ends at a CR, or else at an LF, as in `clearNewLine`."""
    line = text.strip()
    for end in ("\r", "\n"):
        line = line.split(end, 1)[0]
    try:
        addrs = parse_addrs(line)
    except BadAddress as error:
        raise CallError(url, "unreadable", f"its answer is no list of name servers: {error}") from None
    if not addrs:
        raise CallError(url, "unreadable", "its answer names no name server")
    return addrs


def from_file(file: Path, *, cache: Path | None = None, timeout: float = TIMEOUT) -> NameServers:
    """Read the name servers from a broker's or client's properties file, or from the endpoint it names.

    Args:
        properties_file: The file, in Java's properties format (Latin-1).
        cache_folder: The folder with the last answers of endpoints. Default: no cache.
        timeout_seconds: The time limit for the endpoint.

    Raises:
        BadAddress: The file cannot be read, or names neither name servers nor an endpoint.
        CallError: As in `from_endpoint`.
    """
    items = _properties(file)
    addrs, domain, subgroup = (
        next((text for key in keys if (text := items.get(key, "").strip())), None)
        for keys in (_ADDR_KEYS, _DOMAIN_KEYS, _SUBGROUP_KEYS)
    )
    try:
        if addrs:
            return NameServers(listed(addrs), "file", str(file))
        if domain:
            unit_name = items.get("unitName") or None
            return from_endpoint(domain, subgroup or SUBGROUP, unit_name, cache=cache, timeout=timeout)
    except BadAddress as error:
        raise BadAddress(f"{file}: {error}") from None
    raise BadAddress(f"{file} has none of {', '.join((*_ADDR_KEYS, *_DOMAIN_KEYS))}: where to ask is unknown")


def _properties(file: Path) -> dict[str, str]:
    # Imported here because few commands read a properties file.
    from javaproperties import InvalidUEscapeError, loads

    try:
        return dict(loads(file.read_text("latin-1")))
    except OSError as error:
        raise BadAddress(f"{file} cannot be read: {error.strerror}") from None
    except InvalidUEscapeError as error:
        raise BadAddress(f"{file} is no properties file: {error}") from None


def _file_name(url: str) -> str:
    from hashlib import sha256

    return f"endpoint-{sha256(url.encode()).hexdigest()[:16]}.json"


def _kept(file: Path) -> _Kept | None:
    """Read a cached answer; return None if the file is missing or damaged."""
    try:
        content = json.loads(file.read_text())
        addrs = parse_addrs(content["namesrvAddr"])
        return _Kept(addrs, float(content["time"])) if addrs else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, BadAddress):
        return None


def _keep(file: Path, addrs: tuple[str, ...]) -> None:
    # The cache is optional: a failed write must not fail the command.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps({"namesrvAddr": ";".join(addrs), "time": time()}))
        os.replace(fresh, file)
