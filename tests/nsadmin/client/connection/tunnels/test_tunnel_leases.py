"""Tunnels that the clients of a process share."""

import pytest

from namesrv_core.transport.exchange import CallError
from nsadmin.client.connection.tunnels.tunnel_leases import lease_tunnel, return_lease, use_tunnel
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget


def test_equal_targets_share_a_tunnel_until_the_last_lease_ends() -> None:
    target = SshTarget("jump")
    first, second = lease_tunnel(target), lease_tunnel(SshTarget("jump"))
    assert first is second
    assert lease_tunnel(SshTarget("other")) is not first
    return_lease(SshTarget("other"))
    return_lease(target)
    third = lease_tunnel(target)
    assert third is first
    return_lease(target)
    return_lease(target)
    with pytest.raises(CallError, match="ssh jump: the tunnel is closed"):
        first.find_addrs("a:1")
    assert lease_tunnel(target) is not first
    return_lease(target)


def test_without_a_target_connections_are_direct() -> None:
    with use_tunnel(None) as find_addrs:
        assert find_addrs is None
    with use_tunnel(KubeTarget("mq")) as find_addrs:
        assert find_addrs is not None
