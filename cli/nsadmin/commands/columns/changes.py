"""Columns about a change on a server: the values before and after it, the difference, and the outcome."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import perm_text
from nsadmin.client import ServerResult
from nsadmin.client.results import is_not_found
from nsadmin.commands.columns.brokers import BROKER_NAME, TARGET_COLUMNS
from nsadmin.commands.columns.servers import ERROR, NAMESRV_ADDR, outcome_word
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.phrases import count_noun
from nsadmin.operations.plans.settings import SpreadKind, without_defaults

if TYPE_CHECKING:
    from nsadmin.client.brokers.targets import BrokerTarget
    from nsadmin.operations.backups.comparison import NamedItemDifference


TOPIC_MAIN_SETTINGS = ("readQueueNums", "writeQueueNums", "perm")
GROUP_MAIN_SETTINGS = ("consumeEnable", "retryMaxTimes", "retryQueueNums")
"""The settings that a table shows of a created or deleted item, also defaults; JSON has all of them."""


class ServerChange(NamedTuple):
    """A change on a server. None stands for a missing value, before or after.

    `done` is the result of a success: done, dry-run, unchanged, or skipped. `words` replace the difference.
    """

    server: str | None
    before: object
    after: object
    error: RocketMQError | None = None
    done: str = "done"
    role: str | None = None
    topic: str | None = None
    words: str | None = None

    @property
    def result(self) -> str:
        return outcome_word(self.error, self.done)

    @property
    def changes(self) -> str | None:
        if self.error is not None or self.done == "skipped":
            return None
        return self.words or describe_change(self.before, self.after)


CHANGES: AnyColumn = Column("changes", "the change in words; null for none", lambda r: r.changes)
BEFORE: AnyColumn = Column(
    "before",
    "the state before the change, with the wire's names; null for none, or if nsadmin did not read it",
    lambda r: r.before,
    wide=True,
)
AFTER: AnyColumn = Column(
    "after",
    "the state after the change, with the wire's names; null for none, or if the change failed",
    lambda r: r.after,
    wide=True,
)
RESULT: AnyColumn = Column("result", "done, unchanged, dry-run, failed or not found", lambda r: r.result)


def change_columns(
    before: str = BEFORE.meaning, after: str = AFTER.meaning, result: str = RESULT.meaning
) -> tuple[AnyColumn, ...]:
    """The last columns of a row about a change, read off a ServerChange, with these meanings."""
    return (CHANGES, BEFORE.means(before), AFTER.means(after), RESULT.means(result), ERROR)


CHANGE_COLUMNS = change_columns()


def broker_change_columns(
    *own: AnyColumn, before: str = BEFORE.meaning, after: str = AFTER.meaning, result: str = RESULT.meaning
) -> Columns[Any]:
    """Columns of a tuple that begins with a broker and its change; `own` ones of the tuple stand between."""
    return (*TARGET_COLUMNS, *own, *of_part(itemgetter(1), change_columns(before, after, result)))


def broker_change_rows(
    columns: Columns[Any],
    targets: Iterable["BrokerTarget"],
    changes: Sequence[ServerChange],
    common: Mapping[AnyColumn, object] = {},
) -> ResultRows:
    """A row for each broker with its change."""
    errors = [change.error for change in changes]
    return ResultRows.from_records(columns, zip(targets, changes, strict=True), errors, common=common)


def name_server_change_columns(
    *own: AnyColumn, before: str = BEFORE.meaning, after: str = AFTER.meaning, result: str = RESULT.meaning
) -> Columns[ServerChange]:
    """The columns of a change on a name server; the `own` ones stand after its address."""
    return (NAMESRV_ADDR.of(lambda c: c.server), *own, *change_columns(before, after, result))


def name_server_change_rows(
    columns: Columns[ServerChange],
    earlier_results: Sequence[ServerResult[Any]],
    results: Sequence[ServerResult[Any]],
    done: str = "done",
    common: Mapping[AnyColumn, object] = {},
) -> ResultRows:
    """A row for each name server, in the order of `results`, which hold the values afterwards."""
    before = {r.addr: r.result for r in earlier_results}
    changes = [
        ServerChange(
            r.addr, before.get(r.addr), r.result, r.error,
            "unchanged" if r.error is None and r.result == before.get(r.addr) else done,
        )
        for r in results
    ]  # fmt: skip
    return ResultRows.from_records(columns, changes, [r.error for r in results], common=common)


def undo_on_brokers(
    rows: Iterable[Mapping[str, Any]],
    address_key: str,
    find_words: Callable[[Mapping[str, Any]], Sequence[str] | None],
) -> list[list[str]]:
    """The commands that undo a change: one for all brokers with the same words.

    `rows` are those of the audit. There is no command if one broker has no words: nothing can give it back
    what it had.
    """
    addrs_by_words: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        if row["result"] != "done":
            continue
        words = find_words(row)
        if words is None:
            return []
        addrs_by_words.setdefault(tuple(words), []).append(row[address_key])
    return [[*words, "-b", ",".join(addrs)] for words, addrs in addrs_by_words.items()]


def undo_on_name_servers(rows: Sequence[Mapping[str, Any]], *words: str) -> list[list[str]]:
    """The command that undoes a change: these words, and the value that all name servers had before."""
    former = [row.get("before") for row in rows if row["result"] != "failed"]
    return [] if former[0] is None or len({*former}) > 1 else [[*words, "-v", former[0]]]


def plan_write(current: ServerResult[str], new_value: str) -> ServerResult[str]:
    """The result that a write would have; it ignores a missing value, because the write creates it."""
    if current.error is None or is_not_found(current.error):
        return ServerResult(current.addr, new_value, None)
    return current


def read_change(result: ServerResult[Any], done: str) -> ServerChange:
    """The change of a server whose result has `before` and `after`; unchanged if these are equal."""
    change = result.result
    if change is None:
        return ServerChange(result.addr, None, None, result.error, done)
    done = "unchanged" if change.before == change.after else done
    return ServerChange(result.addr, change.before, change.after, result.error, done)


def describe_change(before: Any, after: Any) -> str | None:
    """The change on one line: "48 -> 72", "perm rw- -> r--", "new: …", "removed: …"; None for no change."""
    if before == after:
        return None
    if before is None or after is None:
        return f"removed: {_format_value(before)}" if after is None else f"new: {_format_value(after)}"
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return ", ".join(
            f"{name} {_format_setting(name, before.get(name))} -> {_format_setting(name, after.get(name))}"
            for name in changed
        )
    return f"{_format_value(before)} -> {_format_value(after)}"


def describe_item_change(
    kind: SpreadKind, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> str | None:
    """Describe the change of a topic or group; of a new or deleted one, no defaults but the main ones."""
    if before is not None and after is not None:
        return describe_change(before, after)
    always_shown = TOPIC_MAIN_SETTINGS if kind == "topic" else GROUP_MAIN_SETTINGS

    def select(settings: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if not settings:
            return settings
        shown = {name: settings[name] for name in always_shown if name in settings}
        return {**shown, **without_defaults(kind, settings)}

    return describe_change(select(before), select(after))


def difference_columns(
    section: str, broker_name: str, name: str, before: str, after: str
) -> "Columns[NamedItemDifference]":
    """The columns of items that differ, with these meanings."""
    return (
        Column("section", section, lambda d: str(d.item.section)),
        BROKER_NAME.means(broker_name).of(lambda d: d.item.parent_name or None),
        Column("name", name, lambda d: d.item.name),
        Column(
            "differs",
            "the difference in words",
            lambda d: describe_change(plain_value(d.before), plain_value(d.after)),
        ),
        BEFORE.means(before).of(lambda d: plain_value(d.before)),
        AFTER.means(after).of(lambda d: plain_value(d.after)),
    )


def plain_value(fields: Mapping[str, Any] | None) -> object:
    """The value of an item that has only one, under the name ""; else its fields."""
    return fields[""] if fields is not None and "" in fields else fields


def summarize_perm_changes(before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """ "rw- -> r-- on 12 topics", for each pair of permissions that differ; None if no permission changes."""
    counts = Counter(
        f"{perm_text(perm)} -> {perm_text(after[topic])}"
        for topic, perm in before.items()
        if perm != after[topic]
    )
    return ", ".join(f"{text} on {count_noun(count, 'topic')}" for text, count in counts.items()) or None


def describe_removal(before: Mapping[str, Any] | None, main_settings: Sequence[str]) -> str | None:
    """Describe a removed item by its main settings, or by all settings if it has none of the main ones."""
    if before is None:
        return None
    return describe_change({name: before[name] for name in main_settings if name in before} or before, None)


def _format_value(value: Any) -> str:
    if not isinstance(value, Mapping):
        return _format_setting("", value)
    return ", ".join(f"{name} {_format_setting(name, item)}" for name, item in value.items()) or "{}"


def _format_setting(name: str, value: Any) -> str:
    """Format a setting's value; a permission becomes letters."""
    if name == "perm" and isinstance(value, int):
        return perm_text(value)
    if isinstance(value, Mapping):
        return " ".join(f"{key}={_format_setting(key, item)}" for key, item in value.items()) or "none"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return str(value) or "''"


def forgive_not_found(errors: Sequence[RocketMQError | None]) -> list[RocketMQError | None]:
    """The errors without "not found", if at least one server had the item to delete."""
    return [None if is_not_found(e) else e for e in errors] if None in errors else list(errors)
