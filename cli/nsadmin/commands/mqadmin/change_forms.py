"""Formats the rows of changes as mqadmin's text: a line for each server that succeeded. Pure."""

from collections.abc import Mapping
from typing import Any

from namesrv_core.protocol.codes import perm_text
from nsadmin.commands.mqadmin.java_text import CommandArguments, java_text, join_lines
from nsadmin.console.output import ResultRow, ResultRows


def format_wipe_write_perm(rows: ResultRows, arguments: CommandArguments) -> str:
    return _format_write_perm(rows, "wipe")


def format_add_write_perm(rows: ResultRows, arguments: CommandArguments) -> str:
    return _format_write_perm(rows, "add")


def _format_write_perm(rows: ResultRows, verb: str) -> str:
    lines = []
    for row in rows.rows:
        action = f"{verb} write perm of broker[{row['brokerName']}] in name server[{row['namesrvAddr']}]"
        outcome = "Failed" if row.get("error") is not None else f"OK, {row.get('topicCount') or 0}"
        lines.append(f"{action} {outcome}")
    return join_lines(lines)


def format_update_kv_config(rows: ResultRows, arguments: CommandArguments) -> str:
    has_succeeded = all(row.get("error") is None for row in rows.rows)
    return "create or update kv config to namespace success.\n" if has_succeeded else ""


def format_delete_kv_config(rows: ResultRows, arguments: CommandArguments) -> str:
    has_succeeded = all(error is None for error in rows.errors)
    return "delete kv config from namespace success.\n" if has_succeeded else ""


def format_update_broker_config(rows: ResultRows, arguments: CommandArguments) -> str:
    changed_rows = [row for row in rows.rows if row.get("error") is None]
    return join_lines([f"update broker config success, {row['brokerAddr']}" for row in changed_rows])


def format_update_topic(rows: ResultRows, arguments: CommandArguments) -> str:
    """With -c, mqadmin prints the configuration once, after the lines of all masters."""
    changed_rows = _changed_masters(rows)
    text_lines = [f"create topic to {row['server']} success." for row in changed_rows]
    return join_lines([*text_lines, *map(_format_topic_config, changed_rows[:1])])


def format_update_topic_perm(rows: ResultRows, arguments: CommandArguments) -> str:
    text_lines = []
    for row in _changed_masters(rows):
        config_before, config_after = _read_config(row, "before"), _read_config(row, "after")
        if config_before["perm"] == config_after["perm"]:
            text_lines.append("new perm equals to the old one!")
            continue
        perms_text = f"from {config_before['perm']} to {config_after['perm']}"
        text_lines.append(f"update topic perm {perms_text} in {row['server']} success.")
        if arguments["cluster_name"] is None:
            text_lines.append(f"{_format_topic_config(row)}.")
    return join_lines(text_lines)


def format_delete_topic(rows: ResultRows, arguments: CommandArguments) -> str:
    def has_succeeded(role: str) -> bool:
        role_rows = [row for row in rows.rows if row["role"] == role]
        return bool(role_rows) and all(row["result"] == "done" for row in role_rows)

    topic, cluster_name = arguments["topic"], arguments["cluster_name"]
    text_lines = []
    if has_succeeded("master"):
        text_lines.append(f"delete topic [{topic}] from cluster [{cluster_name}] success.")
    if has_succeeded("namesrv"):
        text_lines.append(f"delete topic [{topic}] from NameServer success.")
    return join_lines(text_lines)


def _changed_masters(rows: ResultRows) -> list[ResultRow]:
    return [row for row in rows.rows if row["role"] == "master" and row.get("error") is None]


def _read_config(row: ResultRow, column_name: str) -> Mapping[str, Any]:
    config: Any = row.get(column_name) or {}
    return dict(config)


def _format_topic_config(row: ResultRow) -> str:
    """Format the configuration like Java's `TopicConfig#toString`."""
    topic_config = _read_config(row, "after")
    attributes_text = ", ".join(f"{key}={value}" for key, value in topic_config["attributes"].items())
    setting_texts = (
        f"topicName={row['topic']}",
        *(f"{name}={topic_config[name]}" for name in ("readQueueNums", "writeQueueNums")),
        f"perm={perm_text(topic_config['perm']).upper()}",
        *(f"{name}={java_text(topic_config[name])}" for name in ("topicFilterType", "topicSysFlag", "order")),
        f"attributes={{{attributes_text}}}",
    )
    return f"TopicConfig [{', '.join(setting_texts)}]"
