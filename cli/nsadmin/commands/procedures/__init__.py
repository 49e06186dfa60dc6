"""Commands of many steps: drain, restart, plan and apply, divergence, whatIf."""
