"""What the TUI knows about a cluster: poll records folded into one model."""
