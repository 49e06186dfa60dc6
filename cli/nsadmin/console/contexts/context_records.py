"""Owns the records of contexts."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.did_you_mean import did_you_mean, find_similar_names


class InvalidContextsError(Exception):
    """The file of contexts is invalid, or does not have the context. The text is one line with the reason."""


class ContextTls(NamedTuple):
    """TLS settings of a context; paths are relative to the folder of the file of contexts.

    The password of the key is `key_password`, or comes from `key_password_from`: env:NAME or file:PATH.
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
    """The settings of one cluster; None leaves a setting to the environment and to defaults.

    One of `namesrv_addr`, `config_file` (a properties file) and `endpoint` names the source of name servers.
    Instead, `bundle` is a support bundle that is read in place of servers.
    `credentials` are credentials, or a source: env, file:PATH, tools:PATH, keyring:NAME. `timeout` is in
    seconds. `proxies` are the remoting ports of proxies. `kube` is a namespace of
    Kubernetes and `ssh` a host that connections lead through. `journals` are folders of the name servers'
    journals, relative to the folder of the file of contexts. A `read_only` context refuses every change.
    `color` is the color of its name.
    """

    namesrv_addr: str | None = None
    config_file: str | None = None
    endpoint: str | None = None
    bundle: str | None = None
    credentials: Credentials | str | None = None
    tls: ContextTls | None = None
    timeout: float | None = None
    retries: int | None = None
    concurrency: int | None = None
    output: str | None = None
    address_map: tuple[tuple[str, str], ...] = ()
    proxies: tuple[str, ...] = ()
    kube: str | None = None
    ssh: str | None = None
    journals: tuple[str, ...] = ()
    read_only: bool = False
    color: str | None = None

    @property
    def has_secrets(self) -> bool:
        """Whether the file itself contains a secret."""
        return isinstance(self.credentials, Credentials) or bool(self.tls and self.tls.key_password)


class Contexts(NamedTuple):
    """All contexts by name, the one in use, and the previous one."""

    contexts_by_name: Mapping[str, Context]
    current_name: str | None = None
    previous_name: str | None = None

    def require_context(self, context_name: str) -> Context:
        """Return the context of that name; InvalidContextsError, with the known names, if it is missing."""
        found_context = self.contexts_by_name.get(context_name)
        if found_context is None:
            if not self.contexts_by_name:
                raise InvalidContextsError(
                    f'no context "{context_name}": run nsadmin context set {context_name} -n HOST:PORT '
                    "to save it"
                )
            near_names = find_similar_names(context_name, self.contexts_by_name)
            choice = f": choose from {', '.join(sorted(self.contexts_by_name))}"
            hint = f"; {did_you_mean(near_names)}" if near_names else choice
            raise InvalidContextsError(f'no context "{context_name}"{hint}')
        return found_context

    def with_current(self, context_name: str) -> "Contexts":
        """Return a copy with another context in use; "-" is the previous one."""
        if context_name == "-":
            if self.previous_name is None:
                raise InvalidContextsError("there is no previous context: run nsadmin context use NAME")
            context_name = self.previous_name
        self.require_context(context_name)
        if context_name == self.current_name:
            return self
        return self._replace(current_name=context_name, previous_name=self.current_name)

    def with_context(self, context_name: str, context: Context) -> "Contexts":
        return self._replace(contexts_by_name={**self.contexts_by_name, context_name: context})

    def without_context(self, context_name: str) -> "Contexts":
        self.require_context(context_name)
        return Contexts(
            {name: context for name, context in self.contexts_by_name.items() if name != context_name},
            None if self.current_name == context_name else self.current_name,
            None if self.previous_name == context_name else self.previous_name,
        )
