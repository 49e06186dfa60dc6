"""batch: lines as if each were typed by itself, over connections that stay open."""

import fcntl
import io
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nsadmin.commands.programs.batch import split_line
from tests.nsadmin.conftest import Run
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.fake_servers import FakeNameServer

Write = Callable[..., str]


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as running:
        running.routes = {"T": {"a": 6}, "U": {"a": 6}}
        yield running


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file of lines, in the folder that is worked in."""
    monkeypatch.chdir(tmp_path)

    def write(*lines: str) -> str:
        Path("lines").write_text("\n".join(lines))
        return "lines"

    return write


def test_each_line_writes_what_it_writes_alone_and_all_use_one_connection(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    lines = ("topicList", "topicRoute T --json", "kvGet -- NS k", "topic-list --output csv")
    server.kv = {"NS": {"k": "v"}}
    alone = [run("-n", server.addr, *split_line(line)).out for line in lines]
    before = len(server.connections)
    assert run("batch", write(*lines), "-n", server.addr) == (0, "".join(alone), "")
    assert len(server.connections) == before + 1


def test_lines_are_words_as_in_a_shell(run: Run, write: Write, server: FakeNameServer) -> None:
    lines = (
        "# nothing but a comment",
        "",
        '  nsadmin updateKvConfig NS \'a key\' "a \\"value\\""  # and what it is for',
        "updateKvConfig NS b a#b",
    )
    assert run("batch", write(*lines), "-n", server.addr).code == 0
    assert server.kv == {"NS": {"a key": 'a "value"', "b": "a#b"}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a b", ["a", "b"]),
        ("a 'b c' d\\ e", ["a", "b c", "d e"]),
        ("a '' \"#\" b#c #d", ["a", "", "#", "b#c"]),
        ("-s 2026-01-01#00:00:00:000", ["-s", "2026-01-01#00:00:00:000"]),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert split_line(text) == words


def test_a_line_that_fails_is_named_and_the_others_are_run(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    file = write("topicRoute nowhere", "topicList --bad", "", "kvGet 'NS", "topicList")
    result = run("batch", file, "-n", server.addr)
    assert (result.code, result.out) == (5, "topic\nT\nU\n")
    error_lines = [line for line in result.err.splitlines() if "lines:" in line or "commands" in line]
    assert error_lines == [
        "nsadmin: lines:1: topicRoute nowhere: exit code 5 (the named topic, group, broker, "
        "key or message does not exist)",
        "nsadmin: lines:2: topicList --bad: exit code 2 (the command line is wrong, or a setting is invalid)",
        "nsadmin: lines:4: kvGet 'NS: exit code 2 (the command line is wrong, or a setting is invalid)",
        "nsadmin: 3 of 4 commands failed",
    ]
    assert "nsadmin: no closing quotation\n" in result.err


def test_the_exit_code_of_a_check_is_that_of_a_plugin(run: Run, write: Write) -> None:
    result = run("batch", write("check namesrv"), "-n", "127.0.0.1:1")
    assert "lines:1: check namesrv: exit code 2 (critical)" in result.err


def test_it_can_stop_at_the_first_that_fails(run: Run, write: Write, server: FakeNameServer) -> None:
    file = write("topicList --no-headers", "topicRoute nowhere", "topicList")
    result = run("batch", "--stop-on-error", file, "-n", server.addr)
    assert (result.code, result.out) == (5, "T\nU\n")
    assert result.err.endswith("nsadmin: lines:2: stopped here\n")


def test_a_line_that_says_where_is_given_no_other_place_of_the_batch(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    result = run(
        "batch", write(f"topicList -n {server.addr} --no-tls"), "--endpoint", "nowhere", "--tlsCa", "x"
    )
    assert (result.code, result.err) == (0, "")
    assert result.out == "topic\nT\nU\n"


def test_options_of_the_batch_count_where_a_line_says_nothing_else(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    with FakeNameServer() as other:
        other.routes = {"elsewhere": {"a": 6}}
        run("contextSet", "there", "-n", other.addr)
        lines = (
            "topicList", "topicList --json", f"topicList -n {other.addr}", "topicList --context there",
            "contextList --output value --columns name",
        )  # fmt: skip
        result = run("--output", "jsonl", "batch", write(*lines), "-n", server.addr)
    assert result.out.splitlines() == [
        '{"topic": "T"}',
        '{"topic": "U"}',
        *("[", "  {", '    "topic": "T"', "  },", "  {", '    "topic": "U"', "  }", "]"),
        '{"topic": "elsewhere"}',
        '{"topic": "elsewhere"}',
        "there",
    ]
    assert result.code == 0


def test_other_name_servers_leave_the_context_of_the_batch_in_force(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    with FakeNameServer() as other:
        run("contextSet", "prod", "-n", server.addr, "--read-only")
        file = write(f"updateKvConfig NS k v -n {other.addr}")
        assert run("batch", file, "--context", "prod").code == 6
        assert other.kv == server.kv == {}


def test_a_dry_run_changes_nothing(run: Run, write: Write, server: FakeNameServer) -> None:
    run("contextSet", "there", "-n", server.addr)
    file = write("updateKvConfig NS k v", "topicList", "contextDelete there")
    result = run("batch", file, "-n", server.addr, "--dry-run")
    assert result.code == 2
    assert "context delete does not support --dry-run, so it cannot run in this batch" in result.err
    assert server.kv == {}
    assert "there" in run("contextList").out


def test_yes_counts_for_each_line(run: Run, write: Write, server: FakeNameServer) -> None:
    server.kv = {"NS": {"k": "v", "l": "v"}}
    file = write("deleteKvConfig NS k", "topicList --no-headers")
    assert run("batch", file, "-n", server.addr).code == 2
    assert run("batch", file, "-n", server.addr, "--yes").code == 0
    assert server.kv == {"NS": {"l": "v"}}


@pytest.mark.parametrize("line", ["batch other", "namesrv -p", "lab up"])
def test_what_has_no_place_in_a_batch(line: str, run: Run, write: Write) -> None:
    result = run("batch", write(line))
    assert (result.code, result.out) == (2, "")
    assert f"nsadmin: {line.removesuffix(' -p').removesuffix(' other')} cannot run in a batch\n" in result.err


def test_lines_from_stdin(run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.StringIO("topicList\ntopicRoute nowhere\n")
    monkeypatch.setattr(sys, "stdin", given)
    result = run("batch", "-", "-n", server.addr)
    assert (result.code, result.out) == (5, "topic\nT\nU\n")
    assert "nsadmin: stdin:2: topicRoute nowhere: exit code 5" in result.err
    assert sys.stdin is given


@pytest.mark.parametrize(
    ("name", "why"), [("none", "cannot read none: No such file"), (".", ". is a folder: name a file in it")]
)
def test_a_file_that_cannot_be_read(name: str, why: str, run: Run, write: Write) -> None:
    write()
    result = run("batch", name)
    assert (result.code, result.err.startswith(f"nsadmin: {why}")) == (2, True)


def test_a_byte_order_mark_is_no_part_of_the_first_line(
    run: Run, write: Write, server: FakeNameServer
) -> None:
    assert run("batch", write("\ufefftopicList"), "-n", server.addr) == (0, "topic\nT\nU\n", "")


def test_an_empty_file_is_done(run: Run, write: Write) -> None:
    assert run("batch", write("# nothing")) == (0, "", "")


def test_a_line_of_a_program_that_goes_on_is_answered_at_once(server: FakeNameServer) -> None:
    child = subprocess.Popen(
        [*NSADMIN, "batch", "-", "-n", server.addr, "--output", "value"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT, text=True,
    )  # fmt: skip
    with child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(2):
            child.stdin.write("topicList --filter topic=T\n")
            child.stdin.flush()
            assert child.stdout.readline() == "T\n"
        child.stdin.close()
        assert child.wait(10) == 0


def test_ctrl_c_ends_the_batch(server: FakeNameServer, write: Write) -> None:
    asked = threading.Event()

    def wait(_: object) -> None:
        asked.set()

    server.handlers[206] = wait
    child = subprocess.Popen(
        [*NSADMIN, "batch", write("topicList --timeout 30", "topicRoute T"), "-n", server.addr],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
    )  # fmt: skip
    assert asked.wait(10)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=10) == (b"", b"nsadmin: interrupted\n")
    assert child.returncode == 130


def test_questions_are_asked_on_the_terminal_and_not_of_the_lines(server: FakeNameServer) -> None:
    server.kv = {"NS": {"k": "v", "l": "v"}}
    terminal, end = pty.openpty()

    def own_the_terminal() -> None:
        os.setsid()
        fcntl.ioctl(end, termios.TIOCSCTTY, 0)

    child = subprocess.Popen(
        [*NSADMIN, "batch", "-", "-n", server.addr], env=ENVIRONMENT, preexec_fn=own_the_terminal,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=end,
    )  # fmt: skip
    os.close(end)
    os.write(terminal, b"no\nyes\n")
    out, _ = child.communicate(b"deleteKvConfig NS k\ndeleteKvConfig NS l\n", timeout=10)
    os.close(terminal)
    assert (child.returncode, server.kv) == (1, {"NS": {"k": "v"}})
    assert b"done" in out
