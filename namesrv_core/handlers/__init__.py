"""The request handlers: each takes (state, request, channel_id, now_ms), returns answer and events. Pure."""
