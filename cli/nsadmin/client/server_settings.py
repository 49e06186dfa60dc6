"""The settings of servers as texts, which `MixAll.properties2Object` reads from lines of properties."""

import re
from collections.abc import Sequence
from typing import Any

from nsadmin.client.advised_command import quote_command
from nsadmin.client.results import NotApplied, NotFound, ServerResult, is_not_found

# Texts that may look like a number: the setters with a String in 5.5.0 and 4.9.7.
_TEXT_KEYS = {
    "brokerClusterName", "brokerName", "controllerDLegerGroup", "controllerDLegerSelfId", "dLegerGroup",
    "dLegerSelfId", "deleteWhen", "metricsLabel", "preferredLeaderId", "productEnvName", "regionId",
    "timerCheckMetricsWhen",
}  # fmt: skip

# The setters of 5.5.0 and 4.9.7 that take the name of a constant.
_WORDS_BY_KEY = {
    "brokerRole": ("ASYNC_MASTER", "SYNC_MASTER", "SLAVE"),
    "flushDiskType": ("ASYNC_FLUSH", "SYNC_FLUSH"),
}


def format_properties_line(item_key: str, item_value: str) -> str:
    """Return one line of a properties file, escaped for `java.util.Properties`."""
    return f"{_escape_text(item_key, ' =:#!')}={_escape_text(item_value, '#!')}\n"


def require_change(config: dict[str, str], key: str, value: str, server_kind: str) -> str:
    """Return the present value; raise NotFound without one, NotApplied if it is of another type than `value`.

    A server ignores a number that it cannot read. For a boolean, it takes every text but "true" for false.
    """
    if key not in config:
        raise NotFound(f'this {server_kind} has no setting "{key}"')
    now = config[key]
    if key in _TEXT_KEYS:
        need = None
    elif key in _WORDS_BY_KEY:
        words = _WORDS_BY_KEY[key]
        need = None if value in words else " or ".join(words)
    elif now in ("true", "false"):
        need = None if value.lower() in ("true", "false") else "true or false"
    elif re.fullmatch("-?(0|[1-9][0-9]*)", now):
        need = None if re.fullmatch("[+-]?[0-9]+", value) else "a whole number"
    elif re.fullmatch(r"-?[0-9]+\.[0-9]+(E-?[0-9]+)?", now):
        need = None if _parse_number(value) is not None else "a number"
    else:
        need = None
    if need:
        raise NotApplied(f'invalid value "{value}" of {key}: use {need} (now "{now}")')
    return now


def require_setting(key: str, results: Sequence[ServerResult[Any]], *listing_words: str) -> None:
    """Raise NotFound if every server answered that it has no setting `key`; the words list what they have."""
    if results and all(is_not_found(r.error) for r in results):
        raise NotFound(f'no setting "{key}": `{quote_command(*listing_words)}` lists the settings')


def require_value(config: dict[str, str], key: str, value: str, server_kind: str) -> str:
    """Return the value that a server has after a change; raise NotApplied if it is not the wanted one."""
    now = config.get(key)
    if now is None or not is_same_value(now, value):
        raise NotApplied(f'the {server_kind} kept "{now}": it does not accept "{value}"')
    return now


def normalize_text(value_text: str) -> str:
    """Normalize a value like a server: "true" and "false" in lower case."""
    value_text = value_text.strip()
    return value_text.lower() if value_text.lower() in ("true", "false") else value_text


def is_same_value(first_text: str, second_text: str) -> bool:
    """Return whether two texts are the same value for a server, which reformats numbers."""
    return (
        normalize_text(first_text) == normalize_text(second_text)
        or _parse_number(first_text) == _parse_number(second_text) is not None
    )


def _parse_number(value_text: str) -> float | None:
    try:
        return float(value_text)
    except ValueError:
        return None


def _escape_text(plain_text: str, special_characters: str) -> str:
    leading_blanks = len(plain_text) - len(plain_text.lstrip(" "))
    units = plain_text.encode("utf-16-be", "surrogatepass")
    letters = [chr(units[index] << 8 | units[index + 1]) for index in range(0, len(units), 2)]
    return "".join(
        f"\\{letter}"
        if letter == "\\" or letter in special_characters or character_index < leading_blanks
        else letter
        if " " <= letter <= "~"
        else f"\\u{ord(letter):04x}"
        for character_index, letter in enumerate(letters)
    )
