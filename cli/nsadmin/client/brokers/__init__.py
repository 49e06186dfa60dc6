"""What brokers and controllers are asked about themselves."""
