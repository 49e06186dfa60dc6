"""The world of a command: whom to ask before a change, and what to say at the end."""

import os
import pty
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.connection.access_options import Credentials
from nsadmin.client.results import ReadOnlyAccess
from nsadmin.console import progress
from nsadmin.console.contexts import Context, Contexts, load_contexts, save_contexts
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import Session, SharedOptions
from tests.nsadmin.conftest import Run
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.clock import set_calls_clock
from tests.support.fake_servers import FakeNameServer, answer_nothing, closed_port


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        running.kv = {"N": {"k": "v"}}
        yield running


def on_terminal(
    answer: bytes, *args: str, prompt: bytes = b"[y/N] ", env: Mapping[str, str] | None = None
) -> tuple[int, bytes, bytes]:
    """Run on a terminal of its own and answer what is asked: exit code, stdout (a pipe), what was shown."""
    controller, terminal = pty.openpty()
    try:
        process = subprocess.Popen(
            [*NSADMIN, *args],
            stdin=terminal,
            stdout=subprocess.PIPE,
            stderr=terminal,
            env={**ENVIRONMENT, **(env or {})},
        )
        os.close(terminal)
        terminal_output = b""
        while not terminal_output.endswith(prompt):
            terminal_output += os.read(controller, 1024)
        os.write(controller, answer)
        out, _ = process.communicate(timeout=10)
        return process.returncode, out, terminal_output
    finally:
        os.close(controller)


def test_on_a_terminal_a_change_is_asked_about_and_yes_does_it(server: FakeNameServer) -> None:
    code, out, terminal_text = on_terminal(b"y\n", "deleteKvConfig", "N", "k", "-n", server.addr, "--json")
    assert terminal_text == f"Delete N k on {server.addr}? [y/N] ".encode()
    assert (code, server.kv) == (0, {"N": {}})
    assert b'"result": "done"' in out


@pytest.mark.parametrize("answer", [b"n\n", b"\n", b"yess\n", b"\x04"])
def test_anything_else_changes_nothing(server: FakeNameServer, answer: bytes) -> None:
    code, out, _ = on_terminal(answer, "updateKvConfig", "N", "k", "new", "-n", server.addr)
    assert (code, out, server.kv) == (1, b"", {"N": {"k": "v"}})
    assert server.asked == []


@pytest.mark.parametrize(
    ("args", "shown_as"), [((), b"\x1b[1;31m[prod]\x1b[0m "), (("--no-color",), b"[prod] ")]
)
def test_on_a_terminal_a_question_names_the_context_in_its_colour(
    server: FakeNameServer, tmp_path: Path, args: tuple[str, ...], shown_as: bytes
) -> None:
    env = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml"), "NO_COLOR": ""}
    save_contexts(tmp_path / "config.yaml", Contexts({"prod": Context(server.addr, color="red")}, "prod"))
    code, _, terminal_text = on_terminal(b"y\n", "updateKvConfig", "N", "k", "new", *args, env=env)
    assert terminal_text.startswith(shown_as + b'Write N k = "new" on ')
    assert (code, server.kv) == (0, {"N": {"k": "new"}})


def test_on_a_terminal_a_secret_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    words = ("contextSet", "p", "-n", "a", "--accessKey", "me", "--json")
    code, out, text = on_terminal(b"s3cret\n", *words, prompt=b": ", env={"NSADMIN_CONFIG": str(file)})
    assert (code, text) == (0, b"Secret key: ")
    assert b"s3cret" not in out
    assert load_contexts(file).contexts_by_name["p"].credentials == Credentials("me", "s3cret")


def test_off_a_terminal_what_can_be_undone_goes_ahead_and_what_deletes_needs_yes(
    run: Run, server: FakeNameServer
) -> None:
    server.kv = {"N": {"k": "old"}}
    assert run("deleteKvConfig", "N", "k", "-n", server.addr).code == 2
    assert server.kv == {"N": {"k": "old"}}
    assert run("updateKvConfig", "N", "k", "new", "-n", server.addr).code == 0
    assert run("deleteKvConfig", "N", "k", "-n", server.addr, "--yes").code == 0
    assert server.kv == {"N": {}}


def test_a_context_without_name_servers_is_told_so(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_contexts(tmp_path / "config.yaml", Contexts({"bare": Context(timeout=0.5)}))
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    monkeypatch.delenv("NAMESRV_ADDR", raising=False)
    no_servers_text = "no name server is set by -n, NAMESRV_ADDR or the context bare: trying"
    assert (
        no_servers_text in run("where", "--context", "bare").err + run("topicList", "--context", "bare").err
    )


def test_a_dry_run_needs_no_yes_to_delete() -> None:
    Session(SharedOptions(dry_run=True)).require_yes("x", "loss")
    Session(SharedOptions(yes=True)).require_yes("x", "loss")
    with pytest.raises(UsageError):
        Session(SharedOptions()).require_yes("x", "loss")


def test_one_dead_name_server_of_two_is_a_line_and_exit_code_3(run: Run, server: FakeNameServer) -> None:
    server.routes = {"T": {}}
    dead = f"127.0.0.1:{closed_port()}"
    for servers in (f"{dead};{server.addr}", f"{server.addr};{dead}"):
        done = run("topicList", "-n", servers)
        assert done == (
            3,
            "topic\nT\n",
            f"nsadmin: name server {dead}: connection refused, no server listens on this port\n",
        )


def test_not_found_beside_a_dead_name_server_is_still_not_found(run: Run, server: FakeNameServer) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    result = run("topicRoute", "T", "-n", f"{dead};{server.addr}")
    assert (result.code, result.out) == (5, "")
    assert result.err == (
        f"nsadmin: name server {dead}: connection refused, no server listens on this port\n"
        f"nsadmin: {server.addr}: TOPIC_NOT_EXIST (17): No topic route info in name server for the topic: T\n"
        "nsadmin: run nsadmin topicList to list the topics\n"
    )


def test_when_all_are_dead_one_line_names_them_all_and_another_what_chose_them_unless_typed(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (f"127.0.0.1:{closed_port()}" for _ in range(2))
    refused = "connection refused, no server listens on this port"
    line = f"nsadmin: no name server answered: {one}, {other}: {refused}\n"
    assert run("topicList", "-n", one, "-n", other) == (4, "", line)
    monkeypatch.setenv("NAMESRV_ADDR", f"{one};{other}")
    advice = "nsadmin: NAMESRV_ADDR names these name servers\n"
    assert run("topicList") == (4, "", line + advice)


def test_name_servers_that_disagree_are_mentioned_and_change_nothing_else(
    run: Run, server: FakeNameServer
) -> None:
    server.routes = {"T": {}}
    with FakeNameServer() as other:
        done = run("topicList", "-n", f"{server.addr},{other.addr}")
        line = f"nsadmin: name servers {other.addr} and {server.addr} disagree about the list of topics\n"
        servers = f"-n {server.addr},{other.addr}"
        line += f"nsadmin: the result may be incomplete: run nsadmin divergence {servers}\n"
        assert done == (0, "topic\nT\n", line)


def test_repeating_goes_on_until_it_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("nsadmin.console.session.sleep", slept.append)
    rounds = Session(SharedOptions()).repeat_every(2.5, lambda: "x")
    assert [next(rounds) for _ in range(3)] == ["x"] * 3
    assert slept == [2.5, 2.5]


def test_steps_are_counted_where_somebody_sees_it(
    server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps_told: list[int] = []
    monkeypatch.setattr(progress, "can_draw_on_stderr", lambda: True)
    monkeypatch.setattr(progress.StepProgressBar, "advance_steps", lambda steps, n: steps_told.append(n))
    session = Session(SharedOptions(namesrv_addr=(server.addr,)))
    session.admin.kv.get_value("N", "k")
    with session.show_progress("applying", 3) as advance:
        advance(3)
    quiet = Session(SharedOptions(namesrv_addr=(server.addr,), quiet=True))
    quiet.admin.kv.get_value("N", "k")
    with quiet.show_progress("applying", 3) as advance:
        advance(4)
    assert steps_told == [3]
    for observed_session in (session, quiet):
        observed_session.close()


def test_quiet_says_errors_and_nothing_else(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.routes = {"T": {}}
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer() as other:
        assert run("topicList", "-n", f"{server.addr},{other.addr}", "--quiet") == (0, "topic\nT\n", "")
    result = run("--quiet", "topicList", "-n", f"{server.addr},{dead}")
    assert result.code == 3
    assert result.err == f"nsadmin: name server {dead}: connection refused, no server listens on this port\n"
    monkeypatch.setattr("nsadmin.client.connection.addresses.LOCAL_NAME_SERVER", server.addr)
    assert run("topicList", "--quiet") == (0, "topic\nT\n", "")
    server.config["orderMessageEnable"] = "false"
    words = ("updateOrderConf", "T", "put", "a:4", "-n", server.addr, "--output", "value")
    assert "orderMessageEnable is false" in run(*words).err
    assert run(*words, "--quiet").err == ""


def test_what_may_not_change_anything_cannot_send_a_change(server: FakeNameServer) -> None:
    readers = (Session(SharedOptions(), may_change=False), Session(SharedOptions(dry_run=True)))
    for session in (*readers, Session(SharedOptions(read_only=True))):
        session.options = session.options._replace(namesrv_addr=(server.addr,))
        with pytest.raises(ReadOnlyAccess):
            session.admin.kv.put_value("N", "k", "new")
        session.close()
    assert server.kv == {"N": {"k": "v"}}


def test_a_session_knows_which_changes_it_sent(server: FakeNameServer) -> None:
    session = Session(SharedOptions(namesrv_addr=(server.addr,)))
    session.admin.kv.delete_key("N", "k")
    session.close()
    assert [e.code for e in session.sent_changes.first_exchanges] == [RequestCode.DELETE_KV_CONFIG]


def test_a_tiny_timeout_is_named_in_the_error(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.handlers[RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER] = answer_nothing
    # Each attempt has had its time once the server has heard of it.
    set_calls_clock(monkeypatch, lambda: len(server.asked))
    result = run("topicList", "-n", server.addr, "--timeout", "0.01", "--retries", "2")
    assert (result.code, result.out) == (4, "")
    assert result.err == (
        f"nsadmin: no name server answered: {server.addr}: no answer within 0.01 s\n"
        "nsadmin: use --timeout SECONDS to wait longer\n"
    )
    assert len(server.asked) == 3


def test_a_watched_command_is_given_the_same_thing_each_time() -> None:
    session = Session(SharedOptions())
    assert session.remember_first(list) is session.remember_first(list)
    assert Session(SharedOptions()).remember_first(lambda: 7) == 7
