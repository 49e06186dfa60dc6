"""Bounded load on a cluster: a test topic, runs of messages, and figures about them."""
