"""Brokers, clusters and controllers: status, settings, registrations, routes, replication, maintenance."""
