"""Discovery: name servers in a properties file, or asked for at an HTTP endpoint as RocketMQ's clients do.

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
"""Seconds that Java's clients give an endpoint, to connect and to answer."""
_PORT = 8080
_ERRNO = re.compile(r"^\[Errno -?\d+\] ")
# The file's own spelling comes before that of Java's system properties, as in BrokerStartup.
_ADDR_KEYS = ("namesrvAddr", "rocketmq.namesrv.addr")
_DOMAIN_KEYS = ("rmqAddressServerDomain", "rocketmq.namesrv.domain")
_SUBGROUP_KEYS = ("rmqAddressServerSubGroup", "rocketmq.namesrv.domain.subgroup")


class _Kept(NamedTuple):
    """What an endpoint said when it last answered, at `time` in seconds since 1970."""

    addrs: tuple[str, ...]
    time: float


def endpoint_url(domain: str = DOMAIN, subgroup: str = SUBGROUP, unit_name: str | None = None) -> str:
    """Where name servers are asked for, by the rules of `MixAll.getWSAddr` and `DefaultTopAddressing`.

    A domain without a port is asked at 8080. A whole URL stays as it is; without a path it gets the usual
    one. BadAddress for what is neither.
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
    # A password in it would be shown wherever the source of name servers is.
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
    """What an endpoint says now; else what it said last, with a note, if the folder `cache` still has it.

    `domain` may be a whole URL. `timeout` is in seconds. CallError where there is neither.
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
    # Imported late: it takes 100 ms, and most operators have a list of addresses.
    import httpx

    headers = {
        "Client-Version": version_text(V5_5_0),
        "Content-Type": "application/x-www-form-urlencoded;charset=UTF-8",
        "Metaq-Client-RequestTS": str(round(time() * 1000)),
    }
    try:
        # Proxies of the environment are for the way out; Java's clients know nothing of them either.
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
    """The addresses on the first line: what ends at a CR, or else at an LF, as in `clearNewLine`."""
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
    """The name servers that a properties file names, of a broker or of a client, or its endpoint's.

    BadAddress for a file that names neither or cannot be read; else as `from_endpoint`.
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
    # Imported late, as few need it.
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
    """What was kept; nothing where there is none, or where somebody spoiled it."""
    try:
        content = json.loads(file.read_text())
        addrs = parse_addrs(content["namesrvAddr"])
        return _Kept(addrs, float(content["time"])) if addrs else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, BadAddress):
        return None


def _keep(file: Path, addrs: tuple[str, ...]) -> None:
    # Whoever has no room for a cache does without one.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps({"namesrvAddr": ";".join(addrs), "time": time()}))
        os.replace(fresh, file)
