"""whatIf, of simulated brokers."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port
from tests.support.lab import Lab, start_lab


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab"), name_servers=2) as running:
        yield running


def rows_of(run: Run, namesrv: str, *words: str, code: int) -> list[dict[str, Any]]:
    result = run("whatIf", *words, "-n", namesrv, "--json")
    assert result.code == code, result.err
    return list(result.json)


def test_what_stands_still_first_and_the_rest_by_what_it_loses(run: Run, running_lab: Lab) -> None:
    rows = rows_of(run, running_lab.namesrv_addr, "--down", "broker-a-0", code=1)
    assert [(row["what"], row["name"], row["finding"]) for row in rows[:2]] == [
        ("topic", "coupons-created", "no writable queue, no master, no readable queue"),
        ("topic", "customers-archived", "no writable queue, no master, no readable queue"),
    ]
    assert rows[0]["writeQueues"] > rows[0]["writeQueuesLeft"] == 0
    together = [row for row in rows if row["what"] == "topics"]
    assert together[0]["finding"] == "loses a part of its write queues"
    assert together[0]["lostRatio"] > together[-1]["lostRatio"]
    [history] = [row for row in rows if row["name"] == "orders-history"]
    assert (history["finding"], history["lostRatio"], history["readQueues"] > history["readQueuesLeft"]) == (
        "loses read queues, but no write queue",
        None,
        True,
    )
    groups = [row for row in rows if row["what"] == "group"]
    assert groups[0]["finding"] == "cannot read coupons-created, customers-archived"
    assert groups[0]["topics"][:2] == ["coupons-created", "customers-archived"]
    assert groups[-1]["finding"] == "reads from fewer queues"
    told = run("whatIf", "--down", "broker-a-0", "-n", running_lab.namesrv_addr).err
    assert "taken as down: broker-a-0:0, broker-a-0:1; for the master alone: --down broker-a-0:0" in told

    losses = rows_of(run, running_lab.namesrv_addr, "--down", "broker-a-0", "--detail", code=1)
    topics = [row for row in losses if row["what"] == "topic"]
    assert len(topics) == sum(row["count"] for row in rows if row["what"] != "group")
    everything = rows_of(
        run, running_lab.namesrv_addr, "--down", "broker-a-0", "--detail", "--system", code=1
    )
    assert "broker-a-0" in {row["name"] for row in everything}


def test_the_count_is_told_beside_the_table(run: Run, running_lab: Lab) -> None:
    result = run("whatIf", "--down", "broker-a-0:0", "-n", running_lab.namesrv_addr)
    assert result.err == (
        "nsadmin: 36 of 56 topics are affected: 2 would fail for clients, "
        "34 would lose a part of their queues\n"
        "nsadmin: 4 of 7 affected groups would stop reading a topic; 18% of all write queues would be lost\n"
        "nsadmin: broker-a-0:1 refuses reads, because its slaveReadEnable is false: to let it serve them "
        "while its master is down, run nsadmin updateBrokerConfig slaveReadEnable true -b broker-a-0:1\n"
    )
    result = run("whatIf", "--down", "broker-a-0:1", "-n", running_lab.namesrv_addr)
    assert (result.code, result.out.splitlines()[1:]) == (0, [])


def test_unknown_groups_are_not_called_unaffected(
    run: Run, first_server: FakeNameServer, dead_addr: str
) -> None:
    first_server.clusters = {"C": {"a": {0: dead_addr}}}
    first_server.routes = {"T": {"a": 6}}
    result = run("whatIf", "--down", "a", "-n", first_server.addr)
    assert result.code == 3
    assert f"affected groups are unknown, because {dead_addr} did not answer; 100% of all" in result.err
    assert (
        f"{dead_addr} returned no groups: groups that no other broker knows are missing. To see which groups "
        "cannot read now, run nsadmin group explain --filter result=cause"
    ) in result.err


def test_a_table_says_which_name_server_knows_of_a_loss(run: Run, broker: FakeBroker, dead_addr: str) -> None:
    group = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: dead_addr}}}
    with FakeNameServer(group) as first, FakeNameServer(group) as second:
        first.routes = {"T": {"broker-a": 6, "broker-b": 6}}
        second.routes = {"T": {"broker-a": 6}}
        result = run("whatIf", "--down", "broker-a", "-n", f"{first.addr};{second.addr}")
    head, row, *_ = result.out.splitlines()
    assert (head.split()[-1], row.split()[-1]) == ("namesrvAddrs", second.addr)


def test_groups_with_many_topics_gone_name_the_first(run: Run, running_lab: Lab) -> None:
    brokers = ",".join(f"broker-a-{number}" for number in range(3))
    rows = rows_of(run, running_lab.namesrv_addr, "--down", brokers, code=1)
    assert rows[-1]["what"] == "group"
    assert any(row["finding"].endswith(", ...") for row in rows if row["what"] == "group")


def test_who_has_no_name_server_left(run: Run, running_lab: Lab) -> None:
    first, second = running_lab.namesrv_addrs
    rows = rows_of(run, running_lab.namesrv_addr, "--down-namesrv", first, code=0)
    assert [(row["what"], row["count"], row["finding"]) for row in rows] == [
        ("brokers", 12, "fewer name servers remain"),
        ("clients", 21, "fewer name servers remain"),
    ]
    assert rows[0]["namesrvAddrsLeft"] == [second]
    rows = rows_of(run, running_lab.namesrv_addr, "--down-namesrv", f"{first};{second}", code=1)
    findings = [(row["what"], row["finding"]) for row in rows]
    assert findings[:12] == [("broker", "not registered on another name server")] * 12
    assert (rows[0]["namesrvAddrs"], rows[0]["namesrvAddrsLeft"]) == ([first, second], [])
    assert findings[12:24] == [("broker", "no name server remains")] * 12
    assert findings[24:] == [("client", "no name server remains")] * 21
    result = run("whatIf", "--down-namesrv", first, "--detail", "-n", running_lab.namesrv_addr, "--json")
    assert len(result.json) == 33
    assert result.err == (
        "nsadmin: compared the name server lists of 12 brokers and 21 consumers; producers do not report "
        "theirs: check namesrvAddr of 113 producers\n"
    )


def test_addresses_by_name_and_by_number_are_one(run: Run, running_lab: Lab) -> None:
    by_name = running_lab.namesrv_addrs[0].replace("127.0.0.1", "localhost")
    rows = rows_of(run, running_lab.namesrv_addr, "--down-namesrv", by_name, code=0)
    assert {row["finding"] for row in rows} == {"fewer name servers remain"}


def test_what_cannot_be_asked_is_unknown(run: Run, running_lab: Lab) -> None:
    dead = f"127.0.0.1:{closed_port()}"
    for words in (("--down", "broker-a-0"), ("--down-namesrv", running_lab.namesrv_addrs[0])):
        result = run("whatIf", *words, "-n", f"{running_lab.namesrv_addr};{dead}", "--json")
        assert result.code == 3
        assert f"unknown state of {dead}: connection refused" in result.err


def test_a_broker_that_fetches_its_list_is_not_lost(
    run: Run, first_server: FakeNameServer, broker: Any
) -> None:
    items = (
        "brokerName=broker-a\nbrokerId=0\nfetchNamesrvAddrByAddressServer=true\n"
        f"namesrvAddr={first_server.addr}\n"
    )
    from namesrv_core.protocol.command import build_reply

    broker.handlers[26] = lambda asked: build_reply(asked, body=items.encode())
    result = run("whatIf", "--down-namesrv", first_server.addr, "-n", first_server.addr, "--json")
    findings = [row["finding"] for row in result.json]
    assert findings == [
        "not registered on another name server",
        "no name server remains until it fetches a new list",
    ]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            (),
            "missing option --down BROKERS or --down-namesrv ADDRS or --down-proxy ADDRS: "
            "usage: nsadmin whatIf (--down BROKERS | --down-namesrv ADDRS | --down-proxy ADDRS)",
        ),
        (
            ("--down", "a", "--down-namesrv", "h:1"),
            "pass exactly one of --down BROKERS, --down-namesrv ADDRS and --down-proxy ADDRS",
        ),
        (("--down", " , "), 'invalid list " , " for --down: write names separated by commas, such as A,B'),
    ],
)
def test_what_is_no_question(run: Run, words: tuple[str, ...], said: str) -> None:
    result = run("whatIf", *words)
    assert result.code == 2
    assert said in result.err


def test_a_broker_that_nobody_knows(run: Run, running_lab: Lab) -> None:
    result = run("whatIf", "--down", "broker-x", "-n", running_lab.namesrv_addr)
    assert result.code == 5
    assert (
        'no broker "broker-x"; did you mean "broker-a-0" or "broker-a-1" or "broker-a-2" or 3 more?'
        in result.err
    )


def test_the_advised_command_lets_the_slave_serve_reads(run: Run, running_lab: Lab) -> None:
    def foresee() -> Any:
        return run("whatIf", "--down", "broker-a-0:0", "-n", running_lab.namesrv_addr)

    before = foresee()
    command = before.err.partition("run nsadmin ")[2].split()
    assert run(*command, "-n", running_lab.namesrv_addr, "--yes").code == 0
    after = foresee()
    command[2] = "false"
    assert run(*command, "-n", running_lab.namesrv_addr, "--yes").code == 0
    assert ("cannot read" in before.out, "cannot read" in after.out) == (True, False)
    assert "slaveReadEnable" not in after.err


def test_a_name_server_that_nobody_lists_is_not_found(run: Run, running_lab: Lab, dead_addr: str) -> None:
    result = run("whatIf", "--down-namesrv", dead_addr, "-n", running_lab.namesrv_addr)
    assert (result.code, result.out) == (5, "")
    assert result.err.startswith(f"nsadmin: no broker or client lists the name server {dead_addr}")


def test_a_broker_whose_master_died_already(
    run: Run, first_server: FakeNameServer, broker: FakeBroker
) -> None:
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    server = ("-n", first_server.addr)
    assert "broker-a has no master now" in run("whatIf", "--down", "broker-a", *server).err
    result = run("whatIf", "--down", "broker-a:0", *server)
    assert (result.code, result.err.startswith("nsadmin: no name server lists broker-a:0 now")) == (5, True)
