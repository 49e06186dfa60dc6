"""The actions that an operator can apply to a row, each as a command line of nsadmin.

Rule: the screen changes nothing itself. It runs a command of nsadmin in a separate process, and that command
writes to the audit log as if the operator had typed it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from nsadmin import registry
from nsadmin.likeness import meant
from nsadmin.registry import Entry
from nsadmin.tui.views.view import About

Texts = Mapping[str, str]


class Field(NamedTuple):
    """A text that the operator types before an action starts. `read_current` returns its present value."""

    name: str
    now: Callable[[About], str]


class Action(NamedTuple):
    """`build_words` returns the command line for a row. The operator confirms by typing `confirm_target`.

    The action applies to rows that have all of `required_fields` and none of `excluded_fields`.
    """

    id: str
    key: str
    name: str
    help: str
    needs: Sequence[str]
    words: Callable[[About, Texts], list[str]]
    target: Callable[[About], str]
    fields: Sequence[Field] = ()
    lacks: Sequence[str] = ()

    def suits(self, about: About) -> bool:
        has = all(getattr(about, need) is not None for need in self.needs)
        return has and all(getattr(about, other) is None for other in self.lacks)


def _broker(about: About) -> str:
    return about.broker_name or ""


def _value(about: About) -> str:
    return about.value or ""


_ALL = (
    Action(
        "wipe", "w", "wipe", "Stop writes to a broker, on every name server",
        ["broker_name"], lambda about, _: ["wipeWritePerm", _broker(about)], _broker, lacks=["topic", "key"],
    ),
    Action(
        "restore", "a", "restore", "Allow writes to a broker again, on every name server",
        ["broker_name"], lambda about, _: ["addWritePerm", _broker(about)], _broker, lacks=["topic", "key"],
    ),
    Action(
        "drain", "d", "drain", "Stop writes to a broker, keep them stopped, and wait until it is idle",
        ["broker_name"], lambda about, _: ["drain", _broker(about)], _broker, lacks=["topic", "key"],
    ),
    Action(
        "undrain", "u", "undrain", "Allow writes to a drained broker just as before",
        ["broker_name"], lambda about, _: ["undrain", _broker(about)], _broker, lacks=["topic", "key"],
    ),
    Action(
        "deleteTopic", "x", "delete topic", "Delete a topic with its messages, in a cluster",
        ["topic"],
        lambda about, texts: ["deleteTopic", "-t", about.topic or "", "-c", texts["cluster"]],
        lambda about: about.topic or "",
        [Field("cluster", lambda about: about.cluster or "")],
        lacks=["group"],
    ),
    Action(
        "setKv", "e", "set value", "Write a value of the KV config, on every name server",
        ["namespace", "key"],
        lambda about, texts: ["updateKvConfig", about.namespace or "", about.key or "", texts["value"]],
        lambda about: about.key or "",
        [Field("value", _value)],
    ),
    Action(
        "setBrokerConfig", "e", "set value", "Change a setting of this broker",
        ["broker_addr", "key"],
        lambda about, texts: [
            "updateBrokerConfig", "-b", about.broker_addr or "", "-k", about.key or "", "-v", texts["value"],
        ],
        _broker,
        [Field("value", _value)],
    ),
    Action(
        "setNameServerConfig", "e", "set value", "Change a setting, on every name server",
        ["name_server", "key"],
        lambda about, texts: ["updateNamesrvConfig", "-k", about.key or "", "-v", texts["value"]],
        lambda about: about.key or "",
        [Field("value", _value)],
    ),
)  # fmt: skip


def all_actions() -> tuple[Action, ...]:
    """The actions whose command exists in the registry."""
    return tuple(action for action in _ALL if entry_of(action.words(About(), _ANY)[:1]) is not None)


class _Any(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""


_ANY = _Any()


def suiting(about: About) -> list[Action]:
    """The actions that apply to this row."""
    return [action for action in all_actions() if action.suits(about)]


def entry_of(words: Sequence[str]) -> Entry | None:
    return registry.take(words)[0] if words else None


def refusal(words: Sequence[str], read_only: bool) -> str | None:
    """The reason why the screen cannot run a command line, or None if it can."""
    entry = entry_of(words)
    if entry is None:
        near = registry.nearest(words[0])
        return f"no command {words[0]!r}" + (f": {meant(near)}" if near else "")
    if entry.kind in ("screen", "batch", "program"):
        return f"{entry.name} wants a terminal of its own"
    if read_only and entry.may_change:
        return f"{entry.name} changes something, and this is read-only"
    return None


def changes(words: Sequence[str]) -> bool:
    """Whether a command line needs a preview and a confirmation before it runs."""
    entry = entry_of(words)
    return entry is not None and entry.may_change
