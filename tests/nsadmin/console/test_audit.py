"""What is kept of each change, also of those that failed or were interrupted, and what is not."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.command_line.declarations import command_parameters
from nsadmin.command_line.registry import COMMANDS
from nsadmin.console import audit
from nsadmin.console.audit import AuditLog, UnreadableAuditError
from nsadmin.console.contexts import Context, Contexts, save_contexts
from tests.nsadmin.conftest import Run
from tests.nsadmin.test_app import ENVIRONMENT, NSADMIN
from tests.support.clock import set_calls_clock
from tests.support.fake_servers import Answer, FakeNameServer, answer_hang_up, answer_nothing, closed_port
from tests.support.hostile_folder import limit_file_size

PUT = RequestCode.PUT_KV_CONFIG


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        yield running


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where `run` has its audit."""
    return tmp_path / "audit.jsonl"


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"NSADMIN_AUDIT": "off", "XDG_STATE_HOME": "/s"}, None),
        ({"NSADMIN_AUDIT": "/a/b", "XDG_STATE_HOME": "/s"}, Path("/a/b")),
        ({"XDG_STATE_HOME": "/s"}, Path("/s/nsadmin/audit.jsonl")),
        ({}, Path("~/.local/state/nsadmin/audit.jsonl").expanduser()),
    ],
)
def test_where_it_is(environ: dict[str, str], expected: Path | None) -> None:
    assert audit.audit_path(environ) == expected


def test_a_change_is_a_line_with_all_that_was_sent_and_came_of_it(
    run: Run, server: FakeNameServer, file: Path, tmp_path: Path
) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    context = Context(f"{server.addr};{dead}")
    save_contexts(tmp_path / "config.yaml", Contexts({"prod": context}))
    assert run("updateKvConfig", "N", "a key", "v", "--context", "prod").code == 3
    [record] = records(file)
    assert abs(record.pop("time") / 1000 - file.stat().st_mtime) < 5
    user = record.pop("user")
    assert user.partition("@")[0] == subprocess.check_output(["id", "-un"], text=True).strip()
    refused = "connection refused, no server listens on this port"
    change_fields = {"namespace": "N", "key": "a key"}
    results, sent = record.pop("results"), record.pop("sent")
    assert {(item["server"], item["request"], item["outcome"]) for item in sent} == {
        (server.addr, "PUT_KV_CONFIG", "SUCCESS (0)"),
        (dead, "PUT_KV_CONFIG", refused),
    }
    assert [row["result"] for row in results] == ["done", "failed"]
    assert results[1] == {"namesrvAddr": dead, **change_fields, "result": "failed", "error": refused}
    assert record == {
        "context": "prod",
        "nameServers": [server.addr, dead],
        "command": "updateKvConfig N 'a key' v --context prod",
        "exitCode": 3,
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_each_line_of_a_batch_is_kept_by_itself(
    run: Run, server: FakeNameServer, file: Path, tmp_path: Path
) -> None:
    lines = tmp_path / "lines"
    lines.write_text("updateKvConfig N k v\nkvList N\ndeleteKvConfig N k --yes\n")
    assert run("batch", str(lines), "-n", server.addr).code == 0
    kept = [(item["command"], item["nameServers"], item["exitCode"]) for item in records(file)]
    assert kept == [
        ("updateKvConfig N k v", [server.addr], 0),
        ("deleteKvConfig N k --yes", [server.addr], 0),
    ]


def test_lines_are_added_to_those_there_are(run: Run, server: FakeNameServer, file: Path) -> None:
    for key in ("k1", "k2"):
        run("updateKvConfig", "N", key, "v", "-n", server.addr)
    assert [record["sent"][0]["server"] for record in records(file)] == [server.addr] * 2
    assert ["k1" in record["command"] for record in records(file)] == [True, False]


@pytest.mark.parametrize(
    "words",
    [
        ("kvList", "N"),
        ("updateKvConfig", "N", "k", "v", "--dry-run"),
        ("updateKvConfig", "N"),
        ("deleteKvConfig", "N", "k"),
        ("updateOrderConf", "T", "get"),
        ("wipeWritePerm", "no-such-broker"),
    ],
)
def test_nothing_is_kept_where_nothing_was_sent_that_changes_something(
    run: Run, server: FakeNameServer, file: Path, words: tuple[str, ...]
) -> None:
    run(*words, "-n", server.addr)
    assert server.asked_codes().count(PUT) == 0
    assert not file.exists()


def test_a_change_that_got_no_answer_is_kept(run: Run, server: FakeNameServer, file: Path) -> None:
    server.handlers[PUT] = answer_hang_up
    assert run("updateKvConfig", "N", "k", "v", "-n", server.addr).code == 4
    [record] = records(file)
    assert record["sent"][0]["outcome"].startswith("closed the connection without an answer")
    assert record["exitCode"] == 4


def test_a_change_that_ends_in_a_fault_is_kept(
    run: Run, server: FakeNameServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("nsadmin.console.output.write_rows", broken)
    assert run("updateKvConfig", "N", "k", "v", "-n", server.addr).code == 1
    assert records(file)[0]["exitCode"] == 1


@pytest.mark.parametrize("answers", [True, False])
def test_ctrl_c_in_the_middle_of_a_change_says_and_keeps_what_may_have_been_done(
    server: FakeNameServer, file: Path, answers: bool
) -> None:
    asked = [threading.Event(), threading.Event()]
    with FakeNameServer() as other:

        def put(command: RemotingCommand) -> Answer:
            asked[0].set()
            return server._put(command) if answers else None

        server.handlers[PUT] = put
        other.handlers[PUT] = lambda _: asked[1].set()
        process = subprocess.Popen(
            [*NSADMIN, "updateKvConfig", "N", "k", "v", "-n", f"{server.addr};{other.addr}", "--timeout=30"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENVIRONMENT, "NSADMIN_AUDIT": str(file)},
        )  # fmt: skip
        assert all(event.wait(10) for event in asked)
        process.send_signal(signal.SIGINT)
        out, stderr = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, b"")
    [record] = records(file)
    outcomes = {sent["server"]: sent["outcome"] for sent in record["sent"]}
    assert outcomes[other.addr] == "interrupted before the answer"
    assert record["exitCode"] == 130
    if answers and outcomes[server.addr] == "SUCCESS (0)":
        expected = (
            f"interrupted; done: PUT_KV_CONFIG on {server.addr}; may have been done: PUT_KV_CONFIG on"
            f" {other.addr}"
        )
        assert stderr.decode() == f"nsadmin: {expected}\n"
    else:
        assert stderr.decode().startswith("nsadmin: interrupted; may have been done: PUT_KV_CONFIG on ")
        assert stderr.count(b"PUT_KV_CONFIG on") == 2


def test_ctrl_c_before_a_change_says_that_nothing_was_changed(server: FakeNameServer, file: Path) -> None:
    asked = threading.Event()
    server.handlers[RequestCode.GET_BROKER_CLUSTER_INFO] = lambda _: asked.set()
    process = subprocess.Popen(
        [*NSADMIN, "wipeWritePerm", "broker-a", "-n", server.addr, "--timeout=30"],
        stderr=subprocess.PIPE, env={**ENVIRONMENT, "NSADMIN_AUDIT": str(file)},
    )  # fmt: skip
    assert asked.wait(10)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert (process.returncode, stderr) == (130, b"nsadmin: interrupted; nothing was changed\n")
    assert not file.exists()


def test_secrets_and_messages_are_left_out() -> None:
    hidden = audit._hide_secrets
    words = ["updateBrokerConfig", "-vhunter2", "aclSecretKey"]
    assert hidden(words, {"key": "aclSecretKey", "value": "hunter2"}) == [words[0], "-v***", words[2]]
    assert hidden(["sendMessage", "T", "Dear Eve"], {"body": "Dear Eve"}) == ["sendMessage", "T", "***"]
    assert hidden(["x", "v"], {"key": "k", "value": "v"}) == ["x", "v"]
    row = {"key": "tls.client.keyPassword", "before": "a", "after": "b", "error": None, "result": "done"}
    assert audit._result_record(row) == {
        "key": "tls.client.keyPassword",
        "before": "***",
        "after": "***",
        "result": "done",
    }
    kv = {"kind": "kv", "name": "N secretKey", "changes": "new: a", "after": "a"}
    assert audit._result_record(kv) == {"kind": "kv", "name": "N secretKey", "changes": "***", "after": "***"}
    topic = {"kind": "topic", "name": "password-resets", "after": {"perm": 6}}
    assert audit._result_record(topic) == topic


@pytest.mark.parametrize(
    "key",
    [
        "db.pwd", "api_key", "apiKey", "API-KEY", "db.passwd", "password", "secretKey", "access_key",
        "accessKey", "token", "oauth.credential", "tls.privateKey", "passphrase",
    ],
)  # fmt: skip
def test_the_value_of_a_secret_key_is_left_out_wherever_it_stands(key: str) -> None:
    for words in (
        ["updateKvConfig", "N", key, "hunter2"],
        ["updateBrokerConfig", "-k", key, "-v", "hunter2"],
        ["updateBrokerConfig", f"--key={key}", "--value=hunter2"],
    ):
        hidden = audit._hide_secrets(words, {"key": key, "value": "hunter2"})
        assert "hunter2" not in " ".join(hidden)
        assert key in " ".join(hidden)
    for word in (
        f"{key}=hunter2",
        f"--property={key}=hunter2",
        f"{key} : hunter2",
        f'{{"a":1,"{key}":"hunter2"}}',
        f"a=1\n{key}=hunter2 hunter2\nb=2",
    ):
        assert "hunter2" not in " ".join(audit._hide_secrets(["sendMessage", "T", word], {}))
        assert "hunter2" not in str(audit._result_record({"key": "k", "after": word, "error": [word]}))
    assert audit._result_record({"kind": "topic", "after": {key: "hunter2", "perm": 6}}) == {
        "kind": "topic",
        "after": {key: "***", "perm": 6},
    }


def test_every_secret_of_a_word_is_left_out_the_longest_first() -> None:
    values = {"password": "ab", "secret_key": "abc", "namespace": "db-passwords", "value": "xyz"}
    assert audit._hide_secrets(["c", "abcabxyz"], values) == ["c", "***" * 3]


def test_names_that_sound_secret_are_kept_where_nothing_is_assigned() -> None:
    words = ["updateTopic", "token-events", "-n", "token-ns:9876", "--passwordStdin", "-b=broker-a"]
    assert audit._hide_secrets(words, {}) == words
    row = {"brokerAddr": "secret-host:10911", "topic": "api_key", "key": "a", "value": "b"}
    assert audit._result_record(row) == row


def test_the_audit_of_a_command_has_no_secret(run: Run, server: FakeNameServer, file: Path) -> None:
    for words in (
        ("updateKvConfig", "N", "db.pwd", "hunter2"),
        ("updateKvConfig", "N", "api_key", "hunter2", "--output", "json"),
        ("updateKvConfig", "N", "jdbc", "db.password=hunter2"),
    ):
        assert run(*words, "-n", server.addr).code == 0
    assert len(records(file)) == 3
    assert "hunter2" not in file.read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a link to another user")
def test_a_link_of_another_user_in_the_place_of_the_audit_is_not_followed(
    run: Run, server: FakeNameServer, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "victim").write_text("")
    file.symlink_to(tmp_path / "victim")
    os.chown(file, 12345, 12345, follow_symlinks=False)
    result = run("updateKvConfig", "N", "k", "v", "-n", server.addr)
    assert (result.code, (tmp_path / "victim").read_text()) == (0, "")
    assert "not followed, because it is a symbolic link of another user" in result.err


HIDDEN_BY_NAME = {
    "--body": "body",
    "--key": "key",
    "--password": "password",
    "--secretKey": "secret_key",
    "--template": "template",
    "--value": "value",
}
PLAIN_KEYS = {
    ("dlqReplay", "--key"),
    ("kvSync", "--key"),
    ("produce", "--key"),
    ("sendMessage", "--key"),
    ("transferMessages", "--key"),
}
"""Keys that stand beside no value: those of a message, and those of the KV config that are to be copied."""


def test_what_is_hidden_is_known_by_the_names_that_commands_give_it() -> None:
    for entry in (entry for entry in COMMANDS if entry.may_change):
        names = {
            flag: parameter.name
            for parameter in command_parameters(entry.load_function())
            for flag in parameter.flags
            if flag in HIDDEN_BY_NAME and (entry.name, flag) not in PLAIN_KEYS
        }
        assert names == {flag: HIDDEN_BY_NAME[flag] for flag in names}, entry.name


def test_every_flag_whose_text_is_hidden_is_one_of_a_command() -> None:
    functions = [entry.load_function() for entry in COMMANDS if entry.may_change]
    flags = {flag for f in functions for p in command_parameters(f) for flag in p.flags}
    assert HIDDEN_BY_NAME.keys() <= flags


def test_where_it_cannot_be_written_the_change_is_done_and_a_line_says_so(
    run: Run, server: FakeNameServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_AUDIT", "/dev/null/x/audit")
    done = run("updateKvConfig", "N", "k", "v", "-n", server.addr, "--output", "name")
    line = (
        "nsadmin: the audit has no record of this change: cannot write /dev/null/x/audit: Not a directory\n"
    )
    assert (done.code, done.out, done.err.endswith(line)) == (0, f"{server.addr}\n", True)
    os.mkfifo(file)
    monkeypatch.setenv("NSADMIN_AUDIT", str(file))
    assert (
        "the audit has no record of this change: cannot write"
        in run("updateKvConfig", "N", "k", "v", "-n", server.addr).err
    )
    assert server.kv == {"N": {"k": "v"}}


def test_lines_that_are_none_are_numbered(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert audit.load_audit(file) == AuditLog([], [])
    file.write_bytes(b'{"time": 1}\n{"ti\nnull\n\xff\n{"time": 2}\n')
    assert audit.load_audit(file) == AuditLog([{"time": 1}, {"time": 2}], [2, 3, 4])
    with pytest.raises(UnreadableAuditError, match="Is a directory"):
        audit.load_audit(tmp_path)


def test_many_at_a_time_do_not_mix_their_lines(file: Path) -> None:
    program = (
        "import os, sys\n"
        "from nsadmin.console import audit\n"
        "for number in range(50):\n"
        "    audit.append_audit_record({'time': number, 'text': sys.argv[1] * 5000})\n"
    )
    environment = {**ENVIRONMENT, "NSADMIN_AUDIT": str(file)}
    writers = [subprocess.Popen([sys.executable, "-c", program, who], env=environment) for who in "ab"]
    assert [writer.wait(20) for writer in writers] == [0, 0]
    audit_lines = audit.load_audit(file)
    assert (len(audit_lines.records), audit_lines.unreadable_lines) == (100, [])


def test_a_full_disk_is_a_warning_and_joins_no_records(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_AUDIT", str(file))
    warnings: list[str] = []
    audit.append_audit_record({"time": 1}, warnings.append)
    with limit_file_size(file.stat().st_size + 5):
        audit.append_audit_record({"time": 2}, warnings.append)
    audit.append_audit_record({"time": 3}, warnings.append)
    assert audit.load_audit(file) == AuditLog([{"time": 1}, {"time": 3}], [])
    assert warnings == [
        f"the audit has no record of this change: cannot write {file}: {os.strerror(errno.EFBIG)}"
    ]


@pytest.mark.parametrize("end_signal", [signal.SIGTERM, signal.SIGHUP])
def test_a_change_that_a_signal_ends_is_kept(
    server: FakeNameServer, file: Path, end_signal: signal.Signals
) -> None:
    asked = threading.Event()
    server.handlers[PUT] = lambda _: asked.set()
    process = subprocess.Popen(
        [*NSADMIN, "updateKvConfig", "N", "k", "v", "-n", server.addr, "--timeout=30"],
        stderr=subprocess.PIPE, env={**ENVIRONMENT, "NSADMIN_AUDIT": str(file)},
    )  # fmt: skip
    assert asked.wait(10)
    process.send_signal(end_signal)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    assert stderr.startswith(b"nsadmin: interrupted; may have been done: PUT_KV_CONFIG on ")
    [record] = records(file)
    assert (record["exitCode"], record["sent"][0]["outcome"]) == (130, "interrupted before the answer")


def test_a_silent_server_makes_a_line_after_the_timeout(
    run: Run, server: FakeNameServer, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.handlers[PUT] = answer_nothing
    set_calls_clock(monkeypatch, lambda: len(server.asked))
    result = run("updateKvConfig", "N", "k", "v", "-n", server.addr, "--timeout", "0.01")
    assert "no answer within 0.01 s; the change is possibly done" in result.out
    assert records(file)[0]["sent"][0]["outcome"] == "no answer within 0.01 s"
