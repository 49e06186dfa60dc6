"""contextSet: creates or changes a context from options; secrets are never read from the command line."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from nsadmin.client.address_map import pair
from nsadmin.client.addresses import parse_addrs
from nsadmin.client.credentials import SOURCES
from nsadmin.client.discovery import endpoint_url
from nsadmin.commands.contexts import COLUMNS, Name, kept, rows_of
from nsadmin.commands.declared import Option, shows
from nsadmin.contexts import Context, Contexts
from nsadmin.contexts.fields import COLORS, KEYS, Wrong, read, without, written
from nsadmin.diagnostics import UsageError
from nsadmin.output import FORMATS, Rows
from nsadmin.session import Session

_WAYS = ("namesrvAddr", "configFile", "endpoint")
_IDENTITY = ("accessKey", "secretKey", "securityToken")
# Setting the key on the left clears the keys on the right.
_INSTEAD = (
    *((way, tuple(other for other in _WAYS if other != way)) for way in _WAYS),
    ("accessKey", ("credentials", *_IDENTITY)),
    ("credentials", _IDENTITY),
)


@shows(COLUMNS)
def context_set(
    session: Session,
    name: Name,
    namesrv_addr: Annotated[
        list[str] | None,
        Option(
            "-n", "--namesrvAddr", metavar="LIST", help="Its name servers. Repeatable.", values="name-servers"
        ),
    ] = None,
    config_file: Annotated[
        str | None, Option("--configFile", metavar="FILE", help="Instead: a properties file that names them.")
    ] = None,
    endpoint: Annotated[
        str | None, Option("--endpoint", metavar="URL", help="Instead: where HTTP tells them.")
    ] = None,
    access_key: Annotated[
        str | None,
        Option("--accessKey", metavar="KEY", help="Who signs; the secret key is asked for, or piped in."),
    ] = None,
    secret_key_stdin: Annotated[
        bool, Option("--secretKeyStdin", help="Read the secret key from a line of standard input.")
    ] = False,
    security_token_stdin: Annotated[
        bool, Option("--securityTokenStdin", help="Read a security token from the next line.")
    ] = False,
    credentials: Annotated[
        str | None,
        Option("--credentials", metavar="SOURCE", help=f"Instead: where these are: {', '.join(SOURCES)}."),
    ] = None,
    tls: Annotated[
        bool | None, Option("--tls/--no-tls", help="Encrypted connections, or plain ones.")
    ] = None,
    tls_ca: Annotated[
        str | None, Option("--tlsCa", metavar="FILE", help="Authorities to trust (PEM), not the system's.")
    ] = None,
    tls_cert: Annotated[
        str | None, Option("--tlsCert", metavar="FILE", help="The client's own certificate (PEM).")
    ] = None,
    tls_key: Annotated[str | None, Option("--tlsKey", metavar="FILE", help="Its key (PEM).")] = None,
    tls_key_password_from: Annotated[
        str | None,
        Option("--tlsKeyPasswordFrom", metavar="SOURCE", help="What opens the key: env:NAME or file:PATH."),
    ] = None,
    tls_key_password_stdin: Annotated[
        bool, Option("--tlsKeyPasswordStdin", help="Or read that from the next line.")
    ] = False,
    tls_server_name: Annotated[
        str | None, Option("--tlsServerName", metavar="NAME", help="What certificates have to name.")
    ] = None,
    verify: Annotated[
        bool | None, Option("--verify/--insecure", help="Whether certificates are checked.")
    ] = None,
    address_map: Annotated[
        list[str] | None,
        Option("--addressMap", metavar="FROM=TO", help="Where to reach brokers; added. Repeatable."),
    ] = None,
    journal: Annotated[
        list[str] | None,
        Option("--journal", metavar="DIR", help="Folder of a name server's journal. Repeatable."),
    ] = None,
    timeout: Annotated[
        float | None, Option("--timeout", metavar="SECONDS", help="For each request on each server.")
    ] = None,
    retries: Annotated[
        int | None, Option("--retries", metavar="N", help="Of what got no answer and changes nothing.")
    ] = None,
    concurrency: Annotated[
        int | None, Option("--concurrency", metavar="N", help="Servers asked at a time.")
    ] = None,
    default_output: Annotated[
        str | None, Option("--defaultOutput", metavar="FORMAT", help="How to write rows.")
    ] = None,
    read_only: Annotated[
        bool | None, Option("--readOnly/--writable", help="Whether every change is refused.")
    ] = None,
    color: Annotated[
        str | None,
        Option("--color", metavar="COLOR", help="To show its name in, say red.", values="|".join(COLORS)),
    ] = None,
    unset: Annotated[
        list[str] | None,
        Option("--unset", metavar="FIELD", help="Forget this, such as timeout or tls.caFile. Repeatable."),
    ] = None,
) -> Rows:
    """Make a context, or change of it what is named. The first one is in use at once.

    What is named in the place of something else, such as an endpoint for a list of name servers, replaces
    it. Secrets never stand on the command line: they are asked for on a terminal, and read from standard
    input with --secretKeyStdin, a line for each. They are kept in the file of contexts, which nobody else
    may read.

    Examples:
        # A cluster whose settings nobody changes by mistake, its name in red
        nsadmin contextSet prod -n "127.0.0.1:9876;127.0.0.1:9877" --readOnly --color red
        # Sign with what the environment has, over TLS
        nsadmin contextSet prod --credentials env --tls
        # Brokers in a network that is reached through a gateway
        nsadmin contextSet prod --addressMap 10.0.0.0/8=gateway.example:10911
    """
    if name == "-":
        raise UsageError('contextSet: "-" cannot be a name: it is the context of before')
    if default_output not in (None, *FORMATS):
        raise UsageError(f"--defaultOutput {default_output} is unknown; there are: {', '.join(FORMATS)}")
    given = {
        "namesrvAddr": ";".join(parse_addrs(namesrv_addr)) if namesrv_addr else None,
        "configFile": _path(config_file),
        "endpoint": endpoint_url(endpoint) if endpoint else None,
        "credentials": _source(credentials),
        "accessKey": access_key,
        "secretKey": _secret(session, "secret key", secret_key_stdin, access_key is not None),
        "securityToken": _secret(session, "security token", security_token_stdin),
        "journals": [_path(folder) for folder in journal] if journal else None,
        "timeout": timeout,
        "retries": retries,
        "concurrency": concurrency,
        "output": default_output,
        "readOnly": read_only,
        "color": color,
    }
    of_tls = {
        "caFile": _path(tls_ca),
        "certFile": _path(tls_cert),
        "keyFile": _path(tls_key),
        "keyPassword": _secret(session, "password of the key", tls_key_password_stdin),
        "keyPasswordFrom": tls_key_password_from,
        "serverName": tls_server_name,
        "verify": verify,
    }

    def change(found: Contexts) -> Contexts:
        item: dict[str, Any] = written(_unset(found.by_name.get(name, Context()), unset or ()))
        _replace(item, _present(given))
        _replace_tls(item, _present(of_tls), tls)
        if address_map:
            item["addressMap"] = {**item.get("addressMap", {}), **dict(map(pair, address_map))}
        changed = found.with_context(name, _checked(name, item))
        return changed if changed.current else changed.using(name)

    return rows_of(kept(change), [name])


def _path(text: str | None) -> str | None:
    """Make a path absolute: on the command line it is relative to the working directory."""
    return text and str(Path(text).expanduser().absolute())


def _source(source: str | None) -> str | None:
    """The source of credentials, with an absolute path."""
    if source is None:
        return None
    kind, _, name = source.partition(":")
    if (source != "env" and kind not in ("file", "tools", "keyring")) or (source != "env" and not name):
        # The message does not repeat the value: an operator may have typed a secret here.
        raise UsageError(f"--credentials has to be one of {', '.join(SOURCES)}")
    return f"{kind}:{_path(name)}" if kind in ("file", "tools") else source


def _secret(session: Session, what: str, piped: bool, wanted: bool = False) -> str | None:
    return session.secret(what, piped) if piped or wanted else None


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _unset(context: Context, keys: Iterable[str]) -> Context:
    for key in keys:
        try:
            context = without(context, key)
        except KeyError:
            raise UsageError(f"--unset {key} is unknown; there are: {', '.join(KEYS)}") from None
    return context


def _replace(item: dict[str, Any], values: Mapping[str, Any]) -> None:
    """Put values into a context's map, and clear the keys that they exclude."""
    for one, others in _INSTEAD:
        if one in values:
            for other in others:
                item.pop(other, None)
    item.update(values)


def _replace_tls(item: dict[str, Any], values: Mapping[str, Any], wanted: bool | None) -> None:
    if wanted is False:
        if values:
            raise UsageError("--no-tls and other options of TLS exclude each other: leave one out")
        item.pop("tls", None)
    elif wanted or values:
        before = dict(item.get("tls", {}))
        if {"keyPassword", "keyPasswordFrom"} & values.keys():
            before = {key: value for key, value in before.items() if not key.startswith("keyPassword")}
        item["tls"] = {**before, **values}


def _checked(name: str, item: Mapping[str, Any]) -> Context:
    try:
        context = read(item)
    except Wrong as error:
        raise UsageError(f"contextSet: {error}") from None
    if not any(key in item for key in _WAYS):
        raise UsageError(
            f"contextSet: {name} needs name servers; type: nsadmin contextSet {name} -n HOST:PORT"
        )
    return context
