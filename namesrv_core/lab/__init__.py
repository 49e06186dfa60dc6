"""Name servers and brokers in one process, faults that are done to them, and what ought to be seen of it."""
