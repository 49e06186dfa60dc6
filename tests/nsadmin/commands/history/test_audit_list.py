"""auditList."""

from pathlib import Path

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


def test_changes_are_listed_with_the_oldest_first(
    run: Run, both_servers: str, first_server: FakeNameServer
) -> None:
    run("updateKvConfig", "N", "k", "v", both_servers)
    run("wipeWritePerm", "broker-a", "-n", first_server.addr)
    rows = run("auditList", "--json").json
    assert [row["command"].split()[0] for row in rows] == ["updateKvConfig", "wipeWritePerm"]
    assert rows[1]["sent"] == [
        {"server": first_server.addr, "request": "WIPE_WRITE_PERM_OF_BROKER", "outcome": "SUCCESS (0)"}
    ]
    assert rows[1]["servers"] == rows[1]["namesrvAddrs"] == [first_server.addr]
    assert (rows[1]["results"][0]["topicCount"], rows[1]["exitCode"]) == (1, 0)
    head, line = run(
        "auditList", "--columns", "command,servers,exitCode", "--filter", "command~^wipe"
    ).out.splitlines()
    assert head.split() == ["command", "servers", "exitCode"]
    assert line.split()[-2:] == [first_server.addr, "0"]


def test_the_undo_of_a_change_with_other_servers_than_those_of_the_context_names_them(
    run: Run, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    run("context", "set", "p", "-n", first_server.addr)
    for words in ((), ("-n", second_server.addr)):
        run("wipeWritePerm", "broker-a", "--context", "p", *words)
    rows = run("auditList", "--json").json
    assert [(row["context"], row["undo"].partition("broker-a ")[2]) for row in rows] == [
        ("p", "--context p"),
        (None, f"-n {second_server.addr}"),
    ]


def test_only_from_some_time_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_text(
        '{"time": 1000, "command": "a"}\n{"time": 2000, "command": "b"}\nx\n'
    )
    result = run("auditList", "--since", "1970-01-01T00:00:02+00:00", "--json")
    assert [(row["time"], row["command"]) for row in result.json] == [("1970-01-01T00:00:02.000Z", "b")]
    assert result.err == f"nsadmin: {tmp_path / 'audit.jsonl'}: line 3 is not an audit record\n"
    assert run("auditList", "--since", "tomorrow").err.startswith(
        'nsadmin: invalid time "tomorrow" for --from: '
    )


def test_only_the_newest(run: Run, tmp_path: Path) -> None:
    # A move of offsets has a record from before it began.
    codes = (("a", 0), ("b", 0), ("c", 130), ("c", 3))
    lines = (f'{{"time": {ord(name)}, "command": "{name}", "exitCode": {code}}}\n' for name, code in codes)
    (tmp_path / "audit.jsonl").write_text("".join(lines))
    result = run("auditList", "--limit", "2", "--json")
    assert [(row["command"], row["exitCode"]) for row in result.json] == [("b", 0), ("c", 3)]
    assert result.err == "nsadmin: only the newest 2 of 3 changes are shown (--limit)\n"
    assert run("auditList", "--limit", "3", "--json").err == ""


def test_before_the_first_change_there_is_nothing(run: Run) -> None:
    assert run("auditList", "--json") == (0, "[]\n", "")


def test_where_there_can_be_none_it_says_why(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_AUDIT", "off")
    assert run("auditList") == (2, "", "nsadmin: the audit is disabled: NSADMIN_AUDIT is off\n")
    monkeypatch.setenv("NSADMIN_AUDIT", str(tmp_path))
    done = run("auditList")
    assert done == (2, "", f"nsadmin: cannot read {tmp_path}: Is a directory\n")
