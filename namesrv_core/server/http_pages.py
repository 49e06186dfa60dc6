"""The pages of the HTTP port by path. Only a server with an HTTP port imports this module."""

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
from namesrv_core.server.debug_state import describe_server
from namesrv_core.server.inspected_server import InspectedServer
from namesrv_core.server.log_throttle import LogThrottle
from namesrv_core.server.metric_families import METRIC_PREFIX
from namesrv_core.state.access_policy import AccessPolicy, AccessRole, PeerIdentity
from namesrv_core.transport.address import join_addr, split_listen_text
from namesrv_core.transport.http_server import HttpListener, PageRequest, PageResponse
from namesrv_core.transport.metrics_page import render_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

_JSON_TYPE = "application/json"
_WILDCARD_HOSTS = ("", "0.0.0.0", "::")


class HttpPages(Collector):
    """Answers requests for pages and counts them."""

    def __init__(self, name_server: InspectedServer) -> None:
        self._name_server = name_server
        self._page_counts: Counter[tuple[str, int]] = Counter()
        self._log_throttle = LogThrottle()
        self._metrics_registry = metrics.build_registry(name_server)
        self._metrics_registry.register(self)
        self._pages_by_path: Mapping[str, Callable[[PageRequest], PageResponse]] = {
            "/metrics": self._metrics_page,
            "/healthz": self._health_page,
            "/readyz": self._readiness_page,
            "/rocketmq/nsaddr": self._nsaddr_page,
            "/debug/state": self._debug_state_page,
        }

    def answer_request(self, page_request: PageRequest) -> PageResponse:
        """Render the requested page. The status is 404 for an unknown page and 500 for one that fails."""
        render_page = self._pages_by_path.get(page_request.page_path, self._not_found_page)
        try:
            page_response = render_page(page_request)
        except Exception as error:
            # Only known pages fail, so there are few kinds of lines.
            self._log_throttle.log_warning(
                page_request.page_path, f"page {page_request.page_path} failed", with_traceback=True
            )
            page_response = PageResponse(
                500, f"{type(error).__name__}: see the server's log for the reason\n".encode()
            )
        self._page_counts[
            page_request.page_path if page_request.page_path in self._pages_by_path else "other",
            page_response.status,
        ] += 1
        return page_response

    def collect(self) -> "Iterator[Metric]":
        """Collect the request counts of the pages."""
        metric_family = CounterMetricFamily(
            METRIC_PREFIX + "http_requests", "HTTP requests for pages.", labels=("path", "status")
        )
        for (page_path, status), request_count in self._page_counts.items():
            metric_family.add_metric((page_path, str(status)), request_count)
        yield metric_family

    def _not_found_page(self, page_request: PageRequest) -> PageResponse:
        return PageResponse(404, f"page not found; pages: {' '.join(self._pages_by_path)}\n".encode())

    def _metrics_page(self, page_request: PageRequest) -> PageResponse:
        metrics_body, content_type = render_metrics(
            self._metrics_registry, page_request.headers.get("accept", "")
        )
        return PageResponse(200, metrics_body, content_type)

    def _health_page(self, page_request: PageRequest) -> PageResponse:
        return PageResponse(200, b"ok\n")

    def _readiness_page(self, page_request: PageRequest) -> PageResponse:
        unready_reason = self._name_server.unready_reason()
        return (
            PageResponse(200, b"ready\n")
            if unready_reason is None
            else PageResponse(503, f"{unready_reason}\n".encode())
        )

    def _nsaddr_page(self, page_request: PageRequest) -> PageResponse:
        """The name server list in the format that brokers and clients expect from an address server."""
        settings = self._name_server.state.settings
        if settings.nsaddr:
            return PageResponse(200, f"{settings.nsaddr}\n".encode())
        bound_host, bound_port = self._name_server.bound_host_port
        if bound_host in _WILDCARD_HOSTS:
            # The requester reached this address of ours, so it can also reach the name server there.
            bound_host = page_request.local_address[0]
        return PageResponse(200, f"{join_addr(bound_host, bound_port)}\n".encode())

    def _debug_state_page(self, page_request: PageRequest) -> PageResponse:
        refusal = self._refuse_debug_state(page_request)
        if refusal is not None:
            return refusal
        return PageResponse(
            200, json.dumps(describe_server(self._name_server), indent=1).encode() + b"\n", _JSON_TYPE
        )

    def _refuse_debug_state(self, page_request: PageRequest) -> PageResponse | None:
        """The refusal, unless the request has the token or an administrator's key; None if it is allowed."""
        server_state = self._name_server.state
        token_path = server_state.settings.httpTokenFile
        if token_path is None and server_state.policy is None:
            refusal_text = b"forbidden: set httpTokenFile to a file with a token, or set credentialsFile\n"
            return PageResponse(403, refusal_text)
        auth_scheme, _, auth_value = page_request.headers.get("authorization", "").partition(" ")
        if auth_scheme.lower() == "bearer" and token_path is not None:
            try:
                expected_token = _read_token(token_path)
            except BadSettings as error:
                self._log_throttle.log_warning("httpTokenFile", str(error))
                return PageResponse(503, b"invalid token file: see the server's log for the reason\n")
            if hmac.compare_digest(auth_value.strip().encode(), expected_token.encode()):
                return None
        if (
            auth_scheme.lower() == "basic"
            and server_state.policy is not None
            and _is_admin_login(auth_value, server_state.policy, page_request.peer_host)
        ):
            return None
        challenge_headers = (("WWW-Authenticate", "Bearer"), ("WWW-Authenticate", "Basic"))
        return PageResponse(
            401, b"unauthorized: send the token, or the key of an administrator\n", headers=challenge_headers
        )


def _read_token(token_path: str) -> str:
    """Read the token. It is read for each request, so that a new token takes effect at once.

    Raises BadSettings for a file that is missing, unreadable or empty.
    """
    try:
        token_text = Path(token_path).read_text("utf-8").strip()
    except OSError as error:
        raise BadSettings(f'cannot read httpTokenFile "{token_path}": {error.strerror}') from None
    except UnicodeDecodeError:
        raise BadSettings(f'invalid httpTokenFile "{token_path}": write the token as UTF-8 text') from None
    if not token_text:
        raise BadSettings(f'empty httpTokenFile "{token_path}": write a token into it')
    return token_text


def _is_admin_login(encoded_pair: str, access_policy: AccessPolicy, peer_host: str) -> bool:
    """Whether the base64 pair of access key and secret belongs to an administrator who may use this host."""
    try:
        access_key, _, sent_secret = base64.b64decode(encoded_pair, validate=True).decode().partition(":")
    except ValueError:
        return False
    signer_account = access_policy.accounts_by_key.get(access_key)
    # Compare also without an account, so that the response time does not reveal whether it exists.
    expected_secret = "" if signer_account is None else signer_account.secret_key
    is_secret_valid = hmac.compare_digest(sent_secret.encode(), expected_secret.encode())
    return (
        is_secret_valid
        and signer_account is not None
        and signer_account.grant.role >= AccessRole.ADMIN
        and signer_account.grant.covers_peer(PeerIdentity(peer_host))
    )


async def open_http_pages(name_server: InspectedServer, listen_text: str) -> HttpListener:
    """Serve the pages at "port" or "host:port". Raises BadSettings and OSError if that fails."""
    if name_server.state.settings.httpTokenFile is not None:
        _read_token(name_server.state.settings.httpTokenFile)
    try:
        listen_host, listen_port = split_listen_text(listen_text)
    except ValueError as error:
        raise BadSettings(str(error)) from None
    return await HttpListener.open(HttpPages(name_server).answer_request, listen_host, listen_port)
