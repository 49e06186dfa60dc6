"""The TUI's knowledge of a cluster: poll records folded into one model."""
