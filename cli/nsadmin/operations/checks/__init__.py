"""Monitoring checks, one per file: `observe_*` reads the facts, the pure `judge_*` decides the state."""
