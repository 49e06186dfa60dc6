"""Random arguments for tools of the MCP server: names that exist, others, and hostile texts."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

HOSTILE_TEXTS = (
    "--yes", "--dry-run=false", "-y", "--", "x --yes", "$(reboot)", "`reboot`", "a;b|c", "../../etc/passwd",
    "@/etc/passwd", "/etc/passwd", "file:///etc/passwd", "", " ", "\u202eabc", "a\nb --yes", "\x1b[2J",
    "x" * 300, "10.9.8.7:10911", "evil.invalid", "localhost", "%DLQ%nobody", "*", "'", '"', "0", "-1",
    "true", "null",
)  # fmt: skip
_MAX_NUMBER = 3
"""So that no call waits for long: some numbers are seconds."""
_WORDS_BY_PROPERTY: Mapping[str, Sequence[str]] = {
    "sample": ("0s", "1s", "x"),
    "filter": ("topic~.", "perm=6", "brokerName=broker-a", "nothing=1", "x"),
    "columns": ("topic", "brokerName,topic", "x"),
    "sort": ("topic", "-brokerName", "x"),
}


def choose_arguments(
    input_schema: Mapping[str, Any], valid_values: Mapping[str, str], source: random.Random
) -> dict[str, Any]:
    """Return values for the required properties of a tool, and for some of the others.

    Most texts are the valid value of their property. Others are valid values of other properties, or hostile.
    """
    required = input_schema["required"]
    return {
        name: _choose_value(name, schema, valid_values, source)
        for name, schema in input_schema["properties"].items()
        if name in required or source.random() < 0.15
    }


def _choose_value(
    name: str, schema: Mapping[str, Any], valid_values: Mapping[str, str], source: random.Random
) -> Any:
    if "enum" in schema:
        return source.choice(schema["enum"])
    match schema["type"]:
        case "array":
            items = schema["items"]
            return [_choose_value(name, items, valid_values, source) for _ in range(source.randint(1, 2))]
        case "boolean":
            return source.random() < 0.5
        case "integer":
            return source.randint(schema.get("minimum", 0), schema.get("minimum", 0) + _MAX_NUMBER)
        case "number":
            return source.choice((0, 0.1, 1))
    dice = source.random()
    if dice < 0.15:
        return source.choice(HOSTILE_TEXTS)
    if name in _WORDS_BY_PROPERTY:
        return source.choice(_WORDS_BY_PROPERTY[name])
    if name in valid_values and dice < 0.9:
        return valid_values[name]
    return source.choice(sorted(valid_values.values()))
