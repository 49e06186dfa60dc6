"""Messages: queries, reading queues, sending, traces, delivery."""
