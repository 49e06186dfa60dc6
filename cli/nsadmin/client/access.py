"""Access: how servers are reached; patience, who asks, TLS, and addresses that are not what they seem."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path


class Credentials(NamedTuple):
    """An ACL identity, with which every request is signed. A representation never shows a secret."""

    access_key: str
    secret_key: str
    security_token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r}, ...)"


class Tls(NamedTuple):
    """TLS to every server; files are PEM.

    `ca_file` is whom to trust, the system's authorities if None. `cert_file` and `key_file` are this
    client's own, the key perhaps part of the certificate's file; `key_password` opens it and is never shown.
    `server_name` is what certificates have to name, the host that is connected to if None. Without `verify`
    anybody's certificate is taken.
    """

    ca_file: "Path | None" = None
    cert_file: "Path | None" = None
    key_file: "Path | None" = None
    key_password: str | None = None
    server_name: str | None = None
    verify: bool = True

    def __repr__(self) -> str:
        values = zip(self._fields, self, strict=True)
        shown = (f"{name}={value!r}" for name, value in values if name != "key_password")
        return f"Tls({', '.join(shown)})"


class Access(NamedTuple):
    """`timeout` is in seconds, for each request on each server; `concurrency` is servers at a time.

    A request that changes nothing and could not be sent or was not answered is tried `retries` times more,
    after pauses of 0.1, 0.2, 0.4, 0.8 and then 1 s: it ends within (retries + 1) * timeout and the pauses.
    `address_map` has pairs: an address or a network of brokers, and where to go instead.
    """

    timeout: float = 3.0
    retries: int = 0
    concurrency: int = 64
    credentials: Credentials | None = None
    tls: Tls | None = None
    address_map: tuple[tuple[str, str], ...] = ()


PLAIN = Access()
