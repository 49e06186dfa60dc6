"""getAclConfig, clusterAclConfigVersion, updateAclConfig, deleteAclConfig, updateGlobalWhiteAddr."""

import json
import sys
from collections.abc import Iterator
from io import StringIO

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeNameServer
from tests.support.plain_acl_brokers import PlainAclBroker


@pytest.fixture
def master() -> Iterator[PlainAclBroker]:
    with PlainAclBroker() as running:
        yield running


@pytest.fixture
def slave() -> Iterator[PlainAclBroker]:
    with PlainAclBroker() as running:
        yield running


@pytest.fixture
def cluster(master: PlainAclBroker, slave: PlainAclBroker) -> Iterator[tuple[str, ...]]:
    with FakeNameServer({"C": {"broker-a": {0: master.addr, 1: slave.addr}}}) as running:
        yield ("-c", "C", "-n", running.addr, "--json")


def test_accounts_are_shown_without_their_keys(
    run: Run, cluster: tuple[str, ...], slave: PlainAclBroker
) -> None:
    result = run("getAclConfig", *cluster)
    assert (result.code, "12345678" in result.out) == (0, False)
    assert [
        (row["brokerId"], row["accessKey"], row["admin"], row["topicPerms"]) for row in json.loads(result.out)
    ] == [
        (0, "operator-1", True, None),
        (1, "operator-1", True, None),
    ]
    slave.close()
    result = run("getAclConfig", *cluster)
    assert (result.code, len(json.loads(result.out))) == (3, 1)
    assert f"broker {slave.addr}: " in result.err


def test_brokers_with_the_same_error_share_a_line(run: Run, dead_addr: str) -> None:
    other = f"localhost:{dead_addr.rpartition(':')[2]}"
    result = run("getAclConfig", "-b", f"{dead_addr},{other}")
    assert result.err.startswith(f"nsadmin: brokers {dead_addr}, {other}: connection refused")
    assert result.err.count("connection refused") == 1


def test_files_are_shown_with_their_times(run: Run, cluster: tuple[str, ...], slave: PlainAclBroker) -> None:
    slave.close()
    result = run("clusterAclConfigVersion", *cluster)
    assert result.code == 3
    [row] = json.loads(result.out)
    assert (row["aclFile"], row["counter"], row["lastUpdated"]) == (
        "/conf/plain_acl.yml",
        0,
        "2025-12-31T12:00:00.000Z",
    )


def test_an_account_keeps_what_is_not_named(
    run: Run, cluster: tuple[str, ...], master: PlainAclBroker
) -> None:
    words = ("updateAclConfig", "operator-1", "-t", "orders=pub|sub,x=deny", "-i", "SUB", *cluster)
    planned = json.loads(run(*words, "--dry-run").out)
    assert [row["result"] for row in planned] == ["dry-run", "dry-run"]
    assert master.asked_codes() == [54]
    done = json.loads(run(*words).out)
    assert [row["result"] for row in done] == ["done", "done"]
    assert done[0]["changes"] == "defaultTopicPerm none -> SUB, topicPerms none -> orders=PUB|SUB,x=DENY"
    assert [row["after"] for row in planned] == [row["after"] for row in done]
    assert master.accounts["operator-1"]["admin"] is True
    assert [row["result"] for row in json.loads(run(*words).out)] == ["unchanged", "unchanged"]


def test_a_new_account_and_a_new_key(
    run: Run, master: PlainAclBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", StringIO("abcdefgh\nijklmnop\n"))
    words = ("updateAclConfig", "shopkeeper", "--passwordStdin", "-b", master.addr, "--json")
    assert json.loads(run(*words).out)[0]["changes"] == "new: admin false"
    assert json.loads(run(*words).out)[0]["changes"] == "new secret key"
    assert master.accounts["shopkeeper"]["secretKey"] == "ijklmnop"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("operator-1",), 2, "nothing to change: pass -m, -w, -i, -u, -t, -g or --secretKeyPrompt"),
        (
            ("operator-1", "-t", "orders"),
            2,
            'invalid permission "orders" for -t: write NAME=PERM, such as orders=PUB|SUB',
        ),
        (("operator-1", "-t", "a=X"), 2, 'invalid value "X" for -t a: expected DENY, PUB, SUB or PUB|SUB'),
        (
            ("operator-1", "-s", "12345678"),
            2,
            "a secret key on the command line is visible in the process list and the shell's "
            "history: pipe it in with --passwordStdin, or name a file with --passwordFile, or "
            "pass --passwordVisible",
        ),
        (
            ("operator-1", "-s", "12345678", "--passwordStdin"),
            2,
            "-s and --passwordStdin exclude each other: pass only one of them",
        ),
        (
            ("operator-1", "-s", "short", "--passwordVisible"),
            2,
            "the secret key is too short: 4.x brokers need at least 7 characters",
        ),
        (("short", "-m", "true"), 2, "the access key is too short: 4.x brokers need at least 7 characters"),
        (("shopkeeper", "-m", "true"), 5, ""),
    ],
)
def test_what_cannot_be(
    run: Run, master: PlainAclBroker, words: tuple[str, ...], code: int, said: str
) -> None:
    result = run("updateAclConfig", *words, "-b", master.addr)
    assert result.code == code
    assert said in result.err


def test_accounts_are_deleted(run: Run, cluster: tuple[str, ...], slave: PlainAclBroker) -> None:
    slave.accounts.clear()
    result = run("deleteAclConfig", "operator-1", *cluster, "--yes")
    assert result.code == 3
    assert [(row["result"], row["changes"]) for row in json.loads(result.out)] == [
        ("done", "removed: admin true"),
        ("not found", None),
    ]


def test_addresses_take_the_place_of_those_there_are(
    run: Run, cluster: tuple[str, ...], master: PlainAclBroker, slave: PlainAclBroker
) -> None:
    master.white = ["10.9.9.9"]
    words = ("updateGlobalWhiteAddr", "10.0.0.*,10.1.*.*", *cluster)
    planned = json.loads(run(*words, "--dry-run").out)
    assert [row["changes"] for row in planned] == ["10.9.9.9 -> 10.0.0.*,10.1.*.*", "new: 10.0.0.*,10.1.*.*"]
    slave.close()
    result = run(*words)
    assert result.code == 3
    assert [(row["result"], row["after"]) for row in json.loads(result.out)] == [
        ("done", ["10.0.0.*", "10.1.*.*"]),
        ("failed", None),
    ]
