"""Commands about name servers and their KV config."""
