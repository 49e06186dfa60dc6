"""Access, the connection options of a client: timeout, retries, credentials, TLS and address map."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from nsadmin.client.connection.address_map import AddressMap
    from nsadmin.client.connection.answer_source import AnswerSource
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget


class Credentials(NamedTuple):
    """An ACL identity that signs every request. Its repr never shows the secrets.

    Attributes:
        access_key: The access key (5.x: the user name).
        secret_key: The secret key (5.x: the password).
        security_token: An STS token, sent with each request. Default: none.
    """

    access_key: str
    secret_key: str
    security_token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials({self.access_key!r}, ...)"


class Tls(NamedTuple):
    """TLS options for the connections to every server. Files are PEM.

    Attributes:
        ca_file: The trusted certificate authorities. Default: those of the system.
        cert_file: The client's certificate. Default: none.
        key_file: The client's private key. Default: in `cert_file`.
        key_password: The password of the private key. The repr never shows it.
        server_name: The name that server certificates must contain. Default: the host of the connection.
        verify: Verify server certificates. If False, the client accepts any certificate, and a false server
            can send signed requests again to a real one.
    """

    ca_file: "Path | None" = None
    cert_file: "Path | None" = None
    key_file: "Path | None" = None
    key_password: str | None = None
    server_name: str | None = None
    verify: bool = True

    def __repr__(self) -> str:
        field_values = zip(self._fields, self, strict=True)
        shown_fields = (f"{name}={value!r}" for name, value in field_values if name != "key_password")
        return f"Tls({', '.join(shown_fields)})"


class Access(NamedTuple):
    """The connection options of a client.

    Attributes:
        timeout: Seconds for each request on each server.
        retries: Further attempts of a read that could not be sent or got no answer, after pauses of 0.1,
            0.2, 0.4, 0.8 and then 1 s. A change is never retried.
        concurrency: The maximum number of servers that the client talks to at the same time.
        credentials: The ACL identity that signs requests. Default: unsigned.
        tls: TLS options. Default: plain text.
        address_map: Pairs of (broker address, host or network) and (address to connect to); see AddressMap.
        proxies: The remoting ports of proxies, "host:port". Proxies in cluster mode with consumers are found
            without it.
        answers: Answers the requests in place of the servers. Default: the servers answer.
        tunnel: A KubeTarget or SshTarget that all connections lead through. Default: direct connections.
    """

    timeout: float = 3.0
    retries: int = 0
    concurrency: int = 64
    credentials: Credentials | None = None
    tls: Tls | None = None
    address_map: tuple[tuple[str, str], ...] = ()
    proxies: tuple[str, ...] = ()
    answers: "AnswerSource | None" = None
    tunnel: "TunnelTarget | None" = None

    @property
    def identity(self) -> str:
        """Whether requests are signed, and whether connections use TLS: "signed tls", "unsigned plain"."""
        signing = "unsigned" if self.credentials is None else "signed"
        return f"{signing} {'plain' if self.tls is None else 'tls' if self.tls.verify else 'unverified-tls'}"

    def build_address_map(self) -> "AddressMap | None":
        """Build the function that maps an address to the address to connect to; None without a map.

        Raises:
            BadAddress: The address map is invalid.
        """
        if not self.address_map:
            return None
        # Imported here because it loads the ipaddress module, which most commands do not need.
        from nsadmin.client.connection.address_map import AddressMap

        return AddressMap(self.address_map)


DEFAULT_ACCESS = Access()
