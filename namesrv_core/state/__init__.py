"""The state of a name server. Pure: time is the argument `now_ms`, and functions return changes as events."""
