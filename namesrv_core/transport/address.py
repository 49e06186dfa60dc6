"""Server addresses in text form: host:port, [v6]:port."""

_NO_HOST_CHARACTERS = frozenset(" /[]@")


def split_addr(server_addr: str) -> tuple[str, int]:
    """Split "host:port" or "[v6]:port". Raises ValueError for anything else."""
    host, _, port = server_addr.rpartition(":")
    if not host or not (port.isascii() and port.isdigit()) or not 0 < int(port) < 65536:
        raise ValueError(f'invalid address "{server_addr}": write HOST:PORT')
    return (host[1:-1] if host[0] == "[" and host[-1] == "]" else host), int(port)


def split_server_addr(server_addr: str) -> tuple[str, int] | None:
    """Split an address that a server sent, which may be any text. None for anything but HOST:PORT."""
    try:
        host, port = split_addr(server_addr)
    except ValueError:
        return None
    return (host, port) if host.isprintable() and not _NO_HOST_CHARACTERS.intersection(host) else None


def explain_invalid_addr(server_addr: str) -> str:
    return f'invalid address "{server_addr}": if a broker registered it, set its brokerIP1'


def split_listen_text(listen_text: str) -> tuple[str, int]:
    """Split "host:port", "[v6]:port" or "port", which means 127.0.0.1. Port 0 stands for any free port.

    Raises ValueError for anything else.
    """
    host, _, port = listen_text.rpartition(":") if ":" in listen_text else ("127.0.0.1", "", listen_text)
    if not host or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ValueError(f'invalid address "{listen_text}": write PORT or HOST:PORT')
    return (host[1:-1] if host[0] == "[" and host[-1] == "]" else host), int(port)


def join_addr(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
