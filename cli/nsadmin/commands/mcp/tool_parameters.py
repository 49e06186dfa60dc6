"""Owns the properties of a tool: which parameters of its command a client can set, and with which values.

A parameter whose metavar is in none of the tables is left out, so a new kind of value needs a decision here.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from nsadmin.command_line.completion.value_sources import source_of_metavar
from nsadmin.command_line.declarations import REQUIRED, Parameter, command_parameters
from nsadmin.commands.mcp.exposed_commands import CHANGING_PARAMETERS, FIXED_ARGUMENTS, ExposedCommand
from nsadmin.commands.mcp.tool_results import DEFAULT_ROWS, MAX_ROWS

MAX_TEXT_LENGTH = 4096
MAX_FILE_LENGTH = 1 << 20
"""Characters of a file that a client sends as text, such as a plan."""

PLAIN_METAVARS = frozenset(
    (
        "A,B", "ACTIONS", "ATTRIBUTES", "BODY", "BROKER", "BROKER,BROKER", "BROKERS", "BYTES", "CHARSET",
        "CHECK", "CHECK=RANGE", "CLIENT", "CLIENTS", "CLUSTER", "CLUSTER,CLUSTER", "CONF", "COUNT", "DIFF",
        "DURATION", "ENGINE", "GROUP", "ID", "JSON", "KEY", "KEYS", "KIND", "LITE_TOPIC", "MODE", "MS", "N",
        "N,N", "NAME", "NAME=VALUE", "NAMESPACE", "NETWORKS", "NUMBER", "OFFSET", "OLD=NEW", "PATH=VALUE",
        "PATTERN", "PCT", "PERM", "PERMS", "PLACE", "PORT", "QUEUE", "RANGE", "REGEX", "RESOURCE",
        "RESOURCES", "SECONDS", "SECTION", "SOURCE", "SQL92", "SUBJECT", "TAG", "TAGS", "TEXT", "TIME",
        "TOPIC", "TOPICS", "TYPE", "UNIT", "USERS", "VALUE", "VERSION",
    )
)  # fmt: skip
"""Values that nsadmin sends to servers of the cluster, or selects rows with."""

BROKER_METAVARS = frozenset(("ADDR", "FROM", "TO"))
"""A broker by name or address. The server accepts only addresses of the cluster's brokers."""

MESSAGE_ID_METAVARS = frozenset(("MSGID",))
"""Ids of messages. One kind of id contains the address of a broker."""

REFUSED_WORDS: Mapping[str, str] = {
    "ADDRS": "nsadmin would connect to these addresses",
    "BOOL": "mqadmin's own dry run; nsadmin refuses it",
    "COMMAND": "nsadmin would run this command on this machine",
    "DIR": "the folder is on this machine",
    "FILE": "the file is on this machine",
    "HOST": "nsadmin would connect to this host",
    "PATH": "the path is on this machine",
    "URL": "nsadmin would connect to this address",
}
"""Words of metavars, such as that of BROKERS|FILE, whose values no client may choose, and why."""

LEFT_OUT_PARAMETERS: Mapping[str, str] = {
    "clusterList.interval_seconds": "the call would not end",
    "configDiff.other_cluster": "it asks a cluster that the operator did not name",
    "consume.follows": "the call would not end",
    "consume.line_format": "the result is JSON",
    "drain.keep_holding": "the call would not end",
    "getBrokerEpoch.interval_seconds": "the call would not end",
    "haStatus.interval_seconds": "the call would not end",
    "history.follow": "the call would not end",
    "mqadminMap.command_name": "the table is short, and filter selects rows",
    "routeExplain.all_contexts": "it asks contexts that the operator did not name",
    "routeExplain.broker_addrs": "nsadmin would connect to these addresses",
    "startMonitoring.interval_seconds": "the call would not end",
    "updateUser.password": "the client would see the password",
    "updateUser.password_prompt": "there is no terminal",
    "updateUser.password_stdin": "there is no standard input",
    "updateUser.password_visible": "the client would see the password",
}
"""Parameters without a property, and why."""

FOLDER_FILES = frozenset(
    (
        "backupDiff.file_name", "backupDiff.other_file", "backupRestore.file_name", "backupShow.file_name",
        "bundleDiff.file_name", "bundleDiff.other_file", "bundleShow.file_name", "checkBackup.backup_path",
        "snapshotShow.file_name",
    )
)  # fmt: skip
"""Parameters whose value is the name of a file in the folder of --files."""

CLIENT_FILES: Mapping[str, str] = {"apply.file_name": ".yaml", "plan.file_name": ".yaml"}
"""Parameters for which a client sends the content of a file, and the ending of its temporary file."""

ROW_COUNT_FLAGS = frozenset(
    ("--count", "--largest", "--last", "--limit", "--maxNum", "--MessageNumber", "--topK")
)
"""Flags of tools that read, whose value is a number of rows: a command keeps them all in memory."""

OMITTED_VALUES: Mapping[str, int] = {"consume.max_messages": DEFAULT_ROWS}
"""Values of parameters that a client omits, where the command would not stop by itself."""

_WORD_PATTERN = re.compile(r"[A-Z]+")
_BODY_DECODERS = ("base64", "gzip", "json", "hex")
"""The decoders without a schema, which would be a file."""


class ToolParameter(NamedTuple):
    """A property of a tool.

    `kind` says how the server checks the value. The schema is enough for a "plain" value. A "broker" and a
    "message-id" can contain an address. A "folder-file" is in the folder of --files. A "client-file" is the
    content of a file.
    """

    property_name: str
    parameter: Parameter
    kind: str
    schema: Mapping[str, Any]
    is_required: bool


def list_tool_parameters(exposed: ExposedCommand, *, has_folder: bool) -> list[ToolParameter]:
    """Return the properties of a tool; `has_folder` says whether the operator passed --files."""
    parameter_kinds = {
        parameter.name: (parameter, parameter_kind)
        for parameter in command_parameters(exposed.function)
        if (parameter_kind := find_parameter_kind(exposed, parameter)) is not None
        and (parameter_kind != "folder-file" or has_folder)
    }
    return [
        ToolParameter(
            find_property_name(parameter),
            parameter,
            parameter_kind,
            _build_schema(exposed, parameter, parameter_kind),
            _is_required(parameter, parameter_kinds),
        )
        for parameter, parameter_kind in parameter_kinds.values()
    ]


def find_parameter_kind(exposed: ExposedCommand, parameter: Parameter) -> str | None:
    """Return the kind of a property; None for a parameter that clients cannot set."""
    parameter_path = f"{exposed.entry.name}.{parameter.name}"
    if not exposed.is_change and (
        parameter.name in CHANGING_PARAMETERS.get(exposed.entry.name, ())
        or parameter.name in FIXED_ARGUMENTS.get(exposed.entry.name, ())
    ):
        return None
    if parameter_path in FOLDER_FILES:
        return "folder-file"
    if parameter_path in CLIENT_FILES:
        return "client-file"
    if parameter_path in LEFT_OUT_PARAMETERS:
        return None
    metavar = parameter.metavar
    if parameter.is_flag or metavar in PLAIN_METAVARS:
        return "plain"
    if is_refused(parameter):
        return None
    if find_choices(parameter):
        return "plain"
    if metavar in BROKER_METAVARS:
        return "broker"
    return "message-id" if metavar in MESSAGE_ID_METAVARS else None


def is_refused(parameter: Parameter) -> bool:
    """Whether the metavar names a file, a program or an address."""
    metavar = parameter.metavar or ""
    return metavar not in PLAIN_METAVARS and not REFUSED_WORDS.keys().isdisjoint(
        _WORD_PATTERN.findall(metavar)
    )


def find_choices(parameter: Parameter) -> tuple[str, ...]:
    """Return the values to choose from, such as those of the metavar `true|false`; none for other values."""
    if parameter.flags[0] == "--decode":
        return _BODY_DECODERS
    metavar = parameter.metavar or ""
    value_source = source_of_metavar(metavar, parameter.value_source)
    return tuple(value_source.split("|")) if "|" in value_source else ()


def find_property_name(parameter: Parameter) -> str:
    """Return the longest flag without its dashes: `topic` for -t and --topic."""
    long_flag = next((flag for flag in parameter.flag_names if flag.startswith("--")), None)
    return parameter.name if long_flag is None else long_flag[2:]


def format_option(parameter: Parameter, value: Any) -> list[str]:
    """Return the words of the command line that set a parameter. A value never becomes an option."""
    on_flag, _, off_flag = _longest_flag(parameter).partition("/")
    if parameter.is_flag:
        return [on_flag] if value else [off_flag] if off_flag else []
    values = value if isinstance(value, list) else [value]
    if not on_flag.startswith("--"):
        # Joined to a short flag, a text could spell a long one: -f and "ilter=x".
        return [word for item in values for word in (on_flag, _format_value(item))]
    return [f"{on_flag}={_format_value(item)}" for item in values]


def _format_value(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _longest_flag(parameter: Parameter) -> str:
    flags = parameter.flags
    return next((flag for flag in flags if flag.startswith("--")), flags[0])


def _is_required(parameter: Parameter, exposed_names: Mapping[str, object]) -> bool:
    """A parameter that others can replace is required if clients can set none of these."""
    alternative_names = parameter.alternative_names
    if alternative_names:
        return not any(name in exposed_names for name in alternative_names)
    return parameter.is_required


def _build_schema(exposed: ExposedCommand, parameter: Parameter, parameter_kind: str) -> dict[str, Any]:
    value_schema = _build_value_schema(parameter, parameter_kind)
    description = _describe_parameter(exposed, parameter, parameter_kind)
    schema: dict[str, Any] = (
        {"type": "array", "items": value_schema, "maxItems": 100} if parameter.is_list else value_schema
    )
    if parameter.minimum is not None:
        schema["minimum"] = parameter.minimum
    if not exposed.is_change and _longest_flag(parameter) in ROW_COUNT_FLAGS:
        # history --limit 0 means all events.
        schema |= {"minimum": 1, "maximum": MAX_ROWS}
    default = OMITTED_VALUES.get(f"{exposed.entry.name}.{parameter.name}", parameter.default)
    if default not in (None, REQUIRED, False):
        schema["default"] = default
    return {**schema, "description": description}


def _build_value_schema(parameter: Parameter, parameter_kind: str) -> dict[str, Any]:
    if parameter.is_flag:
        return {"type": "boolean"}
    if parameter_kind == "client-file":
        return {"type": "string", "maxLength": MAX_FILE_LENGTH}
    choices = find_choices(parameter)
    if set(choices) == {"true", "false"}:
        return {"type": "boolean"}
    if parameter.value_type in (int, int | None):
        return {"type": "integer", **({"enum": [int(choice) for choice in choices]} if choices else {})}
    if parameter.value_type in (float, float | None):
        return {"type": "number"}
    return {"type": "string", "maxLength": MAX_TEXT_LENGTH, **({"enum": list(choices)} if choices else {})}


def _describe_parameter(exposed: ExposedCommand, parameter: Parameter, parameter_kind: str) -> str:
    if parameter_kind == "folder-file":
        return "Name of a file in the folder that the server offers."
    if parameter_kind == "client-file":
        return "The content of the file, as text."
    if parameter.flags[0] == "--decode":
        return "Decode bodies."
    alternatives = [
        find_property_name(other_parameter)
        for other_parameter in command_parameters(exposed.function)
        if other_parameter.name in parameter.alternative_names
        and find_parameter_kind(exposed, other_parameter) is not None
    ]
    alternative_text = f" Required without {', '.join(alternatives)}." if alternatives else ""
    return parameter.help.partition(" Repeatable")[0] + alternative_text
