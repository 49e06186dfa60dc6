"""Commands about proxies, and about the clients of brokers and proxies."""
