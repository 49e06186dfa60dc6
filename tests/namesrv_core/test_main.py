"""`python -m namesrv_core` as a program: what it prints, how it ends, what it never loses."""

import gc
import json
import random
import signal
import socket
import subprocess
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from namesrv_core.__main__ import main
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.storage import kv_file
from tests.support.hostile_folder import foreign_link, needs_root
from tests.support.name_server_flags import parse_flags, parse_quiet_flags, server_command
from tests.support.name_servers import ROOT, call_server, start_program


def run(*args: str, env: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """The program, run to its own end."""
    return subprocess.run(
        server_command(*args),
        cwd=ROOT, capture_output=True, text=True, timeout=20, env=env, check=False,
    )  # fmt: skip


def in_home(home: Path, *args: str) -> tuple[str, ...]:
    return ("--home", str(home), "--bind", "127.0.0.1", "--port", "0", *args)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_within_a_second_with_exit_code_0(tmp_path: Path, number: signal.Signals) -> None:
    with start_program(*in_home(tmp_path)) as server, server.connect() as connection:
        assert call_server(build_request(106), connection).code == 0
        begun = time.monotonic()
        code, _, err = server.end(number)
        assert code == 0
        assert time.monotonic() - begun < 1
        assert "Traceback" not in err
        assert connection.recv(1) == b""


def test_while_it_serves_it_seldom_goes_through_all_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collections_seen: list[tuple[int, int, int]] = []

    def serve(serving: Coroutine[Any, Any, None]) -> None:
        collections_seen.append(gc.get_threshold())
        serving.close()

    monkeypatch.setattr("namesrv_core.transport.event_loop.run_coroutine", serve)
    before = gc.get_threshold()
    try:
        assert main(parse_quiet_flags("--home", str(tmp_path), "--port", "0")) == 0
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
    assert collections_seen == [(5_000, 200, 50)]


def test_the_boot_line_is_the_one_that_start_scripts_wait_for_with_the_real_port(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server:
        head = "The Name Server boot success. serializeType=JSON, address 127.0.0.1:"
        assert server.boot.startswith(head)
        assert int(server.boot.removeprefix(head)) > 0
        server.connect().close()


def test_the_log_goes_to_stderr_and_stdout_has_nothing_more(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server, server.connect() as connection:
        put = build_request(100, {"namespace": "n", "key": "k", "value": "v"})
        assert call_server(put, connection).code == 0
        _, out, err = server.end(signal.SIGTERM)
    assert out == ""
    assert "KvPut namespace=n key=k value_bytes=1 (PUT_KV_CONFIG from 127.0.0.1:" in err


def test_a_log_that_nobody_reads_stops_neither_the_server_nor_its_end(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server, server.connect() as connection:
        # Far more than the 64 KiB that a pipe holds.
        for number in range(1500):
            register = build_request(217, {"topic": f"{number:0>100}"})
            put = build_request(
                100, {"namespace": "n", "key": f"{number:0>100}", "value": "v"}, is_oneway=True
            )
            connection.sendall(codec.encode_command(put) + codec.encode_command(register))
        assert call_server(build_request(319), connection).opaque
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 0
        _, _, err = server.end()
    assert err.startswith("20")


def refused(*args: str) -> str:
    """The one line that a start which fails prints."""
    ended = run(*args)
    assert ended.returncode == 1
    assert ended.stdout.replace("load config properties file OK", "").count("\n") <= 1
    lines = ended.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("nsadmin namesrv: ")
    return lines[0]


def test_a_port_in_use_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = refused("--home", str(tmp_path), "--bind", "127.0.0.1", "--port", port)
    assert f"cannot listen on 127.0.0.1:{port}" in line


@pytest.mark.parametrize(
    ("flag", "value"), [("--port", "65536"), ("--port", "-1"), ("--bind", "no.such.host.invalid")]
)
def test_an_address_that_cannot_be_is_one_line(tmp_path: Path, flag: str, value: str) -> None:
    assert "cannot listen on" in refused(*in_home(tmp_path, flag, value))


def test_a_configuration_file_that_is_missing_is_one_line(tmp_path: Path) -> None:
    assert "missing.conf" in refused(*in_home(tmp_path, "-c", str(tmp_path / "missing.conf")))


def test_a_configuration_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.conf").write_text("a=\\u12\n")
    assert 'bad.conf": ' in refused(*in_home(tmp_path, "-c", str(tmp_path / "bad.conf")))


def test_a_folder_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "kvConfig.json" in refused(*in_home(tmp_path / "file" / "home"))


@needs_root
@pytest.mark.parametrize("name", ["home", "home/kvConfig.json"])
def test_a_link_of_another_user_in_the_home_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "real").mkdir()
    if name != "home":
        (tmp_path / "home").mkdir()
    link = foreign_link(tmp_path / name, tmp_path / "real")
    assert f"{link}: not followed, because it is a symbolic link of another user" in refused(
        *in_home(tmp_path / "home")
    )
    assert list((tmp_path / "real").iterdir()) == []


def test_a_corrupt_kv_file_is_one_line_that_says_why(tmp_path: Path) -> None:
    (tmp_path / "kvConfig.json").write_text('{"table":{}}')
    assert refused(*in_home(tmp_path)).endswith('kvConfig.json": no configTable')


@pytest.mark.parametrize("key", ["clusterTest", "enableControllerInNamesrv"])
def test_what_is_not_supported_stops_the_start(tmp_path: Path, key: str) -> None:
    (tmp_path / "c.conf").write_text(f"{key}=true\n")
    assert f"{key}=true is not supported" in refused(*in_home(tmp_path, "-c", str(tmp_path / "c.conf")))


def test_print_config_item_prints_all_items_and_ends(tmp_path: Path) -> None:
    ended = run("-p", "--home", str(tmp_path), "--port", "1234", env={"ROCKETMQ_HOME": "/rocketmq"})
    assert (ended.returncode, ended.stderr) == (0, "")
    items = dict(line.split("=", 1) for line in ended.stdout.splitlines())
    assert len(items) == 40
    assert items["listenPort"] == "1234"
    assert items["rocketmqHome"] == "/rocketmq"
    assert items["kvConfigPath"] == str(tmp_path / "kvConfig.json")


def test_defaults_are_upstream_s_port_and_address_and_a_folder_at_home(tmp_path: Path) -> None:
    ended = run("--printConfigItem", "-n", "a:9876;b:9876", env={"HOME": str(tmp_path)})
    assert ended.returncode == 0
    assert "\nlistenPort=9876\n" in ended.stdout
    assert ended.stdout.startswith("bindAddress=0.0.0.0\n")
    assert f"\nconfigStorePath={tmp_path}/namesrv/namesrv.properties\n" in ended.stdout
    assert "rocketmqHome" not in ended.stdout


def test_a_configuration_file_is_read_and_its_mistakes_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("# mine\nlistenPort=19876 \nenableTopicList=yes\n\nserverWorkerThreads=many\nown=1\n")
    ended = run("-p", "-c", str(path), "--home", str(tmp_path))
    assert ended.returncode == 0
    items = ended.stdout.splitlines()
    expected = {"listenPort=19876", "enableTopicList=false", "serverWorkerThreads=8", "own=1"}
    assert expected | {f"configStorePath={path}"} <= set(items)
    warnings = ended.stderr.splitlines()
    assert len(warnings) == 3
    assert all("WARNING" in warning for warning in warnings)
    assert f'{path}:3: enableTopicList: invalid value "yes": write true or false; using false' in warnings[0]
    assert (
        f'{path}:5: serverWorkerThreads: invalid value "many": write a whole number; using 8' in warnings[1]
    )
    assert f"{path}:6: own: unknown setting, shown but not used" in warnings[2]


def test_flags_win_over_the_configuration_file(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("listenPort=1\nbindAddress=10.0.0.1\n")
    ended = run("-p", "-c", str(path), "--port", "2", "--bind", "::1")
    assert {"listenPort=2", "bindAddress=::1"} <= set(ended.stdout.splitlines())


def test_an_update_goes_to_the_file_it_was_started_with_and_counts_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("enableAllTopicList=true\n")
    args = in_home(tmp_path, "-c", str(path))
    with start_program(*args) as server, server.connect() as connection:
        assert call_server(build_request(318, body=b"enableAllTopicList=false\n"), connection).code == 0
    with start_program(*args) as server, server.connect() as connection:
        assert call_server(build_request(206), connection).remark == "disable"


def test_the_black_list_of_the_configuration_file_is_obeyed(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("configBlackList=listenPort\n")
    with start_program(*in_home(tmp_path, "-c", str(path))) as server, server.connect() as connection:
        assert call_server(build_request(318, body=b"listenPort=1\n"), connection).code == 16
        assert call_server(build_request(318, body=b"kvConfigPath=/x\n"), connection).code == 16


def test_kill_9_at_any_moment_loses_no_put_that_was_acknowledged(tmp_path: Path) -> None:
    path, chance, acknowledged, number = tmp_path / "kvConfig.json", random.Random(7), set[str](), 0
    for _ in range(5):
        with start_program(*in_home(tmp_path)) as server, server.connect() as connection:
            near, asked, wanted = ProtocolConnection(), {}, len(acknowledged) + chance.randrange(1, 60)
            for _ in range(300):
                put = build_request(100, {"namespace": "n", "key": f"k{number}", "value": f"v{number}"})
                asked[put.opaque] = f"k{number}"
                number += 1
                connection.sendall(codec.encode_command(put))
            while len(acknowledged) < wanted:
                for answer in near.feed_bytes(connection.recv(1 << 16)):
                    assert answer.code == 0
                    acknowledged.add(asked[answer.opaque])
            server.end(signal.SIGKILL)
        kept = kv_file.load_kv_tables(path)["n"]
        assert acknowledged <= kept.keys()
        assert all(value == f"v{key[1:]}" for key, value in kept.items())
        json.loads(path.read_bytes())


def items(*args: str) -> dict[str, str]:
    """The settings that these flags make."""
    lines = run("-p", *args).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_there_is_a_journal_where_a_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("journalDir=/from/file\njournalFsync=always\n")
    assert "journalDir" not in items()
    assert items("--journal-dir", "/j")["journalDir"] == "/j"
    assert items("-c", str(path))["journalDir"] == "/from/file"
    assert items("-c", str(path))["journalFsync"] == "always"
    assert items("-c", str(path), "--journal-dir", "/j")["journalDir"] == "/j"


def test_of_a_program_that_keeps_journals_it_is_in_the_home_unless_declined(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for flags, folder in (
        ((), tmp_path / "journal"),
        (("--journal-dir", "/j"), "/j"),
        (("--no-journal",), None),
    ):
        assert main(parse_flags("-p", "--home", str(tmp_path), *flags)) == 0
        out = capfd.readouterr().out
        assert ("journalDir" in out) == (folder is not None)
        assert folder is None or f"\njournalDir={folder}\n" in out


def test_there_is_an_http_port_where_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("httpAddress=1\n")
    assert "httpAddress" not in items()
    assert items("-c", str(path))["httpAddress"] == "1"
    assert items("-c", str(path), "--http", "0.0.0.0:2")["httpAddress"] == "0.0.0.0:2"
    with start_program(*in_home(tmp_path, "--http", "0")) as server:
        _, _, err = server.end(signal.SIGTERM)
    assert "HTTP at http://127.0.0.1:" in err


def test_an_http_port_that_cannot_be_is_one_line(tmp_path: Path) -> None:
    line = refused(*in_home(tmp_path, "--http", "nonsense"))
    assert line.endswith('cannot serve HTTP at nonsense: invalid address "nonsense": write PORT or HOST:PORT')


def test_the_log_is_json_from_its_first_line_on_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("logFormat=json\nnonsense=1\n")
    with start_program(*in_home(tmp_path, "-c", str(path))) as server, server.connect() as connection:
        call_server(build_request(100, {"namespace": "n", "key": "k", "value": "v"}), connection)
        _, _, err = server.end(signal.SIGTERM)
    lines = [json.loads(line) for line in err.splitlines()]
    assert "nonsense: unknown setting" in lines[0]["message"]
    (put,) = (line for line in lines if line.get("event") == "KvPut")
    assert (put["level"], put["cause"], put["namespace"]) == ("INFO", "PUT_KV_CONFIG", "n")


def test_how_much_the_log_says_is_changed_while_it_runs(tmp_path: Path) -> None:
    put = {"namespace": "n", "key": "k"}
    flags = in_home(tmp_path, "--log-level", "WARN")
    with start_program(*flags) as server, server.connect() as connection:
        call_server(build_request(100, put | {"value": "quiet"}), connection)
        assert call_server(build_request(318, body=b"logLevel=INFO\n"), connection).code == 0
        call_server(build_request(100, put | {"value": "usual"}), connection)
        call_server(build_request(105, {"topic": "T"}), connection)
        server.process.send_signal(signal.SIGUSR2)
        deadline = time.monotonic() + 20
        while b"logLevel=DEBUG" not in call_server(build_request(319), connection).body:
            assert time.monotonic() < deadline
        call_server(build_request(101, put), connection)
        server.process.send_signal(signal.SIGUSR2)
        while b"logLevel=DEBUG" in call_server(build_request(319), connection).body:
            assert time.monotonic() < deadline
        call_server(build_request(106), connection)
        _, _, err = server.end(signal.SIGTERM)
    assert "value=quiet" not in err
    assert "KvPut namespace=n key=k before_bytes=5 value_bytes=5" in err
    assert "GET_ROUTEINFO_BY_TOPIC on connection" not in err
    assert "GET_KV_CONFIG on connection" in err
    assert "GET_BROKER_CLUSTER_INFO" not in err


def test_what_an_open_server_says_at_its_start_is_one_line(tmp_path: Path) -> None:
    with start_program(*in_home(tmp_path)) as server:
        _, _, err = server.end(signal.SIGTERM)
    assert err.count("WARNING") == 1
    assert (
        "accepts unauthenticated requests, like Apache's name server: every client can change everything"
        in err
    )


def test_a_hangup_has_the_credentials_read_again(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    path.write_text('{"everybody": "read"}')
    path.chmod(0o600)
    with (
        start_program(*in_home(tmp_path, "--credentials", str(path))) as server,
        server.connect() as connection,
    ):
        assert call_server(build_request(319), connection).code == 16
        path.write_text('{"everybody": "admin"}')
        server.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + 20
        while call_server(build_request(319), connection).code != 0:
            assert time.monotonic() < deadline
        _, _, err = server.end(signal.SIGTERM)
    assert "refused GET_NAMESRV_CONFIG from 127.0.0.1 (unsigned" in err
    assert f"reloaded {path}" in err
    assert "whoever reaches" not in err


def test_credentials_that_cannot_be_used_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    path.write_text("accounts:\n  - {accessKey: ops, secretKey: 'a secret of ours', role: root}\n")
    line = refused(*in_home(tmp_path, "--credentials", str(path)))
    assert f"{path}: accounts[0].role: Invalid enum value 'root'" in line
    assert "secret" not in line.replace(str(path), "")
    assert "missing.yaml: No such file" in refused(
        *in_home(tmp_path, "--credentials", str(tmp_path / "missing.yaml"))
    )
