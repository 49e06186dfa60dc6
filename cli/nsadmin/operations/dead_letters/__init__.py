"""Dead letters: the state of replays, and counts for a preview."""
