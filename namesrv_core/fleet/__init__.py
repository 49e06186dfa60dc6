"""Simulated brokers that speak the real protocol to any name server, and a fleet of them to look at."""
