"""Rebalance: queue counts per topic and broker that level the load of a cluster, and their execution."""
