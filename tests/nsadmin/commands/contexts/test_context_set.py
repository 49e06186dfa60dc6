"""contextSet: what is named, what it replaces, and secrets that never stand on the line."""

import io
import json
from pathlib import Path

import pytest
import yaml

from tests.nsadmin.conftest import Run


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    monkeypatch.setattr("sys.stdin", text)
    return text


def kept(tmp_path: Path) -> dict[str, object]:
    """The context p as the file has it."""
    item = yaml.safe_load((tmp_path / "config.yaml").read_text())["contexts"]["p"]
    assert isinstance(item, dict)
    return item


def test_all_that_can_be_named_is_kept(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(
        *("contextSet", "p", "-n", "a;b:1", "--credentials", "tools:tools.yml", "--tlsCa", "ca.pem"),
        *("--tlsCert", "me.pem", "--tlsKey", "me.key", "--tlsKeyPasswordFrom", "env:PW", "--insecure"),
        *("--tlsServerName", "mq", "--addressMap", "10.0.0.0/8=gw", "--addressMap", "h:1=i:2"),
        *("--timeout", "5", "--retries", "2", "--concurrency", "8", "--defaultOutput", "csv"),
        *("--read-only", "--color", "red", "--journal", "j", "--journal", "/k", "--json"),
    )
    assert result.code == 0
    assert json.loads(result.out)[0]["addressMap"] == {"10.0.0.0/8": "gw", "h:1": "i:2"}
    assert kept(tmp_path) == {
        "namesrvAddr": "a:9876;b:1",
        "credentials": f"tools:{tmp_path}/tools.yml",
        "tls": {
            "caFile": f"{tmp_path}/ca.pem",
            "certFile": f"{tmp_path}/me.pem",
            "keyFile": f"{tmp_path}/me.key",
            "keyPasswordFrom": "env:PW",
            "serverName": "mq",
            "verify": False,
        },
        "timeout": 5.0,
        "retries": 2,
        "concurrency": 8,
        "output": "csv",
        "addressMap": {"10.0.0.0/8": "gw", "h:1": "i:2"},
        "journals": [f"{tmp_path}/j", "/k"],
        "readOnly": True,
        "color": "red",
    }


def test_a_context_that_is_not_the_current_one_names_the_command_that_selects_it(run: Run) -> None:
    assert run("contextSet", "first", "-n", "a").err == ""
    result = run("contextSet", "p", "-n", "a")
    assert result.err == "nsadmin: the current context is still first: nsadmin context use p selects p\n"
    assert run("contextSet", "first", "-n", "b").err == ""


def test_what_is_not_named_stays(run: Run, tmp_path: Path) -> None:
    run(
        "contextSet", "p", "-n", "a", "--timeout", "5", "--read-only", "--addressMap", "x=y", "--tlsCa", "/ca"
    )
    run("contextSet", "p", "--writable", "--addressMap", "z=w", "--addressMap", "x=v", "--insecure")
    assert kept(tmp_path) == {
        "namesrvAddr": "a:9876",
        "timeout": 5.0,
        "addressMap": {"x": "v", "z": "w"},
        "tls": {"caFile": "/ca", "verify": False},
    }


def test_one_way_to_find_name_servers_replaces_another(run: Run, tmp_path: Path) -> None:
    run("contextSet", "p", "-n", "a")
    run("contextSet", "p", "--endpoint", "ns.example")
    assert kept(tmp_path) == {"endpoint": "http://ns.example:8080/rocketmq/nsaddr"}
    run("contextSet", "p", "--configFile", "/broker.conf")
    assert kept(tmp_path) == {"configFile": "/broker.conf"}


def test_secrets_are_piped_in_a_line_for_each(run: Run, tmp_path: Path, stdin: io.StringIO) -> None:
    stdin.write("s3cret\r\nt0ken\npa55word\n")
    stdin.seek(0)
    flags = ("--secretKeyStdin", "--securityTokenStdin", "--tlsKeyPasswordStdin")
    assert run("contextSet", "p", "-n", "a", "--accessKey", "me", *flags).code == 0
    own = {"accessKey": "me", "secretKey": "s3cret", "securityToken": "t0ken"}
    assert kept(tmp_path) == {"namesrvAddr": "a:9876", **own, "tls": {"keyPassword": "pa55word"}}
    assert (tmp_path / "config.yaml").stat().st_mode & 0o777 == 0o600
    run("contextSet", "p", "--credentials", "env", "--tlsKeyPasswordFrom", "env:PW")
    assert kept(tmp_path) == {
        "namesrvAddr": "a:9876",
        "credentials": "env",
        "tls": {"keyPasswordFrom": "env:PW"},
    }


def test_a_new_access_key_comes_with_a_new_secret(run: Run, tmp_path: Path, stdin: io.StringIO) -> None:
    stdin.write("one\ntoken\ntwo\n")
    stdin.seek(0)
    run("contextSet", "p", "-n", "a", "--accessKey", "me", "--secretKeyStdin", "--securityTokenStdin")
    run("contextSet", "p", "--accessKey", "you", "--secretKeyStdin")
    assert kept(tmp_path) == {"namesrvAddr": "a:9876", "accessKey": "you", "secretKey": "two"}


def test_fields_are_forgotten(run: Run, tmp_path: Path) -> None:
    run("contextSet", "p", "-n", "a", "--timeout", "5", "--color", "red", "--tlsCa", "/ca", "--insecure")
    run("contextSet", "p", "--unset", "timeout", "--unset", "tls.caFile")
    assert kept(tmp_path) == {"namesrvAddr": "a:9876", "color": "red", "tls": {"verify": False}}
    run("contextSet", "p", "--no-tls", "--unset", "color")
    assert kept(tmp_path) == {"namesrvAddr": "a:9876"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("q",), 'the context "q" has no name servers: run nsadmin context set q -n HOST:PORT'),
        (
            ("p", "--unset", "namesrvAddr"),
            'the context "p" has no name servers: run nsadmin context set p -n HOST:PORT',
        ),
        (("p", "--unset", "nope"), 'unknown field "nope" for --unset: use namesrvAddr, configFile'),
        (("-n", "a", "--", "-"), 'invalid context name "-": it stands for the previous context'),
        (("q", "-n", "a:b"), 'invalid address "a:b": use HOST:PORT or [IPv6]:PORT'),
        (
            ("q", "-n", "a", "--endpoint", "b"),
            "invalid context: namesrvAddr and endpoint exclude each other: keep one",
        ),
        (
            ("q", "--endpoint", "ftp://b"),
            'invalid endpoint "ftp://b": use http://HOST:PORT/rocketmq/nsaddr or DOMAIN',
        ),
        (
            ("q", "-n", "a", "--defaultOutput", "xml"),
            'unknown format "xml" for --defaultOutput: use table, wide, json, jsonl, yaml, csv, '
            "spreadsheet, tsv, name, value, mqadmin",
        ),
        (
            ("q", "-n", "a", "--timeout", "0"),
            "invalid context: timeout must be a number of seconds above 0, at most 3600",
        ),
        (("q", "-n", "a", "--retries", "-1"), "invalid context: retries must be a whole number, 0 or more"),
        (
            ("q", "-n", "a", "--color", "pink"),
            "invalid context: color must be one of red, green, yellow, blue, magenta, cyan",
        ),
        (
            ("q", "-n", "a", "--addressMap", "x"),
            'invalid mapping "x": use FROM=TO, such as 10.0.0.0/8=gateway:10911',
        ),
        (
            ("q", "-n", "a", "--credentials", "s3cret"),
            "invalid value for --credentials: use one of env, file:PATH",
        ),
        (
            ("q", "-n", "a", "--accessKey", "me"),
            "missing secret key, and there is no terminal to ask on: pipe it in with "
            "--secretKeyStdin, or name its source with --credentials",
        ),
        (
            ("q", "-n", "a", "--accessKey", "me", "--secretKeyStdin"),
            "missing secret key: standard input has no line for it",
        ),
        (
            ("q", "-n", "a", "--no-tls", "--tlsCa", "x"),
            "--no-tls excludes the other TLS options: pass only one of them",
        ),
    ],
)
def test_what_cannot_be_is_one_line_and_changes_nothing(
    run: Run, tmp_path: Path, stdin: io.StringIO, args: tuple[str, ...], said: str
) -> None:
    run("contextSet", "p", "-n", "a")
    before = (tmp_path / "config.yaml").read_text()
    result = run("contextSet", *args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"nsadmin: {said}")
    assert "s3cret" not in result.err
    assert (tmp_path / "config.yaml").read_text() == before


@pytest.mark.parametrize("flag", ["--secretKey", "--securityToken", "--tlsKeyPassword"])
def test_there_is_no_option_for_a_secret_itself(run: Run, flag: str) -> None:
    assert run("contextSet", "p", "-n", "a", flag, "x").code == 2
