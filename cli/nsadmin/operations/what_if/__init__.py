"""Predicts the losses of an outage of brokers or name servers."""
