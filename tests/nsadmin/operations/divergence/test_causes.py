"""The likely cause of each kind of difference."""

import re
import shlex
from collections.abc import Mapping

import pytest

from nsadmin import app
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.divergence.causes import (
    NEW_LIST_MS,
    NO_FACTS,
    BrokerFacts,
    CauseEvidence,
    DivergenceCause,
    explain_new_list,
    explain_partial_list,
    find_cause,
)
from nsadmin.operations.divergence.comparison import STATE_SECTIONS, ComparedValue, compare_snapshots
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry

BOTH = ("s:1", "s:2")
TWO_CLUSTERS = {"a": make_broker_entry(), "b": make_broker_entry("y:1", "d")}
TWO_BROKERS = {"a": make_broker_entry(), "b": make_broker_entry("y:1")}


def cause(pictures: list[ClusterSnapshot], **facts: BrokerFacts) -> DivergenceCause:
    """Of the first difference; facts by the host of a broker's address."""
    scene = CauseEvidence(pictures, {f"{host}:1": fact for host, fact in facts.items()})
    return find_cause(compare_snapshots(pictures).differences[0], scene)


def telling(
    names: tuple[str, ...] = BOTH, own: Mapping[str, ComparedValue | None] | None = None
) -> BrokerFacts:
    return BrokerFacts(True, names, own or {})


def topics(*tables: Mapping[str, Mapping[str, int]]) -> list[ClusterSnapshot]:
    return [
        make_cluster_snapshot(f"s:{number + 1}", topics={"T": table} if table else {})
        for number, table in enumerate(tables)
    ]


def kv(*values: str | None) -> list[ClusterSnapshot]:
    return [
        make_cluster_snapshot(f"s:{number + 1}", kv={"n": {"k": value}} if value else {})
        for number, value in enumerate(values)
    ]


RW, READ, RWI = ({"a": make_queue_entry(perm)} for perm in (6, 4, 7))
FOUR = {"a": make_queue_entry(number=4)}
WITHOUT_B = [make_cluster_snapshot("s:1", TWO_BROKERS), make_cluster_snapshot("s:2")]
TWO_ADDRESSES = [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2", {"a": make_broker_entry("y:1")})]
OTHER_CLUSTER = make_cluster_snapshot("s:2", {"a": make_broker_entry(cluster="d")})


@pytest.mark.parametrize(
    ("pictures", "facts", "kind", "text", "advice"),
    [
        (
            WITHOUT_B, {"y": telling(("s:1",))}, "partial-list",
            "the broker registers with a partial list: its namesrvAddr does not name s:2",
            "run `nsadmin updateBrokerConfig namesrvAddr 's:1;s:2' -b y:1`; the broker reads the list "
            "every 2 minutes",
        ),
        (
            WITHOUT_B, {"y": telling()}, "partition",
            "its registrations do not reach s:2: the network is partitioned, or the name server refuses them",
            "check the firewall between b and s:2, and the broker's log",
        ),
        (
            WITHOUT_B, {}, "gone",
            "the broker does not answer nsadmin either: it stopped, or it never registered with s:2",
            "check that b runs: a name server removes a broker after 2 minutes without a heartbeat",
        ),
        (
            [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2", {}, {})], {"x": telling()},
            "no-brokers",
            "s:2 lists no broker at all: it started less than a heartbeat ago, or no broker reaches it",
            "check that brokers reach s:2, and that their namesrvAddr names it",
        ),
        (
            TWO_ADDRESSES, {"y": telling()}, "moved",
            "a answers at y:1 only: it moved, and some name servers still have the old address",
            "check that y:1 reaches every name server, and that its namesrvAddr names all of them",
        ),
        (
            TWO_ADDRESSES, {"x": telling(), "y": telling()}, "conflict",
            "several processes register as a: x:1, y:1", "give each broker its own name or id",
        ),
        (
            TWO_ADDRESSES, {}, "conflict",
            "several processes register as a: x:1, y:1", "give each broker its own name or id",
        ),
        (
            [make_cluster_snapshot("s:1"), OTHER_CLUSTER], {}, "cluster",
            "a moved to another cluster, and some name servers list it in both",
            "restart a, which removes it from its old cluster",
        ),
        (
            topics(RW, READ), {"x": telling(own={"T": make_queue_entry()})}, "wiped",
            "the write permission of a was removed on s:2 only",
            "run `nsadmin repair wipe a`, which restores the broker's own permissions, or `nsadmin "
            "wipeWritePerm a` on every name server",
        ),
        (
            topics(READ, READ, RW), {}, "wiped",
            "the write permission of a was removed, but not on s:3, or a registration restored it there",
            "run `nsadmin repair wipe a`, which restores the broker's own permissions, or `nsadmin "
            "wipeWritePerm a` on every name server",
        ),
        (
            topics(READ, RW), {"x": telling(own={"T": make_queue_entry(4)})}, "write-perm-added",
            "a has this topic without write permission: addWritePerm was sent to s:2 only, or the broker's "
            "change has not reached it",
            "run `nsadmin repair wipe a`, which restores the broker's own permissions",
        ),
        (
            topics(RWI, RW), {"x": telling(own={"T": make_queue_entry(7)})}, "write-perm-added",
            "addWritePerm was sent to s:2: it replaces every permission with rw-",
            "run `nsadmin repair wipe a`, which restores the broker's own permissions",
        ),
        (
            topics(RW, FOUR), {"x": telling(own={"T": FOUR["a"]})}, "behind",
            "s:1 missed the last registration of a: the network between them is partitioned",
            "run `nsadmin repair register a`; if the difference stays, check the firewall between a and s:1",
        ),
        (
            topics(RW, FOUR), {}, "behind",
            "some name servers missed the last registration of a: the network is partitioned",
            "check the firewall between a and the name servers, and the broker's log",
        ),
        (
            topics(RW, {}), {}, "not-registered",
            "s:2 has no registration of it from a: the network between them is partitioned, or the topic was "
            "deleted there only",
            "run `nsadmin repair register a`; if the difference stays, check the firewall between a and s:2",
        ),
        (
            topics(RW, {}), {"x": telling(own={"T": None})}, "left-over",
            "a does not have the topic any more: it was deleted, but not on s:1",
            "run `nsadmin deleteTopic T c` if nobody needs the topic: brokers and name servers "
            "delete it",
        ),
        (
            [make_cluster_snapshot("s:1", TWO_CLUSTERS, {"T": {"b": make_queue_entry()}}),
             make_cluster_snapshot("s:2", TWO_CLUSTERS, {})],
            {"y": telling(own={"T": None})}, "left-over",
            "b does not have the topic any more: it was deleted, but not on s:1",
            "run `nsadmin deleteTopic T d` if nobody needs the topic: brokers and name servers "
            "delete it",
        ),
        (
            [make_cluster_snapshot("s:1", topics={"T": {}}), make_cluster_snapshot("s:2", {}, {})], {},
            "left-over",
            "the topic was deleted on some name servers only; no broker has it",
            "run `nsadmin deleteTopic T c` if nobody needs the topic: brokers and name servers "
            "delete it",
        ),
        (
            kv(None, "v"), {}, "kv-written-to-some",
            "written to s:2 only, or deleted on s:1 only: name servers do not replicate KV config",
            "run `nsadmin kv sync -s n --from s:2` to copy it, or `nsadmin deleteKvConfig n k` to delete it",
        ),
        (
            kv("w", "v"), {}, "kv-written-to-some",
            "written to some name servers only: name servers do not replicate KV config",
            "find out which value is right, and run `nsadmin kv sync -s n --from s:1` for that of s:1, or "
            "`nsadmin kv sync -s n --from s:2` for that of s:2",
        ),
        (
            kv(None, "v", "w"), {}, "kv-written-to-some",
            "written to some name servers only: name servers do not replicate KV config",
            "find out which value is right, and run `nsadmin kv sync -s n --from s:2` for that of s:2, or "
            "`nsadmin kv sync -s n --from s:3` for that of s:3",
        ),
        (
            kv("w", "v", "v", "x"), {}, "kv-written-to-some",
            "written to some name servers only: name servers do not replicate KV config",
            "find out which value is right, and run `nsadmin kv sync -s n --from s:1` for that of s:1, or "
            "`nsadmin kv sync -s n --from s:2` for that of s:2, s:3, or "
            "`nsadmin kv sync -s n --from s:4` for that of s:4",
        ),
        (
            kv("w", "v", "w"), {}, "kv-written-to-some",
            "written to s:2 only, or to the others only: name servers do not replicate KV config",
            "if s:1, s:3 have the right value, run `nsadmin kv sync -s n --from s:1`",
        ),
        (
            kv("w", "v", "v"), {}, "kv-written-to-some",
            "written to s:1 only, or to the others only: name servers do not replicate KV config",
            "if s:2, s:3 have the right value, run `nsadmin kv sync -s n --from s:2`",
        ),
        (
            [make_cluster_snapshot(f"s:{value}", settings={"a": value}) for value in "12"], {}, "own-files",
            "each name server has its own configuration file",
            "find out which value is right, and run `nsadmin updateNamesrvConfig a 1` for that of s:1, or "
            "`nsadmin updateNamesrvConfig a 2` for that of s:2",
        ),
    ],
)  # fmt: skip
def test_each_cause_tells_what_happened_and_what_to_run(
    pictures: list[ClusterSnapshot], facts: dict[str, BrokerFacts], kind: str, text: str, advice: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    sections = [section for section in STATE_SECTIONS if section != "broker" or kind != "left-over"]
    evidence = CauseEvidence(pictures, {f"{host}:1": fact for host, fact in facts.items()})
    assert find_cause(compare_snapshots(pictures, sections).differences[0], evidence) == (kind, text, advice)
    monkeypatch.setattr(app.CommandRun, "perform", lambda run: 0)
    for command in re.findall(r"`nsadmin (.*?)`", advice):
        assert app.main(["-n", "s:1", *shlex.split(command)]) == 0


def test_the_advice_of_one_key_leaves_the_others_alone() -> None:
    """Copying the whole namespace from s:1 would spread its wrong value of the other keys."""
    tables = [{"a": "1", "b": "1", "c": "1", "d": "0"}] * 3
    tables[0], tables[1] = {**tables[0], "a": "2", "b": "2"}, {**tables[0], "c": "2"}
    pictures = [make_cluster_snapshot(f"s:{n + 1}", kv={"n": table}) for n, table in enumerate(tables)]
    evidence = CauseEvidence(pictures, {})
    advice = [find_cause(d, evidence).advice for d in compare_snapshots(pictures, ["kv"]).differences]
    of_a = "if s:2, s:3 have the right value, run `nsadmin kv sync -s n -k a -k b --from s:2`"
    assert advice == [
        of_a, of_a, "if s:1, s:3 have the right value, run `nsadmin kv sync -s n -k c --from s:1`"
    ]  # fmt: skip


# A broker that is not everywhere


@pytest.fixture
def without_b() -> list[ClusterSnapshot]:
    return [make_cluster_snapshot("s:1", TWO_BROKERS), make_cluster_snapshot("s:2")]


def test_other_names_for_the_same_servers_are_no_partial_list(without_b: list[ClusterSnapshot]) -> None:
    assert cause(without_b, y=telling(("name-server-1:9876",))).kind == "partition"
    assert cause(without_b, y=telling(())).kind == "partition"


def test_it_does_not_answer(without_b: list[ClusterSnapshot]) -> None:
    assert cause(without_b, y=BrokerFacts(False)).kind == "gone"
    assert cause(without_b).kind == "gone"


# A topic that is not everywhere alike


def test_write_permission_wiped_on_one_only() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry()}, {"a": make_queue_entry(4)}),
        x=telling(own={"T": make_queue_entry()}),
    )
    assert (divergence_cause.kind, divergence_cause.text) == (
        "wiped",
        "the write permission of a was removed on s:2 only",
    )
    assert divergence_cause.advice.startswith(
        "run `nsadmin repair wipe a`, which restores the broker's own permissions"
    )
    # The broker need not say so.
    assert cause(topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(5)})).kind == "wiped"
    came_back = cause(
        topics({"a": make_queue_entry(4)}, {"a": make_queue_entry(4)}, {"a": make_queue_entry()})
    )
    assert (came_back.kind, "not on s:3" in came_back.text) == ("wiped", True)


def test_write_permission_added_on_one_only() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry(4)}, {"a": make_queue_entry(6)}),
        x=telling(own={"T": make_queue_entry(4)}),
    )
    assert (divergence_cause.kind, "to s:2 only" in divergence_cause.text) == ("write-perm-added", True)
    # What it leaves behind, also where it is undone.
    flat = cause(
        topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(6)}),
        x=telling(own={"T": make_queue_entry(7)}),
    )
    assert (flat.kind, "replaces every permission with rw-" in flat.text) == ("write-perm-added", True)
    assert cause(topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(6)})).kind == "behind"
    # 7 is nothing that addWritePerm makes.
    assert (
        cause(
            topics({"a": make_queue_entry(5)}, {"a": make_queue_entry(7)}),
            x=telling(own={"T": make_queue_entry(5)}),
        ).kind
        == "behind"
    )


def test_a_permission_that_has_nothing_to_do_with_writing() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry(6)}, {"a": make_queue_entry(2)}),
        x=telling(own={"T": make_queue_entry(2)}),
    )
    assert (divergence_cause.kind, divergence_cause.text.startswith("s:1 missed the last")) == (
        "behind",
        True,
    )


def test_a_change_that_one_has_not_heard() -> None:
    pictures = topics(
        {"a": make_queue_entry(number=8)},
        {"a": make_queue_entry(number=4)},
        {"a": make_queue_entry(number=4)},
    )
    every = ("s:1", "s:2", "s:3")
    assert "s:2, s:3 missed" in cause(pictures, x=telling(every, {"T": make_queue_entry(number=8)})).text
    # Where the broker does not tell, the smaller part is taken to be behind.
    assert "s:1 missed the last registration" in cause(pictures).text
    assert "some name servers missed" in cause(pictures[:2]).text


def test_behind_because_it_is_on_the_list_no_more() -> None:
    pictures = topics({"a": make_queue_entry(number=8)}, {"a": make_queue_entry(number=4)})
    divergence_cause = cause(pictures, x=telling(("s:2",), {"T": make_queue_entry(number=4)}))
    assert (divergence_cause.kind, "does not name s:1" in divergence_cause.text) == ("partial-list", True)


def test_a_topic_that_one_has_not_heard_of_or_has_kept() -> None:
    pictures = topics({"a": make_queue_entry()}, {})
    assert cause(pictures, x=telling(own={"T": make_queue_entry()})).kind == "not-registered"
    assert cause(pictures).kind == "not-registered"
    assert cause(pictures, x=telling(("s:1",), {"T": make_queue_entry()})).kind == "partial-list"
    kept = cause(pictures, x=telling(own={"T": None}))
    assert (kept.kind, "but not on s:1" in kept.text) == ("left-over", True)


PICTURES = [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2")]


def new_list_cause(facts: BrokerFacts, behind: tuple[int, ...] = (1,)) -> DivergenceCause | None:
    return explain_new_list(["x:1"], behind, CauseEvidence(PICTURES, {"x:1": facts}))


def test_a_list_that_names_the_server_since_a_moment_ago() -> None:
    list_cause = new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, 30_000))
    assert list_cause is not None
    assert list_cause.kind == "new-list"
    assert list_cause.text == "its namesrvAddr names s:2, and its settings changed less than 3 minutes ago"
    assert list_cause.advice == (
        "wait: the broker reads a new list within 2 minutes, and registers within 30 s after that"
    )
    # Clocks may differ.
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, -5_000)) is not None


def test_an_old_or_unknown_or_partial_list_is_no_new_one() -> None:
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, NEW_LIST_MS)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, None)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1",), {}, 30_000)) is None
    assert new_list_cause(BrokerFacts(True, (), {}, 30_000)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, 30_000), ()) is None


def test_a_partial_list_counts_if_it_names_the_servers_that_are_right() -> None:
    def partial_cause(*names: str) -> DivergenceCause | None:
        evidence = CauseEvidence(PICTURES, {"x:1": BrokerFacts(True, names)})
        return explain_partial_list(["x:1"], [1], evidence)

    list_cause = partial_cause("s:1")
    assert list_cause is not None
    assert "updateBrokerConfig namesrvAddr 's:1;s:2' -b x:1" in list_cause.advice
    assert partial_cause("s:1", "s:2") is None
    assert partial_cause("other:1") is None


def test_the_addresses_of_a_broker_have_its_master_first() -> None:
    slave_and_master = {
        "a": {**make_broker_entry("x:1"), "brokerAddrs": {"10": "x:3", "2": "x:2", "0": "x:1"}}
    }
    evidence = CauseEvidence(
        [
            make_cluster_snapshot("s:1", slave_and_master),
            make_cluster_snapshot("s:2", {"a": make_broker_entry("y:1")}),
        ],
        {},
    )
    assert evidence.list_broker_addrs("a") == ["x:1", "y:1", "x:2", "x:3"]
    assert evidence.list_broker_addrs("b") == []


def test_the_cluster_of_a_broker_is_named_for_commands() -> None:
    brokers = {"a": make_broker_entry(), "b": make_broker_entry("y:1", "d")}
    evidence = CauseEvidence([make_cluster_snapshot("s:1", {}), make_cluster_snapshot("s:2", brokers)], {})
    assert [evidence.find_cluster(name) for name in (None, "a", "b", "gone")] == ["c", "c", "d", "CLUSTER"]


def test_a_broker_that_was_not_asked_has_no_facts() -> None:
    evidence = CauseEvidence(
        [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2")], {"x:1": BrokerFacts(True)}
    )
    assert (evidence.facts_of("x:1").is_answering, evidence.facts_of("y:1")) == (True, NO_FACTS)
    assert evidence.addrs_at([1, 0]) == "s:2, s:1"
