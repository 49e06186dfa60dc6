"""Leases of tunnels: the clients of a process share one tunnel to a target. It ends with the last lease."""

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock

from namesrv_core.transport.host_resolver import AddrLookup
from nsadmin.client.connection.addresses import NameServerList, choose_name_servers
from nsadmin.client.connection.tunnels.tunnel import ForwardObserver, Tunnel
from nsadmin.client.connection.tunnels.tunnel_targets import SshTarget, TunnelTarget

SOCKET_VARIABLE = "NSADMIN_TUNNEL_SOCKET"
"""The socket of the TunnelServer of the program that started this command, if that program has tunnels."""

_guard = RLock()
_tunnels: dict[TunnelTarget, Tunnel] = {}
_lease_counts: dict[TunnelTarget, int] = {}
_observer: ForwardObserver | None = None


def lease_tunnel(target: TunnelTarget) -> Tunnel:
    """The tunnel to a target, which starts no program before its first use. Call `return_lease` later."""
    key = _key_of(target)
    with _guard:
        if not _tunnels:
            atexit.register(_close_all)
        if key not in _tunnels:
            _tunnels[key] = _build_tunnel(target)
        _lease_counts[key] = _lease_counts.get(key, 0) + 1
        return _tunnels[key]


def return_lease(target: TunnelTarget) -> None:
    """Return a lease. The last one ends the programs of the tunnel."""
    key = _key_of(target)
    with _guard:
        _lease_counts[key] -= 1
        tunnel = None if _lease_counts[key] else _tunnels.pop(key, None)
    if tunnel is not None:
        tunnel.close()


def has_tunnels() -> bool:
    """Whether this process has a lease of any tunnel."""
    return bool(_tunnels)


@contextmanager
def use_tunnel(target: TunnelTarget | None) -> Iterator[AddrLookup | None]:
    """Yield the function that finds the local ends of ways through a tunnel; None without a target."""
    if target is None:
        yield None
        return
    try:
        yield lease_tunnel(target).find_addrs
    finally:
        return_lease(target)


def list_name_servers(target: TunnelTarget) -> NameServerList:
    """The name servers that the tunnel finds on the far side, else NAMESRV_ADDR, else 127.0.0.1:9876."""
    try:
        return lease_tunnel(target).list_name_servers() or choose_name_servers()
    finally:
        return_lease(target)


def report_forwards(observer: ForwardObserver | None) -> None:
    """Report each program that later tunnels start, and each address that they forward."""
    global _observer
    _observer = observer


def _key_of(target: TunnelTarget) -> TunnelTarget:
    """The identity of a tunnel. Clients that must not ask at a login can share a tunnel that may ask."""
    return target._replace(may_ask=False) if isinstance(target, SshTarget) else target


def _build_tunnel(target: TunnelTarget) -> Tunnel:
    # Each imported here, because a process rarely needs more than one.
    socket_path = os.environ.get(SOCKET_VARIABLE)
    if socket_path is not None:
        from nsadmin.client.connection.tunnels.shared_tunnel import SharedTunnel

        return SharedTunnel(target, socket_path)
    if isinstance(target, SshTarget):
        from nsadmin.client.connection.tunnels.ssh_tunnel import SshTunnel

        return SshTunnel(target, _observer)
    from nsadmin.client.connection.tunnels.kube_tunnel import KubeTunnel

    return KubeTunnel(target, _observer)


def _close_all() -> None:
    with _guard:
        open_tunnels = list(_tunnels.values())
        _tunnels.clear()
        _lease_counts.clear()
    for tunnel in open_tunnels:
        with suppress(OSError):
            tunnel.close()
