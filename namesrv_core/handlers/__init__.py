"""Requests to answers: (state, request, channel, now) in, an answer and the events out. Pure."""
