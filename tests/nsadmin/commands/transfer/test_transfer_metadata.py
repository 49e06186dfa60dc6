"""transfer topics, groups and acl, from one cluster of the lab to the other."""

import re
import shlex
from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def move(run: Run, running_lab: Lab) -> Run:
    def move(*words: str) -> CommandResult:
        addr = running_lab.namesrv_addr
        ends = ("--from", addr, "--to", addr, "--from-cluster", "cluster-a", "--to-cluster", "cluster-b")
        return run("transfer", *words, *ends, "--json")

    return move


def test_a_topic_is_previewed_then_created_then_equal(move: Run, running_lab: Lab) -> None:
    with AdminClient(running_lab.namesrv_addrs, timeout=5) as admin:
        admin.topics.delete_topic("orders", "cluster-b")
    for option, result in (("--dry-run", "dry-run"), ("--yes", "done")):
        command_result = move("topics", "orders", "--all-brokers", option)
        assert command_result.code == 0, command_result.err
        rows = command_result.json
        assert [(row["section"], row["server"], row["name"], row["result"]) for row in rows] == [
            ("topics", f"broker-b-{number}", "orders", result) for number in range(3)
        ]
        assert (
            command_result.err
            == f"nsadmin: 3 items {'created' if result == 'done' else 'would be created'}\n"
        )
    command_result = move("topics", "orders", "--all-brokers", "--yes")
    assert (command_result.code, command_result.json, command_result.err) == (
        0,
        [],
        "nsadmin: nothing to change\n",
    )


def test_a_broker_without_a_counterpart_names_the_option(move: Run) -> None:
    result = move("groups", "--map", "broker-a-0=broker-b-0", "--dry-run")
    assert result.code != 0
    assert "pass --map OLD=NEW, or --all-brokers (it has broker-b-0" in result.json[0]["error"]


def test_all_brokers_get_the_items_if_the_clusters_have_no_name_in_common(move: Run) -> None:
    result = move("topics", "--dry-run")
    assert (result.code, result.json) == (0, move("topics", "--all-brokers", "--dry-run").json)
    assert "nsadmin: no broker has the same name in both clusters: every target broker gets" in result.err


def test_all_topics_lead_to_their_groups(move: Run, run: Run) -> None:
    line = move("topics", "--dry-run").err.partition("for their consumer groups, run nsadmin ")[2]
    assert run(*shlex.split(line.splitlines()[0]), "--dry-run").code == 0
    assert "consumer groups" not in move("topics", "orders", "--all-brokers", "--dry-run").err


def test_missing_only_creates_and_changes_nothing_that_exists(move: Run, run: Run, running_lab: Lab) -> None:
    with AdminClient(running_lab.namesrv_addrs, timeout=5) as admin:
        admin.topics.delete_topic("orders", "cluster-b")
    other_settings = ("-b", "broker-b-0", "-r", "1", "-w", "1", "-n", running_lab.namesrv_addr)
    assert run("updateTopic", "orders", *other_settings, "--yes").code == 0
    preview = move("topics", "orders", "--dry-run")
    assert "nsadmin: --missing-only creates missing items, and changes none that exist\n" in preview.err
    result = move("topics", "orders", "--missing-only", "--yes")
    assert result.code == 0, result.err
    assert [(row["server"], row["result"], row["reason"]) for row in result.json] == [
        ("broker-b-0", "kept", "it exists with other settings"),
        ("broker-b-1", "done", None),
        ("broker-b-2", "done", None),
    ]
    assert "2 items created, 1 kept" in result.err
    assert "--missing-only" not in result.err


def test_a_kept_order_configuration_is_named_with_the_command_that_changes_it(
    move: Run, run: Run, running_lab: Lab
) -> None:
    on = ("-n", running_lab.namesrv_addr)
    assert run("updateTopic", "steps", "-c", "cluster-a", "-o", "true", "--yes", *on).code == 0
    for option in ("--dry-run", "--yes"):
        result = move("topics", "steps", "--missing-only", option)
        [note] = [line for line in result.err.splitlines() if "order configuration" in line]
        assert note.startswith("nsadmin: the order configuration of steps is kept")
    advised = shlex.split(note.partition("run nsadmin ")[2])
    assert run(*advised, "--yes").code == 0
    conf = run("updateOrderConf", "steps", "get", *on).out
    assert all(f"broker-{letter}-0:" in conf for letter in "ab")
    assert "order configuration" not in move("topics", "steps", "--missing-only", "--yes").err


def test_patterns_choose_the_items(move: Run) -> None:
    rows = move("topics", "order*", "--all-brokers", "--dry-run")
    assert rows.code == 0, rows.err
    groups = move("groups", "*", "--all-brokers", "--dry-run")
    assert groups.json == move("groups", "--all-brokers", "--dry-run").json


def test_users_go_to_the_brokers_that_are_named(move: Run) -> None:
    mappings = [word for number in range(3) for word in ("--map", f"broker-a-{number}=broker-b-{number}")]
    result = move("acl", *mappings, "--dry-run")
    assert result.code == 0, result.err
    for things, needed in (("users", "set authentic"), ("ACLs", "set authenticationEnabled=true and author")):
        named = f"{things} have no effect on (127.0.0.1:[0-9]+, ){{3}}where [a-z ]+: first .*, then {needed}"
        assert re.search(named, result.err)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("topics", "none"), 5, 'the source has no topic "none" that a user created'),
        (("topics", "x*"), 5, 'no topic matches "x*"'),
        (("groups", "none"), 5, 'the source has no group "none" that a user created'),
        (("topics", "--map", "x"), 2, 'transfer topics: invalid value "x" for --map: use OLD=NEW'),
        (("acl", "--map", "x=y", "--all-brokers"), 2, "--map and --all-brokers exclude each other"),
        (("acl", "--map", "x=y", "--map", "z=y"), 2, "x and z go to y: pass another --map"),
        (("topics", "a,,b"), 2, 'invalid list "a,,b" for TOPICS'),
    ],
)
def test_wrong_command_lines_are_refused(move: Run, words: tuple[str, ...], code: int, text: str) -> None:
    result = move(*words, "--yes")
    assert (result.code, text in result.err) == (code, True), result.err


def test_a_cluster_in_place_of_a_context_is_named_with_the_command_that_takes_it(
    run: Run, running_lab: Lab
) -> None:
    addr = running_lab.namesrv_addr
    words = ("--missing-only", "--dry-run", "-n", addr)
    result = run("transfer", "topics", "orders", "--from", "cluster-a", "--to", "cluster-b", *words)
    ends = f"--from {addr} --from-cluster cluster-a --to {addr} --to-cluster cluster-b"
    advised = f"nsadmin transfer topics orders --missing-only --dry-run {ends}"
    assert (result.code, result.err) == (
        2,
        "nsadmin: cluster-a and cluster-b are clusters, and --from and --to take a context, or name servers "
        f"(HOST:PORT): run {advised}\n",
    )
    assert run(*advised.split()[1:]).code == 0
    assert run("context", "set", "here", "-n", addr).code == 0
    one = run("transfer", "groups", "--from", "here", "--to", "cluster-b", "--context", "here", "--dry-run")
    assert "nsadmin: cluster-b is a cluster, and" in one.err
    assert "run nsadmin transfer groups --dry-run --from here --to here --to-cluster cluster-b" in one.err
    unknown = run("transfer", "groups", "--from", "nosuch", "--to", addr, "-n", addr)
    assert 'unknown context "nosuch" for --from' in unknown.err


def test_several_clusters_are_a_mistake_in_the_command_line(run: Run, running_lab: Lab) -> None:
    addr = running_lab.namesrv_addr
    result = run("transfer", "topics", "--from", addr, "--to", addr, "--dry-run")
    assert (result.code, result.err) == (
        2,
        "nsadmin: several clusters: choose one of cluster-a, cluster-b with --from-cluster, and one of "
        "cluster-a, cluster-b with --to-cluster\n",
    )
