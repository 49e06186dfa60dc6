"""Sockets: streams of commands over asyncio for the server and the fleet, and plain calls for the client."""
