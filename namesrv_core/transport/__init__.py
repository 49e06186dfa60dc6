"""Network connections: asyncio streams for the server and the fleet, and a selector client for nsadmin."""
