"""Addresses of servers, as they are written: host:port, [v6]:port."""


def split_addr(addr: str) -> tuple[str, int]:
    """Host and port of "host:port" or "[v6]:port"; ValueError for anything else."""
    host, _, port = addr.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f"{addr!r} is no host:port")
    return (host[1:-1] if host[0] == "[" and host[-1] == "]" else host), int(port)


def split_listening(text: str) -> tuple[str, int]:
    """Host and port of "host:port", "[v6]:port", or "port" of this machine alone; port 0 is a free one.

    ValueError for anything else.
    """
    host, _, port = text.rpartition(":") if ":" in text else ("127.0.0.1", "", text)
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f"{text!r} is neither PORT nor HOST:PORT")
    return (host[1:-1] if host[0] == "[" and host[-1] == "]" else host), int(port)


def join_addr(host: str, port: int) -> str:
    """The address of a host and a port, in brackets where the host is an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
