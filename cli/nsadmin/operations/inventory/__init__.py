"""The inventory of a cluster: the brokers that should be registered, so that a missing one is noticed."""
