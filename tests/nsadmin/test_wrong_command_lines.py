"""Wrong command lines: each has exactly these lines on stderr, and this exit code.

The table is tests/golden/output/wrong_command_lines.txt. In it, {ns} is the asked name server, and
{now} is a time.
"""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer

TABLE = Path(__file__).parents[1] / "golden" / "output" / "wrong_command_lines.txt"


class WrongLine(NamedTuple):
    """A command line without `nsadmin`, its exit code, and what it writes to stderr."""

    words: str
    exit_code: int
    stderr_text: str


def read_table() -> list[WrongLine]:
    blocks = re.findall(r"^\$ nsadmin ?(.*)\n((?:nsadmin: .*\n)*)=> (\d+)\n", TABLE.read_text(), re.MULTILINE)
    return [WrongLine(words, int(code), stderr_text) for words, stderr_text, code in blocks]


def test_the_table_has_at_least_a_hundred_lines_and_no_other_text() -> None:
    wrong_lines = read_table()
    text = "".join(
        f"$ nsadmin{' ' if line.words else ''}{line.words}\n{line.stderr_text}=> {line.exit_code}\n"
        for line in wrong_lines
    )
    comments_left_out = re.sub(r"^(#.*)?\n", "", TABLE.read_text(), flags=re.MULTILINE)
    assert (text, len(wrong_lines) >= 100) == (comments_left_out, True)


@pytest.mark.parametrize("wrong_line", read_table(), ids=lambda line: line.words or "nothing")
def test_a_wrong_command_line_says_what_is_wrong_and_what_to_do(
    run: Run,
    broker: FakeBroker,
    first_server: FakeNameServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    wrong_line: WrongLine,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert broker.addr
    first_server.kv = {"ORDER_TOPIC_CONFIG": {"T": "broker-a:4"}}
    for context_name, option in (("lab", "--writable"), ("prod", "--read-only")):
        assert run("contextSet", context_name, "-n", first_server.addr, option).code == 0
    result = run(*shlex.split(wrong_line.words.replace("{ns}", first_server.addr)))
    stderr_text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z(?=\n)", "{now}", result.err)
    expected_text = wrong_line.stderr_text.replace("2026-11-23T14:03Z\n", "{now}\n")
    assert (stderr_text.replace(first_server.addr, "{ns}"), int(result.code)) == (
        expected_text,
        wrong_line.exit_code,
    )
