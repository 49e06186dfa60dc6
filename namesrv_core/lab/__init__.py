"""Name servers and brokers in one process, faults applied to them, and the events expected from each."""
