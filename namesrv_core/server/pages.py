"""Pages of the HTTP port: a table of paths. Loaded only by a server that has such a port."""

import base64
import hmac
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from namesrv_core.errors import BadSettings
from namesrv_core.server import metrics
from namesrv_core.server.debug import described
from namesrv_core.server.families import PREFIX
from namesrv_core.server.log import log
from namesrv_core.state.policy import Policy, Role, Somebody
from namesrv_core.transport.address import join_addr, split_listening
from namesrv_core.transport.http import Asked, HttpListener, Page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from namesrv_core.server.name_server import NameServer

_JSON = "application/json"
_ANYWHERE = ("", "0.0.0.0", "::")


class Pages(Collector):
    """What is answered to a request for a path; also counts them."""

    def __init__(self, server: "NameServer") -> None:
        self._server = server
        self._counts: Counter[tuple[str, int]] = Counter()
        self._metrics = metrics.registry(server)
        self._metrics.register(self)
        self._pages: Mapping[str, Callable[[Asked], Page]] = {
            "/metrics": self._exported,
            "/healthz": self._alive,
            "/readyz": self._ready,
            "/rocketmq/nsaddr": self._addresses,
            "/debug/state": self._state,
        }

    def answer(self, asked: Asked) -> Page:
        """The page that is asked for; 404 for what is none, 500 for one that fails."""
        page = self._pages.get(asked.path, self._unknown)
        try:
            found = page(asked)
        except Exception as error:
            log.exception("the page %s failed", asked.path)
            found = Page(500, f"{type(error).__name__}: {error}\n".encode())
        self._counts[asked.path if asked.path in self._pages else "other", found.status] += 1
        return found

    def collect(self) -> "Iterator[Metric]":
        """How often pages were asked for."""
        family = CounterMetricFamily(PREFIX + "http_requests", "Pages asked for.", labels=("path", "status"))
        for (path, status), count in self._counts.items():
            family.add_metric((path, str(status)), count)
        yield family

    def _unknown(self, asked: Asked) -> Page:
        return Page(404, f"there is no such page; there are {' '.join(self._pages)}\n".encode())

    def _exported(self, asked: Asked) -> Page:
        body, kind = metrics.rendered(self._metrics, asked.headers.get("accept", ""))
        return Page(200, body, kind)

    def _alive(self, asked: Asked) -> Page:
        return Page(200, b"ok\n")

    def _ready(self, asked: Asked) -> Page:
        reason = self._server.unready()
        return Page(200, b"ready\n") if reason is None else Page(503, f"{reason}\n".encode())

    def _addresses(self, asked: Asked) -> Page:
        """The name servers, as brokers and clients ask an address server for them."""
        settings = self._server.state.settings
        if settings.nsaddr:
            return Page(200, f"{settings.nsaddr}\n".encode())
        host, port = self._server.listens_at
        # Whoever reached this port at one of our addresses reaches the name server there, too.
        return Page(200, f"{join_addr(asked.local[0] if host in _ANYWHERE else host, port)}\n".encode())

    def _state(self, asked: Asked) -> Page:
        refusal = self._refusal(asked)
        if refusal is not None:
            return refusal
        return Page(200, json.dumps(described(self._server), indent=1).encode() + b"\n", _JSON)

    def _refusal(self, asked: Asked) -> Page | None:
        """Why it is not shown: only to whoever has the token, or the key of an administrator."""
        state = self._server.state
        path = state.settings.httpTokenFile
        if path is None and state.policy is None:
            text = b"not shown: set httpTokenFile to a file with a token, or credentialsFile\n"
            return Page(403, text)
        kind, _, secret = asked.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and path is not None and _is_token(secret, Path(path)):
            return None
        if (
            kind.lower() == "basic"
            and state.policy is not None
            and _is_admin(secret, state.policy, asked.host)
        ):
            return None
        challenge = (("WWW-Authenticate", "Bearer"), ("WWW-Authenticate", "Basic"))
        return Page(401, b"not shown: send the token, or the key of an administrator\n", headers=challenge)


def _is_token(secret: str, path: Path) -> bool:
    # Read each time, so that a new one counts at once.
    token = path.read_text().strip()
    return bool(token) and hmac.compare_digest(secret.strip().encode(), token.encode())


def _is_admin(pair: str, policy: Policy, host: str) -> bool:
    """Whether those are the keys, in base64, of somebody who may do everything, and from there."""
    try:
        key, _, secret = base64.b64decode(pair, validate=True).decode().partition(":")
    except ValueError:
        return False
    account = policy.accounts.get(key)
    # Whoever has no account is told so no sooner.
    expected = "" if account is None else account.secret_key
    is_his = hmac.compare_digest(secret.encode(), expected.encode())
    return (
        is_his
        and account is not None
        and account.grant.role >= Role.ADMIN
        and account.grant.covers(Somebody(host))
    )


async def opened(server: "NameServer", address: str) -> HttpListener:
    """Serve the pages at "port" or "host:port"; BadSettings, OSError where that cannot be."""
    try:
        host, port = split_listening(address)
    except ValueError as error:
        raise BadSettings(str(error)) from None
    return await HttpListener.open(Pages(server).answer, host, port)
