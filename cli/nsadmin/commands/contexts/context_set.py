"""Owns context set, which creates or changes a context. It never reads secrets from the command line."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.address_map import parse_pair
from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, parse_addrs
from nsadmin.client.connection.credentials import SOURCE_FORMS
from nsadmin.client.connection.discovery import build_endpoint_url
from nsadmin.command_line.declarations import Values, command
from nsadmin.commands.contexts.saved_contexts import (
    CONTEXT_COLUMNS,
    ContextNameArgument,
    context_rows,
    save_context_change,
)
from nsadmin.console.contexts import Context, Contexts
from nsadmin.console.contexts.context_fields import (
    CONTEXT_COLORS,
    CONTEXT_KEYS,
    InvalidContextValue,
    context_to_map,
    parse_context,
    reset_context_key,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import OUTPUT_FORMATS, ResultRows
from nsadmin.console.session import Session

_SOURCE_KEYS = ("namesrvAddr", "configFile", "endpoint", "bundle")
_IDENTITY_KEYS = ("accessKey", "secretKey", "securityToken")
# Setting the key on the left clears the keys on the right.
_REPLACED_KEYS = (
    *((key, tuple(other for other in _SOURCE_KEYS if other != key)) for key in _SOURCE_KEYS),
    ("kube", ("ssh",)),
    ("ssh", ("kube",)),
    ("accessKey", ("credentials", *_IDENTITY_KEYS)),
    ("credentials", _IDENTITY_KEYS),
)


@command(columns=CONTEXT_COLUMNS, agent_refusal="it changes files of this account")
def context_set(
    session: Session,
    context_name: ContextNameArgument,
    namesrv_addr: Annotated[
        list[str] | None,
        Option(
            "-n",
            "--namesrvAddr",
            metavar="ADDRS",
            help="Its name servers, as HOST:PORT;HOST:PORT. Repeatable.",
        ),
        Values("name-servers"),
    ] = None,
    config_file: Annotated[
        str | None,
        Option(
            "--configFile", metavar="FILE", help="A properties file with the name servers, instead of -n."
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        Option("--endpoint", metavar="URL", help="A URL that returns the name servers, instead of -n."),
    ] = None,
    bundle: Annotated[
        str | None,
        Option("--bundle", metavar="FILE", help="A support bundle that is read in place of servers."),
    ] = None,
    access_key: Annotated[
        str | None,
        Option(
            "--accessKey", metavar="KEY", help="Access key for signatures. nsadmin asks for the secret key."
        ),
    ] = None,
    secret_key_stdin: Annotated[
        bool, Option("--secretKeyStdin", help="Read the secret key from a line of standard input.")
    ] = False,
    security_token_stdin: Annotated[
        bool, Option("--securityTokenStdin", help="Read a security token from the next line.")
    ] = False,
    credentials: Annotated[
        str | None,
        Option(
            "--credentials",
            metavar="SOURCE",
            help=f"Source of the credentials, instead of --accessKey: {', '.join(SOURCE_FORMS)}.",
        ),
    ] = None,
    tls: Annotated[bool | None, Option("--tls/--no-tls", help="Use TLS or plain text.")] = None,
    tls_ca: Annotated[
        str | None,
        Option(
            "--tlsCa", metavar="FILE", help="Certificate authorities to trust (PEM). Default: the system's."
        ),
    ] = None,
    tls_cert: Annotated[
        str | None, Option("--tlsCert", metavar="FILE", help="The client's certificate (PEM).")
    ] = None,
    tls_key: Annotated[str | None, Option("--tlsKey", metavar="FILE", help="The client's key (PEM).")] = None,
    tls_key_password_from: Annotated[
        str | None,
        Option(
            "--tlsKeyPasswordFrom",
            metavar="SOURCE",
            help="Source of the key's password: env:NAME or file:PATH.",
        ),
    ] = None,
    tls_key_password_stdin: Annotated[
        bool,
        Option("--tlsKeyPasswordStdin", help="Read the key's password from the next line of standard input."),
    ] = False,
    tls_server_name: Annotated[
        str | None,
        Option("--tlsServerName", metavar="NAME", help="The name that servers' certificates must have."),
    ] = None,
    verify: Annotated[
        bool | None,
        Option(
            "--verify/--insecure",
            help="Whether to verify certificates. Without verification, signing commands also need "
            "--insecure.",
        ),
    ] = None,
    address_map: Annotated[
        list[str] | None,
        Option(
            "--addressMap",
            metavar="FROM=TO",
            help="Replacement address of brokers, added to the map. Repeatable.",
        ),
    ] = None,
    proxies: Annotated[
        list[str] | None,
        Option(
            "--proxies",
            metavar="ADDRS",
            help="Its proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.",
        ),
        Values("proxies"),
    ] = None,
    kube: Annotated[
        str | None,
        Option(
            "--kube",
            metavar="[CONTEXT/]NAMESPACE",
            help="Kubernetes namespace that kubectl reaches the servers in.",
        ),
    ] = None,
    ssh: Annotated[
        str | None,
        Option("--ssh", metavar="HOST", help="SSH host that connections lead through, instead of --kube."),
    ] = None,
    journal_folders: Annotated[
        list[str] | None,
        Option("--journal", metavar="DIR", help="Folder of a name server's journal. Repeatable."),
    ] = None,
    timeout: Annotated[
        float | None, Option("--timeout", metavar="SECONDS", help="Timeout of each request on each server.")
    ] = None,
    retries: Annotated[
        int | None, Option("--retries", metavar="N", help="Retries of reads that got no answer.")
    ] = None,
    concurrency: Annotated[
        int | None, Option("--concurrency", metavar="N", help="Number of servers asked at the same time.")
    ] = None,
    default_output: Annotated[
        str | None, Option("--defaultOutput", metavar="FORMAT", help="Default output format.")
    ] = None,
    read_only: Annotated[
        bool | None, Option("--read-only/--writable", "--readOnly", help="Whether to refuse changes.")
    ] = None,
    color: Annotated[
        str | None,
        Option("--color", metavar="COLOR", help="Color of the context's name, such as red."),
        Values("|".join(CONTEXT_COLORS)),
    ] = None,
    unset_fields: Annotated[
        list[str] | None,
        Option(
            "--unset",
            metavar="FIELD",
            help="Remove this field, such as timeout or tls.caFile. Repeatable, or a list: A,B.",
        ),
    ] = None,
) -> ResultRows:
    """Create a context, or change only the fields that you pass.

    nsadmin uses the first context immediately. A field replaces its alternatives: for example, an endpoint
    replaces a list of name servers. nsadmin never reads secrets from the command line. It asks for them on a
    terminal, or reads them from standard input, one per line, with --secretKeyStdin. It saves them in the
    file of contexts, which only its owner can read.

    Examples:
        # The default name server addresses of all commands and scripts; nsadmin context use prod selects them
        nsadmin context set prod -n "127.0.0.1:9876;127.0.0.1:9877"
        # Save the addresses of a cluster, read-only and with its name in red
        nsadmin context set prod -n "127.0.0.1:9876;127.0.0.1:9877" --read-only --color red
        # Connect with TLS, and accept certificates of one's own CA
        nsadmin context set secure -n 127.0.0.1:9876 --tls --tlsCa ca.pem
        # Reach servers in Kubernetes, and sign with credentials from the environment
        nsadmin context set prod --kube rocketmq --credentials env
        # Set a timeout for all commands: 10 seconds for each request instead of 3; a read is sent again twice
        nsadmin context set prod --timeout 10 --retries 2
        # Read a support bundle in place of servers
        nsadmin context set case-1234 --bundle incident.nsbundle.zip
    """
    if context_name == "-":
        raise UsageError('invalid context name "-": it stands for the previous context')
    if default_output not in (None, *OUTPUT_FORMATS):
        raise UsageError(
            f'unknown format "{default_output}" for --defaultOutput: use {", ".join(OUTPUT_FORMATS)}'
        )
    given_values = {
        "namesrvAddr": ";".join(parse_addrs(namesrv_addr)) if namesrv_addr else None,
        "configFile": _absolute_path(config_file),
        "endpoint": build_endpoint_url(endpoint) if endpoint else None,
        "bundle": _absolute_path(bundle),
        "credentials": _credentials_source(credentials),
        "accessKey": access_key,
        "secretKey": _read_secret(session, "secret key", secret_key_stdin, access_key is not None),
        "securityToken": _read_secret(session, "security token", security_token_stdin),
        "journals": list(map(_absolute_path, journal_folders)) if journal_folders else None,
        "proxies": list(parse_addrs(proxies, DEFAULT_PROXY_PORT)) if proxies else None,
        "kube": kube,
        "ssh": ssh,
        "timeout": timeout,
        "retries": retries,
        "concurrency": concurrency,
        "output": default_output,
        "readOnly": read_only,
        "color": color,
    }
    tls_values = {
        "caFile": _absolute_path(tls_ca),
        "certFile": _absolute_path(tls_cert),
        "keyFile": _absolute_path(tls_key),
        "keyPassword": _read_secret(session, "password of the key", tls_key_password_stdin),
        "keyPasswordFrom": tls_key_password_from,
        "serverName": tls_server_name,
        "verify": verify,
    }

    def update_contexts(saved_contexts: Contexts) -> Contexts:
        context_map: dict[str, Any] = context_to_map(
            _unset_fields(saved_contexts.contexts_by_name.get(context_name, Context()), unset_fields or ())
        )
        _replace_fields(context_map, _without_missing(given_values))
        _replace_tls_fields(context_map, _without_missing(tls_values), tls)
        if address_map:
            context_map["addressMap"] = {
                **context_map.get("addressMap", {}),
                **dict(map(parse_pair, address_map)),
            }
        changed = saved_contexts.with_context(context_name, _read_context(context_name, context_map))
        return changed if changed.current_name else changed.with_current(context_name)

    saved_contexts = save_context_change(update_contexts)
    current_name = saved_contexts.current_name
    if current_name != context_name:
        selection = quote_command("context", "use", context_name)
        session.write_remark(
            f"the current context is still {current_name}: {selection} selects {context_name}"
        )
    return context_rows(saved_contexts, [context_name])


def _absolute_path(path_text: str | None) -> str | None:
    """Make a path absolute: on the command line it is relative to the working directory."""
    return path_text and str(Path(path_text).expanduser().absolute())


def _credentials_source(source_text: str | None) -> str | None:
    """The source of credentials, with an absolute path."""
    if source_text is None:
        return None
    kind, _, name = source_text.partition(":")
    if source_text != "env" and (kind not in ("file", "tools", "keyring") or not name):
        # The message does not repeat the value: an operator may have typed a secret here.
        raise UsageError(f"invalid value for --credentials: use one of {', '.join(SOURCE_FORMS)}")
    return f"{kind}:{_absolute_path(name)}" if kind in ("file", "tools") else source_text


def _read_secret(session: Session, secret_name: str, is_piped: bool, is_wanted: bool = False) -> str | None:
    return session.ask_secret(secret_name, is_piped) if is_piped or is_wanted else None


def _without_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _unset_fields(context: Context, keys: Iterable[str]) -> Context:
    for key in keys:
        try:
            context = reset_context_key(context, key)
        except KeyError:
            raise UsageError(f'unknown field "{key}" for --unset: use {", ".join(CONTEXT_KEYS)}') from None
    return context


def _replace_fields(context_map: dict[str, Any], new_values: Mapping[str, Any]) -> None:
    """Put values into a context's map, and clear the keys that they exclude."""
    for key, replaced_keys in _REPLACED_KEYS:
        if key in new_values:
            for replaced_key in replaced_keys:
                context_map.pop(replaced_key, None)
    context_map.update(new_values)


def _replace_tls_fields(
    context_map: dict[str, Any], new_values: Mapping[str, Any], wants_tls: bool | None
) -> None:
    if wants_tls is False:
        if new_values:
            raise UsageError("--no-tls excludes the other TLS options: pass only one of them")
        context_map.pop("tls", None)
    elif wants_tls or new_values:
        tls_before = dict(context_map.get("tls", {}))
        if {"keyPassword", "keyPasswordFrom"} & new_values.keys():
            tls_before = {k: v for k, v in tls_before.items() if not k.startswith("keyPassword")}
        context_map["tls"] = {**tls_before, **new_values}


def _read_context(context_name: str, context_map: Mapping[str, Any]) -> Context:
    try:
        context = parse_context(context_map)
    except InvalidContextValue as error:
        raise UsageError(f"invalid context: {error}") from None
    if not any(key in context_map for key in _SOURCE_KEYS):
        raise UsageError(
            f'the context "{context_name}" has no name servers: run nsadmin context set '
            f"{context_name} -n HOST:PORT"
        )
    return context
