"""Both ends of RocketMQ's name-server wire, and a name server."""

__version__ = "0.1.0"
