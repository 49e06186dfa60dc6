"""Static topics: places their logical queues on brokers and moves them between brokers."""
