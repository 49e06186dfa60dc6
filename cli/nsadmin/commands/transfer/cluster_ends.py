"""Owns --from and --to, which name the two clusters of a transfer."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

from typer import Option

from namesrv_core.errors import RocketMQError
from nsadmin.client.advised_command import quote_command
from nsadmin.client.connection.addresses import BadAddress, parse_addrs
from nsadmin.command_line.declarations import Values
from nsadmin.console import contexts, settings
from nsadmin.console.exit_codes import ReadOnlyContextError, UsageError
from nsadmin.console.session import Session, SharedOptions
from nsadmin.operations.transfer.topic_plan import TransferClusters

CLUSTER_VALUE_HELP = "a context, or name servers (HOST:PORT)"
SourceOption = Annotated[
    str, Option("--from", metavar="CONTEXT", help=f"The source: {CLUSTER_VALUE_HELP}."), Values("contexts")
]
TargetOption = Annotated[
    str, Option("--to", metavar="CONTEXT", help=f"The target: {CLUSTER_VALUE_HELP}."), Values("contexts")
]


def refuse_cluster_names(
    session: Session,
    command_words: Sequence[str],
    ends: Sequence[tuple[str, str]],
    clusters: Sequence[str | None],
) -> None:
    """Raise UsageError if an end is a cluster of the current name servers; name the command that is meant.

    `ends` have the option and its value, and `clusters` the values of --from-cluster and --to-cluster.
    """
    known_contexts = contexts.load_contexts(contexts.contexts_path()).contexts_by_name
    names = {text for _, text in ends if text not in known_contexts and ":" not in text}
    try:
        names = names and names & set(session.admin.clusters.get_info().cluster_names)
    except RocketMQError:
        return
    if not names:
        return
    here = session.options.own_context or ";".join(session.namesrv_addrs)
    words = [*command_words]
    for (flag, text), cluster in zip(ends, clusters, strict=True):
        chosen = text if text in names else cluster
        words += [flag, here if text in names else text, *([f"{flag}-cluster", chosen] if chosen else [])]
    verb = "is a cluster" if len(names) == 1 else "are clusters"
    raise UsageError(
        f"{' and '.join(sorted(names))} {verb}, and --from and --to take {CLUSTER_VALUE_HELP}: run "
        f"{quote_command(*words)}"
    )


@contextmanager
def open_clusters(
    session: Session, command_name: str, source_text: str, target_text: str
) -> Iterator[TransferClusters]:
    """Open clients of both clusters. The source is only read.

    Raises:
        UsageError: An option is invalid.
        ReadOnlyContextError: The context of the target is read-only.
    """
    source_options = resolve_cluster(session, command_name, "--from", source_text)
    target_options = resolve_cluster(session, command_name, "--to", target_text)
    if target_options.read_only and not session.is_dry_run:
        raise ReadOnlyContextError(
            f"{command_name} changes the target, and the context {target_options.context} is read-only: use "
            f"another context, or run nsadmin context set {target_options.context} --writable"
        )
    with (
        session.open_other_client(source_options.namesrv_addr, source_options.access) as source,
        session.open_other_client(
            target_options.namesrv_addr, target_options.access, may_change=True
        ) as target,
    ):
        yield TransferClusters(source, target, source_text, target_text)


def resolve_cluster(
    session: Session, command_name: str, option_flag: str, cluster_text: str
) -> SharedOptions:
    """Resolve the value of an option: a context with its access, or name servers with that of the session."""
    known_contexts = contexts.load_contexts(contexts.contexts_path()).contexts_by_name
    if cluster_text in known_contexts:
        setting_values: Any = defaultdict(
            lambda: None, context=cluster_text, allows_unverified=session.shared_values.get("insecure")
        )
        return settings.resolve_options(setting_values)
    try:
        if ":" in cluster_text:
            return session.options._replace(
                namesrv_addr=parse_addrs([cluster_text]), read_only=False, context=None
            )
    except BadAddress:
        pass
    raise UsageError(
        f'{command_name}: unknown context "{cluster_text}" for {option_flag}, which takes '
        f"{CLUSTER_VALUE_HELP}, and not the name of a cluster: see `nsadmin context list`"
    )
