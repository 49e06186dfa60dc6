"""Results on stdout: once, repeatedly, and as mqadmin prints them."""

from collections.abc import Iterator

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer({"C": {"a": {0: "h:1"}}}) as running:
        running.routes = {"T": {"a": 6}}
        yield running


def test_watch_repeats_a_command_that_reads_until_ctrl_c(
    run: Run, server: FakeNameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("nsadmin.console.session.sleep", sleep)
    done = run("--watch", "2.5", "topicList", "-n", server.addr, "--output", "jsonl")
    assert done == (0, '{"topic": "T"}\n{"topic": "T"}\n', "")
    assert pauses == [2.5, 2.5]


def test_watch_is_refused_for_a_command_that_repeats_itself(run: Run, server: FakeNameServer) -> None:
    result = run("clusterList", "-n", server.addr, "-i", "1", "--watch", "1")
    assert (result.code, result.err) == (
        2,
        "nsadmin: --watch cannot be combined with an option that repeats the command, such as -i\n",
    )


@pytest.mark.parametrize(
    ("args", "line"),
    [
        (
            ("topicList", "--sort", "topic"),
            "does not support --columns, --sort, --filter, --limit and --no-headers",
        ),
        (
            ("wipeWritePerm", "a", "--dry-run"),
            "does not support --dry-run: its text says that the change was made",
        ),
        (("where",), "is not for where, only for clusterList, "),
    ],
)
def test_the_format_of_mqadmin_is_refused_where_mqadmin_has_none(
    run: Run, server: FakeNameServer, args: tuple[str, ...], line: str
) -> None:
    result = run(*args, "--output", "mqadmin", "-n", server.addr)
    assert (result.code, result.out) == (2, "")
    assert f"nsadmin: --output mqadmin {line}" in result.err


def test_an_empty_table_is_a_line_on_stderr_and_other_formats_are_an_empty_list(
    run: Run, server: FakeNameServer
) -> None:
    server.routes = {}
    words = ("topicList", "-n", server.addr)
    assert run(*words)[1:] == ("", f"nsadmin: no topics on {server.addr}\n")
    assert run(*words, "--quiet")[1:] == ("", "")
    assert run(*words, "--json")[1:] == ("[]\n", "")


def test_an_empty_table_says_what_was_looked_for_with_times_in_utc(run: Run, server: FakeNameServer) -> None:
    server.routes = {}
    result = run("topicList", "-n", server.addr, "--filter", "topic~pay")
    assert result.err == f"nsadmin: no topics on {server.addr}\n"
    result = run("audit", "list", "--since", "2026-01-02T03:04:05+01:00")
    assert result.err == "nsadmin: no changes by this account for --from 2026-01-02T02:04:05.000Z\n"


def test_without_a_command_the_overview_is_shown(run: Run) -> None:
    assert run() == run("--help")


def test_a_window_in_the_future_is_named(run: Run) -> None:
    assert (
        "--from 2999-01-01T00:00:00.000Z is in the future"
        in run("audit", "list", "--since", "2999-01-01T00:00Z").err
    )


def test_a_begin_of_today_in_the_future_may_mean_yesterday(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsadmin.app.time", lambda: 1795231107.422)
    result = run("audit", "list", "--from", "23:59:59")
    assert ' is in the future: use --from "yesterday 23:59:59"\n' in result.err
