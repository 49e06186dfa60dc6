"""Static topics: their queues laid out on brokers, and moved from one to another."""
