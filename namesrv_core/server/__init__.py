"""The name server put together: the only place that has state, disk, sockets and a clock at once."""
