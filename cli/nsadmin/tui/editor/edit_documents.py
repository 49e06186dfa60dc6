"""The texts that an editor opens, and the commands that make the changes in them. Pure."""

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from namesrv_core import operator_files
from namesrv_core.file_shapes import Field
from nsadmin.console.phrases import count_noun
from nsadmin.operations.plans.fields import GROUP_SETTINGS, TOPIC_SETTINGS
from nsadmin.tui.actions.planned_commands import PlannedCommand
from nsadmin.tui.actions.row_actions import RowSubject, as_positional

_MAX_DIFF_LINES = 200


class InvalidEditError(Exception):
    """The answer of a server, or the edited text, cannot be used. The text says why."""


class EditDocument(NamedTuple):
    """A text for the editor. `plan_changes` returns the commands for an edited text and its file.

    It raises InvalidEditError.
    """

    text: str
    plan_changes: Callable[[str, str], list[PlannedCommand]]


class EditTarget(NamedTuple):
    """The object to edit. `read_words` is the command that reads it, and `build_document` reads its output.

    The operator confirms the changes by typing `confirm_target`.
    """

    title: str
    file_name: str
    read_words: Sequence[str]
    build_document: Callable[[str], EditDocument]
    confirm_target: str


def find_edit_target(subject: RowSubject) -> EditTarget | None:
    """The object of a row that an editor can open: the most specific one."""
    if subject.namespace is not None and subject.key is not None:
        return _make_kv_target(subject.namespace, subject.key)
    if subject.name_server is not None and subject.key is not None:
        return _make_name_server_target(subject.name_server)
    cluster, topic, group = subject.cluster, subject.topic, subject.group
    if (topic or group) is not None and cluster is None:
        return None
    if topic is not None and group is None:
        return _make_plan_target(cluster or "", "topics", topic, "topic", TOPIC_SETTINGS.fields)
    if group is not None:
        return _make_plan_target(cluster or "", "groups", group, "group", GROUP_SETTINGS.fields)
    if subject.broker_addr is not None:
        return _make_broker_target(subject.broker_addr, subject.broker_name or subject.broker_addr)
    return None


def needs_cluster(subject: RowSubject) -> bool:
    """Whether the object can be edited only if its cluster is known."""
    return find_edit_target(subject) is None and find_edit_target(subject._replace(cluster="?")) is not None


def diff_texts(old_text: str, new_text: str) -> list[str]:
    """The changed lines with one line around them."""
    old, new = old_text.splitlines(), new_text.splitlines()
    diff_lines = list(difflib.unified_diff(old, new, "before", "after", lineterm="", n=1))
    if len(diff_lines) > _MAX_DIFF_LINES:
        return [
            *diff_lines[:_MAX_DIFF_LINES],
            f"… {count_noun(len(diff_lines) - _MAX_DIFF_LINES, 'line')} more",
        ]
    return diff_lines


def _parse_rows(output: str) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(output)
    except ValueError:
        raise InvalidEditError("the answer is not JSON") from None
    if not isinstance(rows, list) or not rows:
        raise InvalidEditError("no server has it")
    return rows


# A value of the KV config.


def _make_kv_target(namespace: str, key: str) -> EditTarget:
    def build_document(output: str) -> EditDocument:
        values = [row["value"] for row in _parse_rows(output) if row.get("value") is not None]
        if not values:
            raise InvalidEditError("no name server has it")
        old_value = str(values[0])

        def plan_changes(new_text: str, path: str) -> list[PlannedCommand]:
            # Editors end a file with a line end, which most values do not have.
            new_value = new_text if old_value.endswith("\n") else new_text.removesuffix("\n")
            if "\0" in new_value:
                raise InvalidEditError("the value contains a NUL character")
            return [PlannedCommand(key, ["updateKvConfig", *as_positional(namespace, key, new_value)])]

        return EditDocument(old_value if old_value.endswith("\n") else f"{old_value}\n", plan_changes)

    words = ["kv", "get", *as_positional(namespace, key)]
    return EditTarget(f"{namespace} {key}", f"{key}.txt", words, build_document, key)


# Settings of servers.


def _make_broker_target(broker_addr: str, broker_name: str) -> EditTarget:
    return EditTarget(
        f"settings of {broker_name} {broker_addr}",
        f"{broker_name}.properties",
        ["getBrokerConfig", "-b", broker_addr],
        lambda output: _make_settings_document(
            f"# Settings of {broker_name} {broker_addr}. Many take effect only when the broker restarts.",
            _parse_rows(output),
            lambda key, value: ["updateBrokerConfig", "-b", broker_addr, "-k", key, "-v", value],
        ),
        broker_name,
    )


def _make_name_server_target(name_server: str) -> EditTarget:
    def build_document(output: str) -> EditDocument:
        rows = [row for row in _parse_rows(output) if row.get("namesrvAddr") == name_server]
        return _make_settings_document(
            f"# Settings of {name_server}. A change goes to every name server.",
            rows,
            lambda key, value: ["updateNamesrvConfig", "-k", key, "-v", value],
        )

    title, words = f"settings of {name_server}", ["getNamesrvConfig"]
    return EditTarget(title, "namesrv.properties", words, build_document, name_server)


def _make_settings_document(
    heading: str, rows: Sequence[Mapping[str, Any]], build_words: Callable[[str, str], list[str]]
) -> EditDocument:
    """Lines with KEY=VALUE. Values with line ends are left out."""
    texts = {str(row["key"]): str(row["value"]) for row in rows if row.get("value") is not None}
    settings = {key: text for key, text in texts.items() if text.isprintable()}
    if not settings:
        raise InvalidEditError("the server reports no settings")

    def plan_changes(new_text: str, path: str) -> list[PlannedCommand]:
        new_settings = parse_settings(new_text)
        for key in settings:
            if key not in new_settings:
                raise InvalidEditError(f'the setting "{key}" is missing: a server cannot remove a setting')
        for key, (number, new_value) in new_settings.items():
            if key not in settings:
                raise InvalidEditError(f'line {number}: unknown setting "{key}"')
            _check_value(number, key, settings[key], new_value)
        changed = {key: value for key, (_, value) in new_settings.items() if value != settings[key]}
        return [PlannedCommand(key, build_words(key, value)) for key, value in changed.items()]

    setting_lines = [f"{key}={value}" for key, value in sorted(settings.items())]
    return EditDocument("\n".join((heading, *setting_lines, "")), plan_changes)


def parse_settings(text: str) -> dict[str, tuple[int, str]]:
    """The number of the line and the value of each setting. Raises InvalidEditError."""
    settings: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        key, equals_sign, value = line.partition("=")
        if not equals_sign or not key.strip():
            raise InvalidEditError(f"line {number}: expected KEY=VALUE")
        if key.strip() in settings:
            raise InvalidEditError(f'line {number}: the setting "{key.strip()}" is there twice')
        settings[key.strip()] = number, value
    return settings


def _check_value(number: int, key: str, old_value: str, new_value: str) -> None:
    """Brokers accept a value of another kind without an error, so it is refused here."""
    if new_value == old_value:
        return
    if old_value in ("true", "false") and new_value not in ("true", "false"):
        raise InvalidEditError(f'line {number}: invalid value "{new_value}" for {key}: use true or false')
    if old_value.lstrip("-").isdecimal() and not new_value.lstrip("-").isdecimal():
        raise InvalidEditError(f'line {number}: invalid value "{new_value}" for {key}: use a whole number')


# Topics and groups, in the format of `nsadmin export`.


def _make_plan_target(
    cluster: str, section: str, name: str, noun: str, fields: Sequence[Field]
) -> EditTarget:
    def build_document(output: str) -> EditDocument:
        import yaml

        try:
            exported = operator_files.YamlDocument(output).value
        except operator_files.InvalidYaml:
            raise InvalidEditError("the export is not valid YAML") from None
        items = exported.get(section) if isinstance(exported, dict) else None
        if not isinstance(items, dict) or name not in items:
            raise InvalidEditError(f"the export of {cluster} has no {noun} {name}")
        item = {name: items[name] or {}}
        document = {"version": exported["version"], "cluster": exported["cluster"], section: item}
        lines = [
            f"# The {noun} {name} in {cluster}. A setting that is missing here gets its default:",
            *(f"#   {field.key}: {field.meaning} (default {json.dumps(field.default)})" for field in fields),
            yaml.safe_dump(document, sort_keys=False, allow_unicode=True),
        ]
        return EditDocument("\n".join(lines), plan_changes)

    def plan_changes(new_text: str, path: str) -> list[PlannedCommand]:
        try:
            edited = operator_files.YamlDocument(new_text).value
        except operator_files.InvalidYaml as error:
            raise InvalidEditError(f"the text is not valid YAML{error.in_line}") from None
        if not isinstance(edited, dict) or not isinstance(edited.get(section), dict):
            raise InvalidEditError(f"the text has no {section}")
        if list(edited[section]) != [name]:
            raise InvalidEditError(f"the text must have the {noun} {name}, and no other")
        return [PlannedCommand(name, ["apply", path])]

    return EditTarget(f"{noun} {name}", f"{noun}.yaml", ["export", cluster], build_document, name)
