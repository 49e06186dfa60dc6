"""RocketMQ's name-server protocol for clients and servers, and a name server."""

__version__ = "0.1.0"
