"""From an address to an answer: discovery, credentials, connections, retries, response bodies."""
