"""What is known of clusters by name, as records."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from nsadmin.client.connection.access_options import Credentials
from nsadmin.likeness import like, meant


class BadConfig(Exception):
    """The file of contexts cannot be used, or has no such context; the text is one line that says why."""


class ContextTls(NamedTuple):
    """TLS as a context has it; paths are relative to the folder of the file of contexts.

    The password of the key is `key_password`, or where `key_password_from` says: env:NAME or file:PATH.
    """

    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    key_password: str | None = None
    key_password_from: str | None = None
    server_name: str | None = None
    verify: bool = True

    def __repr__(self) -> str:
        return f"ContextTls({self.ca_file!r}, {self.cert_file!r}, {self.key_file!r}, ...)"


class Context(NamedTuple):
    """What is known of one cluster; None is left to the environment and to defaults.

    One of `namesrv_addr`, `config_file` (a properties file) and `endpoint` says how name servers are found.
    `credentials` are these, or a source: env, file:PATH, tools:PATH, keyring:NAME. `timeout` is in seconds.
    `journals` are folders where its name servers write theirs, relative to that of the file of contexts.
    In a `read_only` context every change is refused. `color` is what its name is shown in.
    """

    namesrv_addr: str | None = None
    config_file: str | None = None
    endpoint: str | None = None
    credentials: Credentials | str | None = None
    tls: ContextTls | None = None
    timeout: float | None = None
    retries: int | None = None
    concurrency: int | None = None
    output: str | None = None
    address_map: tuple[tuple[str, str], ...] = ()
    journals: tuple[str, ...] = ()
    read_only: bool = False
    color: str | None = None

    @property
    def has_secrets(self) -> bool:
        """Whether a secret stands in the file itself."""
        return isinstance(self.credentials, Credentials) or bool(self.tls and self.tls.key_password)


class Contexts(NamedTuple):
    """All contexts by name, the one in use, and the one that was in use before."""

    by_name: Mapping[str, Context]
    current: str | None = None
    previous: str | None = None

    def named(self, name: str) -> Context:
        """BadConfig, with the names there are, for an unknown one."""
        found = self.by_name.get(name)
        if found is None:
            known = (
                ", ".join(sorted(self.by_name)) or "none yet: nsadmin contextSet NAME -n HOST:PORT makes one"
            )
            raise BadConfig(f"no context {name!r}{_meant(name, self.by_name)}; there are: {known}")
        return found

    def using(self, name: str) -> "Contexts":
        """With another one in use; "-" is the one of before."""
        if name == "-":
            if self.previous is None:
                raise BadConfig("there is no context of before")
            name = self.previous
        self.named(name)
        if name == self.current:
            return self
        return self._replace(current=name, previous=self.current)

    def with_context(self, name: str, context: Context) -> "Contexts":
        return self._replace(by_name={**self.by_name, name: context})

    def without(self, name: str) -> "Contexts":
        self.named(name)
        return Contexts(
            {other: context for other, context in self.by_name.items() if other != name},
            None if self.current == name else self.current,
            None if self.previous == name else self.previous,
        )


def _meant(name: str, known: Iterable[str]) -> str:
    near = like(name, known)
    return f": {meant(near)}" if near else ""
