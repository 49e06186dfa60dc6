"""Connections that lead through programs of the operator: `ssh` and `kubectl`."""
