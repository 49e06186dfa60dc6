"""The name server: the only package that combines state, disk, sockets and a clock."""
