"""The functions of the message commands for the screen: it parses the options of `consume` with them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nsadmin.client.messages.message_filter import MessageFilter
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.command_line import registry
from nsadmin.command_line.time_arguments import parse_time_option
from nsadmin.command_line.typer_commands import HelpRequested, parse_command_line
from nsadmin.commands.messages.body_decoders import decode_body, parse_decoders
from nsadmin.commands.messages.message_conditions import parse_pairs, parse_regex, parse_start
from nsadmin.commands.messages.message_rows import MESSAGE_COLUMNS, show_message
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import read_row
from nsadmin.tui.messages.message_query import (
    MAX_KEPT_MESSAGES,
    InvalidMessageQueryError,
    MessageQuery,
    MessageTools,
)

_COMMAND_NAME = "messages"
_INDEX_PREFIX = "key:"
_DECODER_HELP = "base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE"
_OPTION_NAMES = {
    "start_text": "from",
    "until_text": "until",
    "tags": "tag",
    "keys": "key",
    "property_texts": "property",
    "body_text": "body",
    "field_texts": "field",
    "sql_text": "sql",
    "broker_name": "broker",
    "queue_id": "queue",
    "decoder_names": "decode",
}
"""The option of each parameter of `consume` that selects messages."""


def create_message_tools() -> MessageTools:
    return MessageTools(_parse_query, _decode_body, _make_row, _DECODER_HELP)


def _parse_query(query_words: Sequence[str]) -> MessageQuery:
    try:
        return _build_query(_parse_arguments(query_words))
    except UsageError as error:
        raise InvalidMessageQueryError(str(error)) from None
    except HelpRequested:
        raise InvalidMessageQueryError("see `:consume --help` for the options") from None


def _parse_arguments(query_words: Sequence[str]) -> Mapping[str, Any]:
    entry, _ = registry.take_command(["consume"])
    assert entry is not None
    arguments = parse_command_line(entry, query_words).arguments
    if arguments["line_format"] is not None:
        raise UsageError(f"{_COMMAND_NAME}: --format does not apply to the screen")
    return arguments


def _build_query(arguments: Mapping[str, Any]) -> MessageQuery:
    """The query that the arguments of `consume` describe. Without --from, it waits for messages to come."""
    start_text, tags, sql_text = arguments["start_text"], arguments["tags"], arguments["sql_text"]
    index_key = None
    if start_text is not None and start_text.startswith(_INDEX_PREFIX):
        index_key, start_text = start_text.removeprefix(_INDEX_PREFIX), None
        if not index_key:
            raise UsageError(f"{_COMMAND_NAME}: missing key in --from: use key:KEY")
    if tags and sql_text:
        raise UsageError(f"{_COMMAND_NAME}: --tag and --sql exclude each other: use TAGS in the expression")
    follow_start = parse_start(_COMMAND_NAME, start_text, True)
    decoders = parse_decoders(arguments["decoder_names"])
    return MessageQuery(
        arguments["topic"],
        tuple(_list_conditions(arguments)),
        follow_start,
        index_key,
        arguments["broker_name"],
        arguments["queue_id"],
        sql_text or " || ".join(tags or ()) or "*",
        "SQL92" if sql_text else "TAG",
        MessageFilter(
            frozenset(tags or ()),
            frozenset(arguments["keys"] or ()),
            parse_pairs(_COMMAND_NAME, "--property", arguments["property_texts"]),
            parse_regex(_COMMAND_NAME, arguments["body_text"]),
            parse_pairs(_COMMAND_NAME, "--field", arguments["field_texts"]),
            follow_start.time_ms or 0,
            parse_time_option("--until", arguments["until_text"], MessageFilter().end_ms),
        ),
        tuple(decoders),
        arguments["max_messages"] or MAX_KEPT_MESSAGES,
    )


def _list_conditions(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The options with their values, as the operator typed them."""
    for parameter_name, option_name in _OPTION_NAMES.items():
        value = arguments[parameter_name]
        if value is not None:
            for single_value in value if isinstance(value, list) else [value]:
                yield option_name, str(single_value)


def _decode_body(body: bytes, decoder_names: Sequence[str]) -> tuple[Any, str | None]:
    try:
        value, _, decode_error = decode_body(body, parse_decoders(decoder_names))
    except UsageError as error:
        raise InvalidMessageQueryError(str(error)) from None
    return value, decode_error


def _make_row(located_message: LocatedMessage) -> Mapping[str, Any]:
    return read_row(MESSAGE_COLUMNS, show_message(located_message))
