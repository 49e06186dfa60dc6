"""What every name server does: how soon it sees something, and which causes its events then have."""

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS

AT_ONCE_SECONDS = 1.0
"""Seconds within which something is seen that is seen at once."""
NEXT_HEARTBEAT_SECONDS = HEARTBEAT_PERIOD_SECONDS + 6
"""Until the next heartbeat, also where one name server has to be waited for."""

SCAN_SECONDS = 6.0
HEARTBEAT_TIMEOUT_SECONDS = 120.0
GAP_SECONDS = HEARTBEAT_TIMEOUT_SECONDS * 3 / 4

REGISTRATION_CAUSES = ("REGISTER_BROKER",)
SILENCE_CAUSE = "no heartbeat"
