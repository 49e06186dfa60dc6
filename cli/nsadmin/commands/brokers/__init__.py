"""Commands about brokers, controllers and containers."""
