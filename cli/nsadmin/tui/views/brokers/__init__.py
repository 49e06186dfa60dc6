"""The views of brokers."""
