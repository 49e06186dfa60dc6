"""Tunnels of the program that started a command."""

import pytest

from namesrv_core.transport.exchange import CallError
from nsadmin.client.connection.tunnels.shared_tunnel import SharedTunnel, decode_target, encode_target
from nsadmin.client.connection.tunnels.tunnel_leases import SOCKET_VARIABLE, lease_tunnel, return_lease
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget, TunnelTarget


@pytest.mark.parametrize(
    "target", [SshTarget("ops@jump"), SshTarget("jump", 2222), KubeTarget("mq"), KubeTarget("mq", "prod")]
)
def test_a_target_is_encoded_for_json(target: TunnelTarget) -> None:
    assert decode_target(encode_target(target)) == target


def test_the_other_program_does_not_ask_on_the_terminal_of_this_command() -> None:
    assert decode_target(encode_target(SshTarget("jump", may_ask=True))) == SshTarget("jump")


def test_the_variable_makes_a_command_use_the_tunnels_of_the_other_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(SOCKET_VARIABLE, "/nonexistent/tunnels")
    tunnel = lease_tunnel(KubeTarget("mq"))
    return_lease(KubeTarget("mq"))
    assert isinstance(tunnel, SharedTunnel)
    with pytest.raises(CallError) as raised:
        tunnel.find_addrs("a:1")
    assert str(raised.value) == (
        "a:1: kubectl mq: the program that opened the tunnel has ended: run the command again"
    )
