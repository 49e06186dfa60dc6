"""Owns the choice of the tunnel that connections lead through."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from nsadmin.console.confirmation import can_ask_operator
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import ChosenContext

if TYPE_CHECKING:
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget


T = TypeVar("T")


class ChosenTunnel(NamedTuple):
    """The target of the tunnel, and its source: "given", "environment" or "context".

    `lists_name_servers` is true if the name servers can be found on the far side.
    """

    target: "TunnelTarget"
    source: str
    lists_name_servers: bool


class _TunnelTexts(NamedTuple):
    """The texts of one source, with the names of the settings that have them."""

    source: str
    kube_text: str | None
    ssh_text: str | None
    kube_name: str
    ssh_name: str


def choose_tunnel(values: Mapping[str, Any], chosen: ChosenContext) -> ChosenTunnel | None:
    """Choose --kube or --ssh, else the environment or the context; None for direct connections.

    Raises UsageError for an invalid target, or for both kinds from one source.
    """
    context, environ = chosen.context, os.environ
    given_texts = _TunnelTexts("given", values.get("kube"), values.get("ssh"), "--kube", "--ssh")
    environment_texts = _TunnelTexts(
        "environment",
        environ.get("NSADMIN_KUBE", "").strip() or None,
        environ.get("NSADMIN_SSH", "").strip() or None,
        "NSADMIN_KUBE",
        "NSADMIN_SSH",
    )
    context_texts = _TunnelTexts(
        "context",
        context.kube,
        context.ssh,
        f"kube of context {chosen.name}",
        f"ssh of context {chosen.name}",
    )
    texts_by_rank = (
        (given_texts, context_texts, environment_texts)
        if chosen.is_named
        else (given_texts, environment_texts, context_texts)
    )
    return _first_tunnel(texts_by_rank)


def _first_tunnel(texts_by_rank: Iterable[_TunnelTexts]) -> ChosenTunnel | None:
    for texts in texts_by_rank:
        if texts.kube_text is None and texts.ssh_text is None:
            continue
        if texts.kube_text is not None and texts.ssh_text is not None:
            raise UsageError(
                f"{texts.kube_name} and {texts.ssh_name} exclude each other: keep only one of them"
            )
        return ChosenTunnel(_parse_target(texts), texts.source, texts.kube_text is not None)
    return None


def _parse_target(texts: _TunnelTexts) -> "TunnelTarget":
    # Imported late: most commands connect directly.
    from nsadmin.client.connection.tunnels.tunnel_targets import parse_kube_target, parse_ssh_target

    if texts.kube_text is not None:
        return _call_parser(parse_kube_target, texts.kube_name, texts.kube_text)
    assert texts.ssh_text is not None
    target = _call_parser(parse_ssh_target, texts.ssh_name, texts.ssh_text)
    return target._replace(may_ask=can_ask_operator())


def _call_parser(parse_target: Callable[[str], T], setting_name: str, target_text: str) -> T:
    from nsadmin.client.connection.addresses import BadAddress

    try:
        return parse_target(target_text)
    except BadAddress as error:
        raise UsageError(f"{setting_name}: {error}") from None
