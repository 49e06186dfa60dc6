"""check brokers: who answers of those that any name server lists."""

from pathlib import Path

from nsadmin import AdminClient
from nsadmin.operations.checks.brokers import CHECK
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.inventory.keeper import InventoryKeeper
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port, refuse_with


def found(*addrs: str, expected: int | None = None, cluster: str | None = None) -> CheckFinding:
    return run_check(CHECK, *addrs, scope=CheckScope(cluster_name=cluster, expected_count=expected))


def test_all_answer(first_server: FakeNameServer) -> None:
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "1 of 1 registered brokers answer")
    assert read_values(finding) == {"failing": 0, "masterless": 0, "refusing": 0, "serving": 1}


def test_a_slave_that_is_gone_is_a_warning(first_server: FakeNameServer, broker: FakeBroker) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: broker.addr, 1: gone}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details == (
        f"broker-a 1 at {gone}: connection refused, no server listens on this port; the broker registers "
        "under an address where nobody listens: correct its brokerIP1 or listenPort",
    )


def test_a_master_that_is_gone_or_not_there_is_critical(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: gone}}}
    assert found(first_server.addr).state is CheckState.CRITICAL
    first_server.clusters = {"C": {"broker-a": {1: broker.addr}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == "broker-a has no master; 1 of 1 registered brokers answer"
    assert finding.details == (
        "broker-a: no master is registered",
        "to see which topics cannot be written now: nsadmin check writable",
        "to see which groups cannot read now: nsadmin group explain --filter result=cause",
        "what to do, and what may be lost: nsadmin guide when-a-master-dies",
    )
    assert read_values(finding) == {"failing": 1, "masterless": 1, "refusing": 0, "serving": 1}


def test_a_full_disk_is_critical_on_a_master_and_a_warning_on_a_slave(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table["commitLogDiskRatio"] = "0.94"
    finding = found(first_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == (
        "1 of 1 registered brokers answer, broker-a refuses messages: its disk is full"
    )
    assert finding.details == (
        f"broker-a 0 at {broker.addr} refuses messages: commitLogDiskRatio is 94 %, above "
        "diskSpaceWarningLevelRatio 90 %",
    )
    with FakeBroker() as master:
        first_server.clusters = {"C": {"broker-a": {0: master.addr, 1: broker.addr}}}
        finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.WARNING, "2 of 2 registered brokers answer")
    assert finding.details[0].startswith(f"broker-a 1 at {broker.addr}: commitLogDiskRatio is 94 %")


def test_messages_that_are_deleted_early_are_a_warning(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.table["commitLogDiskRatio"] = "0.87"
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert "deletes messages before fileReservedTime" in finding.details[0]
    broker.settings["cleanFileForciblyEnable"] = "false"
    assert found(first_server.addr).state is CheckState.OK


def test_a_broker_that_hides_its_disk_or_its_settings_is_not_ok(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    del broker.table["commitLogDiskRatio"]
    assert found(first_server.addr).state is CheckState.UNKNOWN
    broker.table["commitLogDiskRatio"] = "0.1"
    broker.handlers[26] = refuse_with(1, "no")
    finding = found(first_server.addr)
    assert finding.state is CheckState.UNKNOWN
    assert finding.details[0].startswith(f"broker-a 0 at {broker.addr} did not return its settings: ")


def test_two_names_of_one_process_are_a_warning(first_server: FakeNameServer, broker: FakeBroker) -> None:
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}, "broker-b": {0: broker.addr}}}
    broker.settings["brokerName"] = "broker-b"
    finding = found(first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.WARNING,
        "1 of 1 registered brokers answer, 1 of them under several names",
    )
    assert finding.details == (
        f"broker-a and broker-b are one process, at {broker.addr}, whose own name is broker-b: stopping it "
        "stops all of them, and sums count it once. Restart the name servers one by one to remove former "
        "names",
    )
    first_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
    finding = found(first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details == (
        f"broker-a 0 at {broker.addr} has the name broker-b in its own settings: it was renamed",
    )


def test_a_broker_of_another_cluster_by_its_own_settings_is_a_warning(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    broker.settings["brokerClusterName"] = "other"
    finding = found(first_server.addr)
    assert (finding.state, finding.details) == (
        CheckState.WARNING,
        (
            f"broker-a 0 at {broker.addr} is listed in the cluster C, and is in other by its own settings: "
            "restart the name servers one by one to remove the former cluster",
        ),
    )


def test_two_processes_of_one_name_are_a_warning(
    first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker, tmp_path: Path
) -> None:
    """They register in turn: name servers list one of them, or each lists another one."""
    inventory = InventoryKeeper(lambda: "key", environment={"NSADMIN_STATE": str(tmp_path)})
    with FakeBroker() as twin, AdminClient([first_server.addr], timeout=5) as admin:
        for one in (broker, twin):
            one.settings |= {"brokerName": "broker-a", "brokerId": "0"}
            one.table["bootTimestamp"] = one.addr.rpartition(":")[2]
            first_server.clusters = {"C": {"broker-a": {0: one.addr}}}
            observation = CHECK.observe(admin, CheckScope(inventory=inventory))
        finding = CHECK.judge(CHECK.make_scale(), observation)
        text = f"broker-a 0 is two processes, at {twin.addr} and {broker.addr}: name servers list the one"
        assert (finding.state, finding.details[0].startswith(text)) == (CheckState.WARNING, True)
        second_server.clusters = {"C": {"broker-a": {0: broker.addr}}}
        finding = found(first_server.addr, second_server.addr)
        assert finding.details[0].startswith(text)
        # One process that answers at two addresses, and one of another id.
        for key, value in ((broker.table, "bootTimestamp"), (broker.settings, "brokerId")):
            before, key[value] = key[value], {"bootTimestamp": twin.table["bootTimestamp"]}.get(value, "1")
            lines = found(first_server.addr, second_server.addr).details
            assert not any("two processes" in line for line in lines)
            key[value] = before


def test_a_slave_of_a_release_that_deletes_topics_is_a_warning(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with FakeBroker() as slave:
        slave.table["brokerVersionDesc"] = "V5_4_0"
        first_server.clusters = {"C": {"broker-a": {0: broker.addr, 1: slave.addr}}}
        finding = found(first_server.addr)
        first_server.clusters = {"C": {"broker-a": {0: slave.addr}}}
        assert found(first_server.addr).state is CheckState.OK
    assert finding.state is CheckState.WARNING
    assert finding.details[0].startswith(
        f"broker-a 1 at {slave.addr} runs 5.4.0: as a slave, it deletes topics"
    )


def test_an_address_where_nobody_listens_is_told_with_the_former_one(
    first_server: FakeNameServer, broker: FakeBroker, tmp_path: Path
) -> None:
    inventory = InventoryKeeper(lambda: "key", environment={"NSADMIN_STATE": str(tmp_path)})
    gone = f"127.0.0.1:{closed_port()}"
    with AdminClient([first_server.addr], timeout=5) as admin:
        for addr in (broker.addr, gone, gone):
            first_server.clusters = {"C": {"broker-a": {0: addr}}}
            observation = CHECK.observe(admin, CheckScope(inventory=inventory))
    assert CHECK.judge(CHECK.make_scale(), observation).details == (
        f"broker-a 0 at {gone}: connection refused, no server listens on this port; the broker registers "
        "under an address where nobody listens: correct its brokerIP1 or listenPort; it was at "
        f"{broker.addr} before",
        "to see which topics cannot be written now: nsadmin check writable",
        "to see which groups cannot read now: nsadmin group explain --filter result=cause",
        "what to do, and what may be lost: nsadmin guide when-a-master-dies",
    )


def test_one_that_has_gone_is_only_missed_where_it_is_expected(first_server: FakeNameServer) -> None:
    assert found(first_server.addr, expected=1).state is CheckState.OK
    finding = found(first_server.addr, expected=2)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == "1 of 1 registered brokers answer, and 2 are expected"


def test_what_left_is_unknown_with_a_damaged_inventory(first_server: FakeNameServer, tmp_path: Path) -> None:
    def observe() -> CheckFinding:
        inventory = InventoryKeeper(lambda: "servers", environment={"NSADMIN_STATE": str(tmp_path)})
        with AdminClient([first_server.addr]) as admin:
            observation = CHECK.observe(admin, CheckScope(inventory=inventory))
            return CHECK.judge(CHECK.make_scale(), observation)

    assert observe().state is CheckState.OK
    [file] = tmp_path.rglob("brokers.json")
    file.write_text('{"format": 1, "brokers": null}')
    finding = observe()
    assert finding.state is CheckState.UNKNOWN
    assert finding.summary == "1 of 1 registered brokers answer; missing brokers are unknown"
    assert f"the inventory {file} cannot be read: brokers has the wrong type" in finding.details[-1]


def test_no_broker_at_all_is_critical(first_server: FakeNameServer) -> None:
    first_server.clusters = {}
    assert found(first_server.addr).state is CheckState.CRITICAL
    assert found(first_server.addr, cluster="X").summary == 'no name server lists the cluster "X"'


def test_a_broker_that_one_name_server_does_not_list_is_a_warning(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with FakeNameServer() as other:
        finding = found(other.addr, first_server.addr)
        assert finding.state is CheckState.WARNING
        assert finding.details == (
            f"name server {other.addr} does not list {broker.addr}, but another name server does",
        )


def test_a_name_server_that_does_not_answer_is_told_and_hides_nothing(first_server: FakeNameServer) -> None:
    gone = f"127.0.0.1:{closed_port()}"
    finding = found(gone, first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details == (f"name server {gone}: connection refused, no server listens on this port",)
    nobody = found(gone)
    assert nobody.state is CheckState.UNKNOWN
    assert nobody.details == finding.details
