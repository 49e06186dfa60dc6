"""What name servers are asked about themselves: settings, KV config, tables."""
