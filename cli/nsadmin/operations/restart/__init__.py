"""The rolling restart: the brokers of a cluster are stopped and started, one after another."""
