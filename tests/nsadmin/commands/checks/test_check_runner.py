"""What all checks have in common, on the command line."""

import json
import os
from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer, closed_port


def test_a_check_is_typed_in_two_words_and_its_state_is_the_exit_code(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    result = run("check", "namesrv", "-n", first_server.addr)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("OK: 1 of 1 name servers answer\n")
    assert run("check", "namesrv", f"-n{first_server.addr};{dead_addr}").code == 1
    assert run("checkNamesrv", "-n", dead_addr).code == 2
    assert run("check", "brokers", "-n", dead_addr).code == 3


def test_a_name_server_that_is_away_does_not_change_what_another_check_found(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    result = run("check", "namesrv", f"-n{first_server.addr};{dead_addr}", "--warning", "1")
    assert result.code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("check", "-n", "h:1"), 'missing command after "check": use all, namesrv, brokers'),
        (("check", "foo"), 'unknown command "check foo": use all, namesrv, brokers'),
        (("check", "lga"), 'unknown command "check lga": did you mean "check lag"?'),
        (("check", "namesrv", "--warning", "x"), 'check namesrv: --warning: invalid range "x"'),
        (("check", "namesrv", "--critical", "2"), "low values are bad: use 2:"),
        (
            ("check", "namesrv", "--format", "xml"),
            'unknown format "xml" for --format: use text, cron, nagios, json, prometheus',
        ),
        (("check", "namesrv", "--format", "text", "--json"), "exclude each other"),
        (
            ("check", "namesrv", "--wait-until-ok", "soon"),
            'invalid time "soon" for --wait-until-ok: use 0s to 24h, such as 15s or 1m',
        ),
        (
            ("check", "namesrv", "--output", "json"),
            'unknown option "--output": did you mean "--out"?',
        ),
        (("check", "namesrv", "one"), "check namesrv"),
        (
            ("check", "namesrv", "--out", "/dev/null/x/y"),
            "cannot write /dev/null/x/y (--out): Not a directory",
        ),
    ],
)
def test_a_wrong_line_is_one_line_and_unknown(
    run: Run, first_server: FakeNameServer, words: tuple[str, ...], said: str
) -> None:
    result = run(*words, "-n", first_server.addr) if len(words) > 2 else run(*words)
    assert result.code == 3
    assert result.out == ""
    assert said in result.err
    assert len(result.err.splitlines()) == 1


def test_check_alone_lists_them(run: Run) -> None:
    for words in (("check", "--help"), ("check", "-h"), ("help", "check")):
        result = run(*words)
        assert (result.code, result.err) == (0, "")
        assert "\n  check namesrv           Check that name servers answer\n" in result.out
        assert "\n  3  unknown" in result.out


def test_check_without_a_name_is_unknown_for_a_monitoring_system(run: Run) -> None:
    result = run("check")
    assert (result.code, result.err) == (3, "")
    assert result.out == run("check", "--help").out


def test_help_has_the_exit_codes_of_plugins(run: Run) -> None:
    result = run("check", "namesrv", "--help")
    assert result.code == 0
    assert "0 OK; 1 warning; 2 critical; 3 unknown" in " ".join(result.out.split())


def test_a_file_is_written_whole_and_nothing_else(
    run: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    file = tmp_path / "textfile" / "namesrv.prom"
    for _ in range(2):
        result = run(
            "check", "namesrv", "-n", first_server.addr, "--format", "prometheus", "--out", str(file)
        )
        assert (result.code, result.out, result.err) == (0, "", "")
    assert [path.name for path in file.parent.iterdir()] == [file.name]
    assert file.read_text().startswith("# HELP nsadmin_check_state ")
    assert file.read_text().endswith("\n")


def test_the_file_tells_what_is_wrong_too(run: Run, dead_addr: str, tmp_path: Path) -> None:
    file = tmp_path / "brokers.json"
    assert run("check", "brokers", "-n", dead_addr, "--json", "--out", str(file)).code == 3
    assert json.loads(file.read_text())["state"] == "UNKNOWN"


def test_waiting_ends_when_all_is_well(
    run: Run, first_server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clusters, first_server.clusters = first_server.clusters, {}

    def come(seconds: float) -> None:
        first_server.clusters = clusters

    monkeypatch.setattr("nsadmin.commands.checks.check_runner.sleep", come)
    result = run("check", "brokers", "-n", first_server.addr, "--wait-until-ok", "1m")
    assert result.code == 0
    assert result.out.startswith("OK: 1 of 1 registered brokers answer\n")
    assert result.err == "nsadmin: CRITICAL: no broker is registered; waiting for up to 60 s more\n"


def test_waiting_writes_a_line_every_ten_seconds_and_never_0_s(
    run: Run, dead_addr: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def pass_seconds(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("nsadmin.commands.checks.check_runner.sleep", pass_seconds)
    monkeypatch.setattr("nsadmin.commands.checks.check_runner.monotonic", lambda: now)
    result = run("check", "namesrv", "-n", dead_addr, "--wait-until-ok", "20.2s")
    text = "nsadmin: CRITICAL: 0 of 1 name servers answer; waiting for up to"
    assert result.err.splitlines() == [f"{text} {seconds} s more" for seconds in (21, 11, 1)]


def test_waiting_ends_with_what_is_so_then(run: Run, dead_addr: str) -> None:
    result = run("check", "namesrv", "-n", dead_addr, "--wait-until-ok", "0.2s")
    assert result.code == 2
    assert result.out.startswith("CRITICAL: 0 of 1 name servers answer\n")


def test_the_context_is_a_label(run: Run, first_server: FakeNameServer) -> None:
    run("contextSet", "prod", "-n", first_server.addr)
    result = run("check", "namesrv", "--context", "prod", "--format", "prometheus")
    assert 'nsadmin_check_state{check="namesrv",context="prod"} 0\n' in result.out


def test_who_cannot_be_found_is_unknown_also_in_the_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "lag.prom"
    url = f"http://127.0.0.1:{closed_port()}/rocketmq/nsaddr"
    words = ("--endpoint", url, "--format", "prometheus", "--out", str(file))
    assert run("check", "lag", "G", *words).code == 3
    assert 'nsadmin_check_state{check="lag",group="G"} 3\n' in file.read_text()
    assert run("check", "namesrv", "--tlsCa", str(tmp_path / "none.pem"), "-n", "h:1").code == 3


def test_a_file_for_a_monitoring_agent_can_be_read_by_other_users(
    run: Run, first_server: FakeNameServer, tmp_path: Path
) -> None:
    umask_before = os.umask(0o022)
    try:
        run("check", "namesrv", "-n", first_server.addr, "--out", str(tmp_path / "check.prom"))
    finally:
        os.umask(umask_before)
    assert (tmp_path / "check.prom").stat().st_mode & 0o777 == 0o644
