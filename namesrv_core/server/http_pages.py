"""The pages of the HTTP port by path. Only a server with an HTTP port imports this module."""

import asyncio
import base64
import gc
import hmac
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from namesrv_core import __version__
from namesrv_core.errors import BadSettings
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.server import metrics
from namesrv_core.server.inspected_server import InspectedServer
from namesrv_core.server.log import LogThrottle
from namesrv_core.server.metrics import METRIC_PREFIX
from namesrv_core.state.access_policy import AccessPolicy, AccessRole, PeerIdentity
from namesrv_core.transport.address import join_addr, split_listen_text
from namesrv_core.transport.http_server import HttpListener, PageRequest, PageResponse
from namesrv_core.transport.metrics_renderer import render_metrics

_MAX_ITEMS = 1000


def describe_server(name_server: InspectedServer) -> Mapping[str, Any]:
    """As JSON: settings, tables, first `_MAX_ITEMS` brokers and connections, requests, journal, process."""
    state, figures = name_server.state, name_server.read_journal_figures()
    return {
        "version": __version__,
        "pid": os.getpid(),
        "address": name_server.namesrv_addr,
        "now": name_server.now_ms(),
        "startedAt": state.started_at_ms,
        "unready": name_server.unready_reason(),
        "settings": {**state.settings.shown_items(), **state.actual_settings},
        "tables": _describe_tables(name_server),
        "brokers": _describe_brokers(name_server)[:_MAX_ITEMS],
        "connections": _describe_connections(name_server)[:_MAX_ITEMS],
        "requests": {
            RequestCode(code).name: tally.counts_by_code
            for code, tally in sorted(name_server.counters.tallies_by_code.items())
        },
        "journal": None if figures is None else figures._asdict(),
        "process": {
            "threads": [thread.name for thread in threading.enumerate()],
            "tasks": len(asyncio.all_tasks()),
            "garbage": gc.get_stats(),
        },
    }


def _describe_tables(name_server: InspectedServer) -> dict[str, int]:
    tables = name_server.state.tables
    return {
        "clusters": len(tables.broker_names_by_cluster),
        "brokerGroups": len(tables.broker_groups),
        "brokers": len(tables.live_brokers),
        "topics": len(tables.placements_by_topic),
        "staticTopics": len(tables.queue_mappings),
        "kvNamespaces": len(name_server.state.kv_config.tables_by_namespace),
        "generation": tables.generation,
    }


def _describe_brokers(name_server: InspectedServer) -> list[dict[str, Any]]:
    now_ms, latest = name_server.now_ms(), name_server.counters.latest_registrations
    return [
        {
            "clusterName": key[0],
            "brokerAddr": key[1],
            "silentMillis": now_ms - live.heard_at_ms,
            "timeoutMillis": live.timeout_ms,
            "connection": live.channel_id,
            "registrationBytes": latest[key].body_bytes if key in latest else None,
        }
        for key, live in sorted(name_server.state.tables.live_brokers.items())
    ]


def _describe_connections(name_server: InspectedServer) -> list[dict[str, Any]]:
    now = asyncio.get_running_loop().time()
    return [
        {"number": s.channel_id, "peer": s.peer_addr, "idleSeconds": round(now - s.active_at, 3)}
        for s in sorted(name_server.open_streams, key=lambda stream: stream.channel_id)
    ]


_JSON_TYPE = "application/json"
_WILDCARD_HOSTS = ("", "0.0.0.0", "::")


class HttpPages(Collector):
    def __init__(self, name_server: InspectedServer) -> None:
        self._server = name_server
        self._page_counts: Counter[tuple[str, int]] = Counter()
        self._throttle = LogThrottle()
        self._registry = metrics.build_registry(name_server)
        self._registry.register(self)
        self._pages: Mapping[str, Callable[[PageRequest], PageResponse]] = {
            "/metrics": self._metrics_page,
            "/healthz": lambda request: PageResponse(200, b"ok\n"),
            "/readyz": self._readiness_page,
            "/rocketmq/nsaddr": self._nsaddr_page,
            "/debug/state": self._debug_state_page,
        }

    def answer_request(self, request: PageRequest) -> PageResponse:
        """Render the requested page. The status is 404 for an unknown page and 500 for one that fails."""
        render_page = self._pages.get(request.page_path, self._not_found_page)
        try:
            response = render_page(request)
        except Exception as error:
            # Only known pages fail, so there are few kinds of lines.
            self._throttle.log_warning(
                request.page_path, f"page {request.page_path} failed", with_traceback=True
            )
            response = PageResponse(
                500, f"{type(error).__name__}: see the server's log for the reason\n".encode()
            )
        self._page_counts[
            request.page_path if request.page_path in self._pages else "other", response.status
        ] += 1
        return response

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            METRIC_PREFIX + "http_requests", "HTTP requests for pages.", labels=("path", "status")
        )
        for (path, status), request_count in self._page_counts.items():
            family.add_metric((path, str(status)), request_count)
        yield family

    def _not_found_page(self, request: PageRequest) -> PageResponse:
        return PageResponse(404, f"page not found; pages: {' '.join(self._pages)}\n".encode())

    def _metrics_page(self, request: PageRequest) -> PageResponse:
        body, content_type = render_metrics(self._registry, request.headers.get("accept", ""))
        return PageResponse(200, body, content_type)

    def _readiness_page(self, request: PageRequest) -> PageResponse:
        reason = self._server.unready_reason()
        return PageResponse(200, b"ready\n") if reason is None else PageResponse(503, f"{reason}\n".encode())

    def _nsaddr_page(self, request: PageRequest) -> PageResponse:
        """The name server list in the format that brokers and clients expect from an address server."""
        settings = self._server.state.settings
        if settings.nsaddr:
            return PageResponse(200, f"{settings.nsaddr}\n".encode())
        host, port = self._server.bound_host_port
        if host in _WILDCARD_HOSTS:
            # The requester reached this address of ours, so it can also reach the name server there.
            host = request.local_address[0]
        return PageResponse(200, f"{join_addr(host, port)}\n".encode())

    def _debug_state_page(self, request: PageRequest) -> PageResponse:
        refusal = self._refuse_debug_state(request)
        if refusal is not None:
            return refusal
        return PageResponse(
            200, json.dumps(describe_server(self._server), indent=1).encode() + b"\n", _JSON_TYPE
        )

    def _refuse_debug_state(self, request: PageRequest) -> PageResponse | None:
        """The refusal, unless the request has the token or an administrator's key; None if it is allowed."""
        state = self._server.state
        token_path = state.settings.httpTokenFile
        if token_path is None and state.policy is None:
            text = b"forbidden: set httpTokenFile to a file with a token, or set credentialsFile\n"
            return PageResponse(403, text)
        scheme, _, value = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token_path is not None:
            try:
                expected = _read_token(token_path)
            except BadSettings as error:
                self._throttle.log_warning("httpTokenFile", str(error))
                return PageResponse(503, b"invalid token file: see the server's log for the reason\n")
            if hmac.compare_digest(value.strip().encode(), expected.encode()):
                return None
        if (
            scheme.lower() == "basic"
            and state.policy is not None
            and _is_admin_login(value, state.policy, request.peer_host)
        ):
            return None
        headers = (("WWW-Authenticate", "Bearer"), ("WWW-Authenticate", "Basic"))
        return PageResponse(
            401, b"unauthorized: send the token, or the key of an administrator\n", headers=headers
        )


def _read_token(token_path: str) -> str:
    """Read the token. It is read for each request, so that a new token takes effect at once.

    Raises BadSettings for a file that is missing, unreadable or empty.
    """
    try:
        token = Path(token_path).read_text("utf-8").strip()
    except OSError as error:
        raise BadSettings(f'cannot read httpTokenFile "{token_path}": {error.strerror}') from None
    except UnicodeDecodeError:
        raise BadSettings(f'invalid httpTokenFile "{token_path}": write the token as UTF-8 text') from None
    if not token:
        raise BadSettings(f'empty httpTokenFile "{token_path}": write a token into it')
    return token


def _is_admin_login(pair: str, policy: AccessPolicy, peer_host: str) -> bool:
    """Whether the base64 pair of access key and secret belongs to an administrator who may use this host."""
    try:
        access_key, _, sent = base64.b64decode(pair, validate=True).decode().partition(":")
    except ValueError:
        return False
    account = policy.accounts_by_key.get(access_key)
    # Compare also without an account, so that the response time does not reveal whether it exists.
    expected = "" if account is None else account.secret_key
    is_secret_valid = hmac.compare_digest(sent.encode(), expected.encode())
    return (
        is_secret_valid
        and account is not None
        and account.grant.role >= AccessRole.ADMIN
        and account.grant.covers_peer(PeerIdentity(peer_host))
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
