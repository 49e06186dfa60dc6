"""TODO brokers."""
