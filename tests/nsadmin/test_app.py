"""The way from a command line to its command, and what is said where there is none."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from namesrv_core.server.settings_loader import NameServerFlags
from nsadmin import __version__
from nsadmin.help_pages.overview import overview_text
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}
NSADMIN = [sys.executable, "-m", "nsadmin"]


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as running:
        running.routes = {"T": {"a": 6}}
        yield running


def test_shared_options_stand_before_or_after_the_command(run: Run, server: FakeNameServer) -> None:
    expected = '[\n  {\n    "topic": "T"\n  }\n]\n'
    assert run("-n", server.addr, "--json", "topicList") == (0, expected, "")
    assert run("topicList", "-n", server.addr, "--json") == (0, expected, "")
    assert run(f"-n{server.addr}", "topic-list", "--output=json") == (0, expected, "")
    assert run("--output=json", "TOPIC_LIST", f"--namesrvAddr={server.addr}") == (0, expected, "")


def test_the_environment_names_the_servers(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", server.addr)
    assert run("topicList") == (0, "topic\nT\n", "")


def test_where_nothing_is_given_this_machine_is_asked_with_a_note(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.connection.addresses.LOCAL_NAME_SERVER", server.addr)
    assert run("topicList") == (
        0,
        "topic\nT\n",
        f"nsadmin: no name server is set by -n, NAMESRV_ADDR or a context: trying {server.addr}\n",
    )


def test_rows_are_selected_before_or_after_the_command(run: Run, server: FakeNameServer) -> None:
    server.routes = {"T": {"a": 6}, "U": {"a": 6}}
    assert run("--filter", "topic!=T", "topicList", "-n", server.addr) == (0, "topic\nU\n", "")
    done = run("topicList", "-n", server.addr, "--sort=-topic", "--no-headers", "--output", "tsv")
    assert done == (0, "U\nT\n", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (
            ("--columns", "topic,x"),
            'nsadmin: unknown column "x" in --columns: '
            "choose from topic, clusterName, groups, lastUpdated, error, messageType, order\n",
        ),
        (
            ("--sort", "x"),
            'nsadmin: unknown column "x" in --sort: '
            "choose from topic, clusterName, groups, lastUpdated, error, messageType, order\n",
        ),
        (("--sort", "clusterName"), 'nsadmin: unknown column "clusterName" in --sort: choose from topic\n'),
        (("--filter", "topic~("), 'nsadmin: invalid regular expression "(" in --filter'),
    ],
)
def test_what_cannot_be_selected_is_one_line_and_exit_code_2(
    run: Run, server: FakeNameServer, args: tuple[str, str], said: str
) -> None:
    result = run("topicList", "-n", server.addr, *args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(said)


def test_what_no_row_has_is_noticed_before_anything_is_changed(run: Run, server: FakeNameServer) -> None:
    line = ("updateOrderConf", "-t", "T", "-m", "put", "-v", "broker-a:4", "-n", server.addr)
    assert run(*line, "--filter", "x=1").code == 2
    assert server.asked_codes() == []
    assert run(*line, "--filter", "topic=T").code == 0
    assert server.asked_codes() != []


def test_the_environment_names_the_format_and_an_option_wins_over_it(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "jsonl")
    assert run("topicList", "-n", server.addr).out == '{"topic": "T"}\n'
    assert run("topicList", "-n", server.addr, "--output", "name").out == "T\n"
    monkeypatch.setenv("NSADMIN_OUTPUT", "xml")
    assert run("topicList", "-n", server.addr).err.startswith(
        'nsadmin: unknown format "xml" for NSADMIN_OUTPUT: use '
    )


@pytest.mark.parametrize("args", [("--help",), ("-h",), ("help",), ("--json", "--help"), ("help", "--help")])
def test_help_alone_is_the_overview(run: Run, args: tuple[str, ...]) -> None:
    assert run(*args) == (0, overview_text() + "\n", "")


@pytest.mark.parametrize(
    "args", [("wipeWritePerm", "--help"), ("help", "wipewriteperm"), ("-h", "wipeWritePerm")]
)
def test_help_of_one_command(run: Run, args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: nsadmin wipeWritePerm BROKER [OPTIONS]\n")
    assert "-b, --broker, --brokerName BROKER" in result.out


@pytest.mark.parametrize("args", [("kv",), ("kv", "--help"), ("KV", "-h"), ("help", "kv")])
def test_a_group_lists_its_commands(run: Run, args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.code, result.err) == (0, "")
    assert "Usage: nsadmin kv COMMAND [ARGUMENTS] [OPTIONS]\n" in result.out
    assert [line.split()[:2] for line in result.out.splitlines() if line.startswith("  kv ")] == [
        ["kv", name] for name in ("get", "list", "diff", "sync", "export", "import", "set", "delete")
    ]


@pytest.mark.parametrize("args", [("kv", "get", "--help"), ("help", "kv", "get"), ("kvGet", "-h")])
def test_help_of_a_two_word_command_has_the_two_words(run: Run, args: tuple[str, ...]) -> None:
    assert run(*args).out.startswith("Usage: nsadmin kv get ")


@pytest.mark.parametrize("word", ["--version", "version"])
def test_the_version(run: Run, word: str) -> None:
    assert run(word) == (0, f"nsadmin {__version__}\n", "")
    assert run("version", "--help").out.startswith("Usage: nsadmin version\n")


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (("topicRout",), 'unknown command "topicRout": did you mean "topicRoute"?'),
        (("lag",), 'unknown command "lag": did you mean "consumerProgress" or "check lag"?'),
        (("version", "now"), 'unexpected argument "now": usage: nsadmin version\n'),
        (("qqqqqq",), 'unknown command "qqqqqq": nsadmin help qqqqqq searches commands and guides'),
        (("help", "qqqqqq"), 'no command and no guide has "qqqqqq": nsadmin help all lists the commands'),
        (("context", "frobnicate"), 'unknown command "context frobnicate": use list, show, use, set, login'),
        (("kv", "gte"), 'unknown command "kv gte": did you mean "kv get"?'),
        (("kv", "-n", "h:1"), 'missing command after "kv": use get, list, diff, sync, export, import'),
        (
            ("kvGet",),
            "missing argument NAMESPACE, for example ORDER_TOPIC_CONFIG:"
            " usage: nsadmin kv get NAMESPACE KEY\n",
        ),
        (("kv", "get", "N"), "missing argument KEY: usage: nsadmin kv get NAMESPACE KEY\n"),
        (("--foo", "topicList"), 'unknown option "--foo": write the options of a command after its name'),
        (("--contxt", "prod", "topicList"), 'unknown option "--contxt": did you mean "--context"?'),
        (("--no-tl", "topicList"), 'unknown option "--no-tl": did you mean "--no-tls"'),
        (("--Json=1", "topicList"), 'unknown option "--Json": did you mean "--json"?'),
        (("report", "show"), "missing argument NAME: use one of broker_availability, broker_flaps, drain"),
        (
            ("rebalance", "run", "rb.yaml", "--status"),
            'unknown option "--status": use nsadmin rebalance status\n',
        ),
        (("topicRoute",), "missing argument TOPIC: usage: nsadmin topicRoute TOPIC\n"),
        (("topicRoute", ""), "missing argument TOPIC"),
        (("topicRoute", "T", "U"), 'unexpected argument "U": usage: nsadmin topicRoute TOPIC\n'),
        (("topicRoute", "T", "-t", "T"), 'unexpected argument "T"'),
        (
            ("listUser", "me"),
            'unexpected argument "me": it takes only options, see nsadmin listUser --help\n',
        ),
        (
            ("divergence", "now"),
            'unexpected argument "now": it takes only options, see nsadmin divergence --help\n',
        ),
        (("topicRoute", "-x"), 'unknown option "-x": nsadmin topicRoute --help lists the options\n'),
        (("topicRoute", "T", "-1h"), 'unexpected argument "-1h": usage: nsadmin topicRoute TOPIC\n'),
        (("printMsg", "T", "-1h"), '"-1h" needs an option before it: write -b -1h\n'),
        (("resetOffsetByTime", "G", "T", "-2d"), '"-2d" needs an option before it: write -s -2d\n'),
        (("resetOffsetByTime", "G", "T", "-5"), 'unexpected argument "-5": usage: nsadmin resetOffsetByTime'),
        (("-1h", "topicList"), 'unexpected argument "-1h": usage: nsadmin COMMAND\n'),
        (("topicRoute", "T", "--dry-rum"), 'unknown option "--dry-rum"'),
        (("topicRoute", "T", "--timeut", "1"), 'unknown option "--timeut": did you mean "--timeout"?'),
        (
            ("updateKvConfig", "N", "-k", "k"),
            "missing argument VALUE: usage: nsadmin updateKvConfig NAMESPACE KEY VALUE\n",
        ),
        (
            ("createAcl", "User:a"),
            "missing option -r RESOURCES, -a ACTIONS and -d Allow|Deny: usage: nsadmin createAcl SUBJECT -r ",
        ),
        (
            ("electMaster", "-a", "h:1", "-n", "broker-b-0", "-b", "1"),
            "missing -c CLUSTER and BROKER (-n chooses name servers): usage: nsadmin electMaster BROKER ID",
        ),
        (
            ("electMaster", "-a", "h:1", "-c", "C", "-n", "broker-b-0", "-b", "1"),
            "missing argument BROKER (-n chooses name servers): usage: nsadmin electMaster BROKER ID -c",
        ),
        (
            ("electMaster", "-a", "h:1", "-b", "broker-b-0"),
            "missing -c CLUSTER and BROKER (-bn is BROKER; -b is ID: Id of the replica, from getSyncStateSet",
        ),
        (
            ("electMaster", "-a", "h:1", "-c", "C", "-b", "broker-b-0"),
            "missing argument BROKER (-bn is BROKER; -b is ID: Id of the replica, from getSyncStateSet): ",
        ),
        (
            ("electMaster", "broker-b-0", "-a", "h:1", "-b", "1"),
            "missing option -c CLUSTER: usage: nsadmin electMaster BROKER ID -c",
        ),
        (("cleanUnusedTopic",), "missing ADDR or -c CLUSTER: usage: nsadmin cleanUnusedTopic (ADDR | -c "),
        (
            ("updateTopic", "T"),
            "missing option -b ADDR or -c CLUSTER: usage: nsadmin updateTopic TOPIC (-b ADDR | -c CLUSTER)\n",
        ),
        (
            ("resetOffsetByTime", "G", "T"),
            "missing option -s TIME or -o OFFSET or --undo: usage: nsadmin resetOffsetByTime GROUP [TOPIC] ",
        ),
        (
            ("topicList", "--output", "xml"),
            'unknown format "xml" for --output: use table, wide, json, jsonl, yaml, csv, '
            "spreadsheet, tsv, name, value, mqadmin",
        ),
        (("wipeWritePerm", "b", "--columns", "x"), 'unknown option "--columns"'),
        (("topicList", "--json", "--output", "table"), "--json and --output table exclude each other"),
        (
            ("topicList", "--timeout", "0"),
            'invalid value "0" for --timeout: expected a number of seconds above 0',
        ),
        (("topicList", "--retries", "-1"), 'invalid value "-1" for --retries: expected 0 to 100'),
        (("--concurrency", "0", "topicList"), 'invalid value "0" for --concurrency: expected 1 to 1000'),
        (
            ("topicList", "--retries", "x"),
            'invalid value "x" for --retries: expected a whole number, for example 10',
        ),
        (
            ("topicList", "--watch", "0"),
            'invalid value "0" for --watch: expected a number of seconds above 0',
        ),
        (("wipeWritePerm", "b", "--watch", "1"), 'unknown option "--watch"'),
        (("topicList", "-n", ""), "the list of name servers is empty"),
        (("topicList", "-n", "a:b"), 'invalid address "a:b": use HOST:PORT or [IPv6]:PORT'),
        (
            ("updateTopic", "T", "-b", "a:1", "-c", "C"),
            "-b ADDR and -c CLUSTER exclude each other: pass only one of them",
        ),
        (("topicList", "-n", "a:99999"), 'invalid port 99999 in "a:99999": use 1 to 65535'),
        (
            ("routeAt", "T", "--time", "1h"),
            'unknown option "--time": usage: nsadmin route at TOPIC --at TIME',
        ),
        (("topicList", "--timeout", "x"), 'invalid value "x" for --timeout: expected seconds, for example 3'),
        (("topicList", "--timeout"), "missing value for --timeout: write --timeout SECONDS"),
        (("topicList", "--json=1"), "--json takes no value: write --json alone"),
        (("clusterList", "-i", "0"), 'invalid value "0" for -i: expected a number of seconds above 0'),
    ],
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(run: Run, args: tuple[str, ...], line: str) -> None:
    result = run(*args)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"nsadmin: {line}")
    assert result.err.count("\n") == 1


def test_positional_words_fill_what_no_flag_gave(run: Run, server: FakeNameServer) -> None:
    run("updateKvConfig", "-n", server.addr, "-k", "key", "ns", "a value")
    assert server.kv == {"ns": {"key": "a value"}}


def test_two_dashes_let_a_word_begin_with_one(run: Run, server: FakeNameServer) -> None:
    run("updateKvConfig", "-n", server.addr, "--", "ns", "key", "--json")
    run("updateKvConfig", "-n", server.addr, "-s", "ns", "-k", "other", "-v", "--json")
    assert server.kv == {"ns": {"key": "--json", "other": "--json"}}


def test_a_fault_in_the_program_is_a_line_and_with_debug_a_traceback(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("nsadmin.command_line.registry.find_command", broken)
    assert run("topicList") == (
        1,
        "",
        "nsadmin: ZeroDivisionError: oh (run the command again with --debug for details)\n",
    )
    assert "Traceback" in run("topicList", "--debug").err


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_early_ends_it_quietly(server: FakeNameServer, unbuffered: str) -> None:
    server.routes = {f"topic-{number}": {"a": 6} for number in range(20_000)}
    process = subprocess.Popen(
        [*NSADMIN, "topicList", "-n", server.addr],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENVIRONMENT, "PYTHONUNBUFFERED": unbuffered},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(10) == 141


def test_ctrl_c_while_waiting_for_an_answer_is_one_line(server: FakeNameServer) -> None:
    import signal
    import threading

    asked = threading.Event()

    def wait(_: object) -> None:
        asked.set()

    server.handlers[206] = wait
    process = subprocess.Popen(
        [*NSADMIN, "topicList", "-n", server.addr, "--timeout", "30"], stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert asked.wait(10)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert (process.returncode, stderr) == (130, b"nsadmin: interrupted\n")


def test_a_name_server_replaces_the_process_of_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("namesrv", "--no-such-flag")
    assert (result.code, result.out) == (2, "")
    assert "nsadmin namesrv --help" in result.err
    replaced: list[list[str]] = []
    monkeypatch.setattr("os.execve", lambda path, words, environment: replaced.append(words))
    run("namesrv", "-p", "-Da=b")
    assert replaced[0][1:4] == ["-P", "-m", "namesrv_core"]
    flags = msgspec.json.decode(replaced[0][4], type=NameServerFlags)
    assert (flags.prints_settings, flags.definitions, flags.port) == (True, ["a=b"], None)


def test_what_is_no_text_is_never_sent(run: Run, server: FakeNameServer) -> None:
    result = run("updateKvConfig", "N", "\udcff", "v", "--yes", "-n", server.addr)
    assert (result.code, result.err) == (2, "nsadmin: invalid UTF-8 in the argument '\\udcff'\n")
    assert server.asked_codes() == []


@pytest.mark.parametrize("given", [";", " , "])
def test_an_empty_list_of_name_servers_is_no_success(
    run: Run, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", given)
    result = run("wipeWritePerm", "broker-a", "--yes")
    assert (result.code, result.out) == (2, "")
    assert "the list of name servers is empty: use HOST:PORT;HOST:PORT" in result.err


def test_what_was_done_is_told_where_stdout_takes_nothing(server: FakeNameServer) -> None:
    line = [*NSADMIN, "updateKvConfig", "N", "k", "v", "--yes", "-n", server.addr]
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            line, env=ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        "nsadmin: stdout: No space left on device",
        f"nsadmin: done: PUT_KV_CONFIG on {server.addr}",
    ]


def test_a_closed_stdout_is_nobody_who_reads(server: FakeNameServer) -> None:
    line = f"{' '.join(NSADMIN)} topicList -n {server.addr} >&-"
    result = subprocess.run(line, shell=True, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")
