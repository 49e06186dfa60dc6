"""Installations whose name servers need not run."""

from collections.abc import Sequence
from pathlib import Path

from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget
from nsadmin.operations.installation import Installation


def make_installation(
    state_home: Path,
    *addrs: str,
    brokers: Sequence[str] = (),
    tunnel: TunnelTarget | None = None,
) -> Installation:
    """An installation with these name servers, which list these brokers, by default one of their own."""
    installation = Installation(AdminClient(addrs, access=Access(tunnel=tunnel)), state_home)
    installation._known_brokers = tuple(brokers) or (f"broker of {addrs[0]}",)
    return installation
