"""Suggests existing names of topics, brokers and so on for a typed name that a command did not find."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.targets import split_process
from nsadmin.client.did_you_mean import MIN_RATIO, did_you_mean, find_similar_names
from nsadmin.command_line.completion.live_values import ask_servers
from nsadmin.command_line.completion.tab_candidates import strip_descriptions
from nsadmin.command_line.completion.value_sources import DETAIL_METAVARS, source_of_metavar
from nsadmin.command_line.declarations import Parameter, command_parameters
from nsadmin.console.session import Session
from nsadmin.operations.inventory.keeper import InventoryKeeper

_SOURCE_NOUNS = {
    "topics": "topic",
    "clusters": "cluster",
    "brokers": "broker",
    "groups": "consumer group",
    "producer-groups": "producer group",
    "kv-keys": "key",
    "broker-keys": "setting",
    "namesrv-keys": "setting",
}
_OTHER_SOURCES = {"topics": "groups", "groups": "topics"}
"""What a name may be instead, for example if two arguments were typed in the wrong order."""
_MIN_RATIOS = {"broker-keys": 0.8, "namesrv-keys": 0.8}
"""The names of settings are long and share words, such as Enable: other settings are similar, too."""


def suggest_names(
    command_function: Callable[..., Any],
    argument_values: Mapping[str, Any],
    admin: AdminClient,
    inventory: InventoryKeeper,
    *,
    ask_name_servers: bool,
) -> list[str]:
    """A line for each typed name that servers do not know, if it is missing or similar to a known one.

    If the command uses no name server, only the broker that the line names is asked, for its settings.
    """
    parameters = command_parameters(command_function)
    by_metavar = {parameter.metavar: argument_values.get(parameter.name) for parameter in parameters}
    suggestion_lines = []
    for parameter, typed_name in _list_typed_texts(parameters, argument_values):
        value_source = source_of_metavar(parameter.metavar or "", parameter.value_source)
        detail = by_metavar.get(DETAIL_METAVARS.get(value_source)) or ""
        may_ask = ask_name_servers or (value_source == "broker-keys" and detail)
        if (
            value_source in ("brokers", "addresses")
            and ask_name_servers
            and (missing_line := _describe_missing_broker(value_source, typed_name, admin, inventory))
        ):
            suggestion_lines.append(missing_line)
            continue
        if value_source in _SOURCE_NOUNS and may_ask and not parameter.may_be_new:
            known_names = _fetch_known_names(value_source, admin, detail)
            # Topics and clusters can be a list, and have no commas in their names.
            for name in typed_name.split(",") if value_source in ("topics", "clusters") else [typed_name]:
                if value_source == "brokers" and (process := split_process(name)):
                    name = process[0]
                if name in known_names:
                    continue
                hints = []
                other_source = _OTHER_SOURCES.get(value_source)
                if other_source and name in _fetch_known_names(other_source, admin, ""):
                    hints.append(f"a {_SOURCE_NOUNS[other_source]} has this name")
                if similar_names := _find_similar_names(
                    name, known_names, _MIN_RATIOS.get(value_source, MIN_RATIO)
                ):
                    hints.append(did_you_mean(similar_names))
                if hints:
                    noun = _SOURCE_NOUNS[value_source]
                    suggestion_lines.append(f'no {noun} "{name}"; {"; ".join(hints)}')
    return suggestion_lines


def remark_similar_name(session: Session, new_name: str, known_names: Iterable[str]) -> None:
    """Ask about a new name that is similar to an existing one: it may be mistyped."""
    if similar_names := find_similar_names(new_name, known_names, 0.8):
        session.write_remark(f'"{new_name}" is new: {did_you_mean(similar_names)}')


def remark_unknown_names(
    session: Session, value_source: str, names: Sequence[str], creation: str, where: Sequence[str]
) -> None:
    """Name the topics or groups that do not exist, of those that a change names beside its subject.

    The command `creation` creates one on the brokers that the options `where` name.
    """
    known_names = _fetch_known_names(value_source, session.admin, "") if names else []
    for name in names if known_names else ():
        if name not in known_names:
            similar_names = _find_similar_names(name, known_names)
            new = f"to create it, run {quote_command(creation, name, *where)}"
            hint = did_you_mean(similar_names) if similar_names else new
            session.write_remark(f'there is no {_SOURCE_NOUNS[value_source]} "{name}": {hint}')


def _list_typed_texts(
    parameters: Iterable[Parameter], argument_values: Mapping[str, Any]
) -> Iterator[tuple[Parameter, str]]:
    for parameter in parameters:
        value = argument_values.get(parameter.name)
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and text not in ("", parameter.default):
                yield parameter, text


def _describe_missing_broker(
    value_source: str, typed_name: str, admin: AdminClient, inventory: InventoryKeeper
) -> str | None:
    """A line for the address of a broker instead of its name, or for a broker that commands saw and lost."""
    broker_name, _ = split_process(typed_name) or (typed_name, None)
    with suppress(RocketMQError):
        for group in admin.clusters.get_info().broker_groups:
            if value_source == "brokers" and typed_name in group.broker_addrs.values():
                return f"{typed_name} is an address of the broker {group.broker_name}: pass its name"
        lost_names = inventory.find_lost_names(admin.clusters.list_latest_groups(), None)
        if broker_name in lost_names:
            command = quote_command("inventory", "forget", broker_name)
            reason = lost_names[broker_name]
            return (
                f"{broker_name} is {reason}: start it, or, if you removed it, run `{command}`; "
                f"`{quote_command('check', 'writable')}` shows its topics"
            )
    return None


def _fetch_known_names(value_source: str, admin: AdminClient, source_detail: str) -> list[str]:
    """The names that servers know; empty if no server answers."""
    try:
        return strip_descriptions(ask_servers(value_source, admin, source_detail))
    except RocketMQError:
        return []


def _find_similar_names(
    typed_name: str, known_names: Iterable[str], min_ratio: float = MIN_RATIO
) -> list[str]:
    """The names that are most similar to the typed one or contain it.

    Topics of groups, such as %RETRY%G, are meant only by a name with a %.
    """
    names_by_lower = {
        name.lower(): name for name in known_names if name.startswith("%") == typed_name.startswith("%")
    }
    lower_typed = typed_name.lower()
    if lower_typed in names_by_lower:
        return [names_by_lower[lower_typed]]
    # Comparing is slow, so only names of about the same length are compared.
    candidate_names = [
        name for name in names_by_lower if abs(len(name) - len(lower_typed)) <= max(2, len(lower_typed) // 2)
    ]
    similar_names = find_similar_names(lower_typed, candidate_names, min_ratio, with_ties=True) or sorted(
        (lower_name for lower_name in names_by_lower if len(lower_typed) > 2 and lower_typed in lower_name),
        key=len,
    )
    return [names_by_lower[lower_name] for lower_name in similar_names]
