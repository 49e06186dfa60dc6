"""Messages to produce, read from lines, JSON and templates."""

import os
import re
from pathlib import Path

import pytest

from nsadmin.client.messages.bulk_sender import MessageDraft
from nsadmin.commands.messages import draft_input
from nsadmin.console.exit_codes import UsageError

DEFAULTS = MessageDraft(b"", "k", "A", {"mine": "1"}, None)


def test_lines_of_a_pipe_come_as_they_are_written() -> None:
    reading, writing = os.pipe()
    lines = draft_input.read_lines(reading)
    os.write(writing, b"one\ntwo\nth")
    assert [next(lines), next(lines), next(lines)] == [b"one", b"two", None]
    os.write(writing, b"ree\n\nlast")
    os.close(writing)
    assert list(lines) == [b"three", b"", b"last"]
    os.close(reading)


def test_a_file_is_read_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(bytes(range(256)) * 1000)
    descriptor = os.open(file, os.O_RDONLY)
    assert draft_input.read_all(descriptor) == file.read_bytes()
    os.close(descriptor)


def test_a_template_has_placeholders() -> None:
    text = draft_input.fill_template('{"id": {n}, "at": "{time}", "u": "{uuid}", "r": {random:5-7}, {x}}', 3)
    assert re.fullmatch(r'\{"id": 3, "at": "20\d\d-\S+Z", "u": "[0-9a-f-]{36}", "r": [567], \{x\}\}', text)


@pytest.mark.parametrize(
    ("line", "draft"),
    [
        ('{"body": "one"}', DEFAULTS._replace(body=b"one")),
        ('{"body": {"a": "ä"}}', DEFAULTS._replace(body='{"a": "ä"}'.encode())),
        ('{"body": "/w==", "bodyEncoding": "base64"}', DEFAULTS._replace(body=b"\xff")),
        ('{"body": "x", "key": "k1", "tag": "B"}', DEFAULTS._replace(body=b"x", keys="k1", tags="B")),
        (
            '{"body": "x", "keys": ["k1", "k2"], "tags": "B"}',
            DEFAULTS._replace(body=b"x", keys="k1 k2", tags="B"),
        ),
        (
            '{"body": "x", "properties": {"a": "b", "n": 7, "UNIQ_KEY": "U", "DELAY": "3", "KEYS": "z"}}',
            DEFAULTS._replace(body=b"x", properties={"mine": "1", "a": "b", "n": "7"}),
        ),
        (
            '{"body": "x", "delay": 3, "shardingKey": "s"}',
            DEFAULTS._replace(body=b"x", properties={"mine": "1", "DELAY": "3"}, sharding_key="s"),
        ),
        (
            '{"body": "x", "properties": {"__SHARDINGKEY": "s"}}',
            DEFAULTS._replace(body=b"x", sharding_key="s"),
        ),
    ],
)
def test_a_line_of_json_is_a_message(line: str, draft: MessageDraft) -> None:
    assert draft_input.parse_json_draft(line.encode(), 1, DEFAULTS) == draft


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '"x"',
        '{"body": ""}',
        '{"body": "x", "delay": 19}',
        '{"body": "?", "bodyEncoding": "base64"}',
    ],
)
def test_an_invalid_line_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="produce: line 7 is invalid: "):
        draft_input.parse_json_draft(line.encode(), 7, DEFAULTS)


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("1", {"DELAY": "1"}),
        ("18", {"DELAY": "18"}),
        ("500ms", {"TIMER_DELAY_MS": "500"}),
        ("2h", {"TIMER_DELAY_MS": "7200000"}),
    ],
)
def test_a_delay_is_a_level_or_a_duration(text: str, properties: dict[str, str]) -> None:
    assert draft_input.parse_delay(text) == properties


@pytest.mark.parametrize("text", ["0", "19", "", "soon", "-1s", "5 m"])
def test_a_delay_that_cannot_be(text: str) -> None:
    with pytest.raises(ValueError, match="invalid delay"):
        draft_input.parse_delay(text)
