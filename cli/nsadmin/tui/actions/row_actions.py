"""The actions that an operator can apply to a row, each as a command line of nsadmin.

Rule: the screen changes nothing itself. It runs a command of nsadmin in a separate process, and that command
writes to the audit log as if the operator had typed it.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from nsadmin.client.did_you_mean import did_you_mean
from nsadmin.command_line import registry
from nsadmin.command_line.registry import CommandEntry
from nsadmin.console import exit_codes
from nsadmin.console.output.timestamps import format_utc


class RowSubject(NamedTuple):
    """The objects that a row concerns, as arguments for commands. None: the row has no such object.

    `remedy_words` is the command line that fixes the problem of the row. `holder_pid` is the process that
    holds the drain or the restart of the row. `restart_commands` are the commands with which a rolling
    restart stops and starts a broker. `queue_id` and `offset` are where a group continues to read.
    `letter_ids` are the offset ids of dead letters, and `letter_times` the store times (ms) of the first and
    the last of them.
    """

    broker_name: str | None = None
    broker_addr: str | None = None
    cluster: str | None = None
    topic: str | None = None
    group: str | None = None
    namespace: str | None = None
    key: str | None = None
    value: str | None = None
    name_server: str | None = None
    remedy_words: Sequence[str] = ()
    holder_pid: int | None = None
    restart_commands: tuple[str, str] | None = None
    queue_id: int | None = None
    offset: int | None = None
    letter_ids: tuple[str, ...] = ()
    letter_times: tuple[int, int] = (0, 0)


TERMINAL_KINDS = ("screen", "batch", "program")
"""The kinds of commands that need a terminal of their own."""
FieldTexts = Mapping[str, str]


class RowAction(NamedTuple):
    """`build_words` returns the command line for a row. The operator confirms by typing `confirm_target`.

    The action is offered only for rows to which it applies. `build_check` returns a command that checks the
    effect on several rows together, from their targets. `join_subjects` makes few subjects of many, so that
    one command changes several rows. `input_fields` are the texts that the operator types before it starts,
    each with a function that reads its present value.
    """

    action_id: str
    shortcut_key: str
    display_name: str
    help_text: str
    applies_to: Callable[[RowSubject], bool]
    build_words: Callable[[RowSubject, FieldTexts], list[str]]
    confirm_target: Callable[[RowSubject], str]
    input_fields: Mapping[str, Callable[[RowSubject], str]] = {}
    build_check: Callable[[Sequence[str]], list[str]] | None = None
    join_subjects: Callable[[Sequence[RowSubject]], list[RowSubject]] | None = None


def _is_broker(subject: RowSubject) -> bool:
    return subject.broker_name is not None and subject.topic is None and subject.key is None


def _broker_name(subject: RowSubject) -> str:
    return subject.broker_name or ""


def _broker_action(
    action_id: str, shortcut_key: str, command: str, help_text: str, **options: Any
) -> RowAction:
    return RowAction(
        action_id, shortcut_key, action_id, help_text, _is_broker,
        lambda subject, _: [command, *as_positional(_broker_name(subject))], _broker_name, **options,
    )  # fmt: skip


def as_positional(*words: str) -> list[str]:
    """The words as they cannot be taken for options: a broker can be called --yes."""
    return ["--", *words] if any(word.startswith("-") for word in words) else [*words]


_VALUE_FIELD: Mapping[str, Callable[[RowSubject], str]] = {"value": lambda subject: subject.value or ""}
_RESET_TIME_FIELD = "time: 2h for two hours ago, 14:03, or -1 for the end"

_MAX_JOINED_LETTERS = 100
"""The most dead letters that one command names."""


def _join_letters(subjects: Sequence[RowSubject]) -> list[RowSubject]:
    """The dead letters of a group together, up to 100 at once. Their times spare the command the others."""
    joined_subjects = []
    for start in range(0, len(subjects), _MAX_JOINED_LETTERS):
        batch = subjects[start : start + _MAX_JOINED_LETTERS]
        starts_ms, ends_ms = zip(*(subject.letter_times for subject in batch), strict=True)
        letter_times = (min(starts_ms), max(ends_ms))
        letter_ids = tuple(letter_id for subject in batch for letter_id in subject.letter_ids)
        joined_subjects.append(batch[0]._replace(letter_ids=letter_ids, letter_times=letter_times))
    return joined_subjects


def _replay_words(subject: RowSubject) -> list[str]:
    group = subject.group or ""
    first_ms, last_ms = subject.letter_times
    return [
        "dlq", "replay", *(("--consumerGroup", group) if group.startswith("-") else (group,)),
        "--from", format_utc(first_ms), "--until", format_utc(last_ms + 1),
        *(word for letter_id in subject.letter_ids for word in ("--id", letter_id)),
    ]  # fmt: skip


ALL_ACTIONS = (
    _broker_action(
        "wipe", "w", "wipeWritePerm", "Remove the write permission of a broker, on every name server"
    ),
    _broker_action(
        "restore", "a", "addWritePerm", "Restore the write permission of a broker, on every name server"
    ),
    _broker_action(
        "drain", "d", "drain", "Remove the write permission of a broker, and wait until the broker is idle",
        build_check=lambda brokers: ["whatIf", f"--down={','.join(brokers)}"],
    ),
    _broker_action("undrain", "u", "undrain", "Restore the write permissions of a drained broker"),
    RowAction(
        "rollingRestart", "R", "rolling restart", "Restart all brokers of the cluster one by one, or resume",
        lambda subject: subject.cluster is not None
        and (subject.restart_commands is not None or _is_broker(subject)),
        lambda subject, texts: [
            "rollingRestart", "-c", subject.cluster or "", "--stop", texts["stop command"],
            "--start", texts["start command"],
        ],
        lambda subject: subject.cluster or "",
        {
            "stop command": lambda subject: (subject.restart_commands or ("", ""))[0],
            "start command": lambda subject: (subject.restart_commands or ("", ""))[1],
        },
    ),
    RowAction(
        "resetOffset", "z", "reset offset", "Move a consumer group to a time, on every queue of a topic",
        lambda subject: subject.group is not None,
        lambda subject, texts: [
            "resetOffsetByTime", "-g", subject.group or "", "-t", texts["topic"],
            "-s", texts[_RESET_TIME_FIELD],
        ],
        lambda subject: subject.group or "",
        {"topic": lambda subject: subject.topic or "", _RESET_TIME_FIELD: lambda subject: ""},
    ),
    RowAction(
        "fix", "x", "fix", "Run the command that fixes this problem",
        lambda subject: bool(subject.remedy_words), lambda subject, _: list(subject.remedy_words),
        lambda subject: subject.remedy_words[-1],
    ),
    RowAction(
        "replay", "R", "replay", "Deliver a dead letter to its group again",
        lambda subject: bool(subject.letter_ids), lambda subject, _: _replay_words(subject),
        lambda subject: subject.group or "", join_subjects=_join_letters,
    ),
    RowAction(
        "deleteTopic", "x", "delete topic", "Delete a topic with its messages, in a cluster",
        # Not its use by a consumer group.
        lambda subject: subject.topic is not None and subject.group is None,
        lambda subject, texts: ["deleteTopic", "-t", subject.topic or "", "-c", texts["cluster"]],
        lambda subject: subject.topic or "",
        {"cluster": lambda subject: subject.cluster or ""},
    ),
    RowAction(
        "setKv", "E", "set value", "Write a value of the KV config, on every name server",
        lambda subject: subject.namespace is not None and subject.key is not None,
        lambda subject, texts: [
            "updateKvConfig", *as_positional(subject.namespace or "", subject.key or "", texts["value"])
        ],
        lambda subject: subject.key or "", _VALUE_FIELD,
    ),
    RowAction(
        "setBrokerConfig", "E", "set value", "Change a setting of this broker",
        lambda subject: subject.broker_addr is not None and subject.key is not None,
        lambda subject, texts: [
            "updateBrokerConfig", "-b", subject.broker_addr or "", "-k", subject.key or "", "-v",
            texts["value"],
        ],
        _broker_name, _VALUE_FIELD,
    ),
    RowAction(
        "setNameServerConfig", "E", "set value", "Change a setting, on every name server",
        lambda subject: subject.name_server is not None and subject.key is not None,
        lambda subject, texts: ["updateNamesrvConfig", "-k", subject.key or "", "-v", texts["value"]],
        lambda subject: subject.key or "", _VALUE_FIELD,
    ),
)  # fmt: skip


def find_entry(command_words: Sequence[str]) -> CommandEntry | None:
    return registry.take_command(command_words)[0] if command_words else None


def meaning_of_code(exit_code: int | None, command_words: Sequence[str]) -> str:
    """What an exit code of this command line means: 2 is critical for a check."""
    entry = find_entry(command_words)
    return exit_codes.meaning_of_code(exit_code, *((entry.name, entry.kind) if entry is not None else ()))


def explain_refusal(command_words: Sequence[str], is_read_only: bool) -> str | None:
    """The reason why the screen cannot run a command line, or None if it can."""
    entry = find_entry(command_words)
    if entry is None:
        group = registry.find_group(command_words[0])
        if group is not None:
            member_names = list(registry.list_group_words(group))
            problem = f'missing command after "{group}"'
            if len(command_words) > 1:
                problem = f'unknown command "{group} {command_words[1]}"'
            return f"{problem}: use {', '.join(member_names)}"
        suggested_names = registry.suggest_commands(command_words)
        hint = f": {did_you_mean(suggested_names)}" if suggested_names else ""
        return f'unknown command "{command_words[0]}"{hint}'
    if entry.kind in TERMINAL_KINDS:
        return f"{entry.typed_name} needs its own terminal"
    if is_read_only and entry.may_change:
        return f"{entry.typed_name} changes the cluster, and this context is read-only"
    return None


_QUOTED_COMMAND = re.compile(r"`nsadmin ([^`]+)`")


def find_remedy_words(advice: str) -> list[str]:
    """The first command line between backquotes that changes something; empty if there is none."""
    for quoted_command in _QUOTED_COMMAND.finditer(advice):
        words = shlex.split(quoted_command[1])
        if needs_confirmation(words):
            return words
    return []


def needs_confirmation(command_words: Sequence[str]) -> bool:
    entry = find_entry(command_words)
    return entry is not None and entry.may_change
