"""Foresees what would be lost if brokers or name servers were gone."""
