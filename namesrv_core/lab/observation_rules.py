"""The rules that hold for every name server: deadlines of events, and their possible causes."""

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS

AT_ONCE_SECONDS = 1.0
"""The deadline in seconds of an immediate event."""
NEXT_HEARTBEAT_SECONDS = HEARTBEAT_PERIOD_SECONDS + 6
"""The deadline in seconds of the next heartbeat, including the timeout of a dead name server."""

SCAN_SECONDS = 6.0
HEARTBEAT_TIMEOUT_SECONDS = 120.0
GAP_SECONDS = HEARTBEAT_TIMEOUT_SECONDS * 3 / 4

REGISTRATION_CAUSES = ("REGISTER_BROKER",)
SILENCE_CAUSE = "no heartbeat"
