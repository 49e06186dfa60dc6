"""The rolling restart, which stops and starts the brokers of a cluster one after another."""
