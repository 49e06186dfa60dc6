"""Figures that combine the readings of several brokers."""

from nsadmin.operations.exporter.derived_figures import ClientFacts, ClientKey, derive_tables
from nsadmin.operations.exporter.figures import FigureTable, Reading, ServerIdentity
from tests.support.exporter_series import BROKER

SLAVE = ServerIdentity("h:2", "C", "a", "1")
OTHER = ServerIdentity("h:3", "C", "b", "0")
JAVA, GO = ClientKey("1@x", "JAVA", "V5_5_0"), ClientKey("2@x", "GO", "V2_1_0")


def tables(*readings: Reading) -> dict[str, FigureTable]:
    return {table.metric_names[0]: table for table in derive_tables(readings)}


def test_the_distance_of_a_slave_from_its_master() -> None:
    readings = [Reading("runtime", BROKER, 0, (), 100), Reading("runtime", SLAVE, 0, (), 70)]
    distance = "nsadmin_broker_slave_distance_bytes"
    assert tables(*readings)[distance].rows == [(("C", "a", "1"), (30.0,))]
    assert tables(readings[1])[distance].rows == []
    ahead = Reading("runtime", SLAVE, 0, (), 130)
    assert tables(readings[0], ahead)[distance].rows == [(("C", "a", "1"), (0.0,))]
    assert tables(readings[0], Reading("runtime", SLAVE, 0, (), None))[distance].rows == []


def test_a_client_that_is_connected_to_two_brokers_counts_once() -> None:
    first = ClientFacts({"G": frozenset({JAVA}), "H": frozenset()}, {"P": frozenset({JAVA})})
    second = ClientFacts({"G": frozenset({JAVA, GO})}, {})
    client_tables = tables(Reading("clients", BROKER, 0, (), first), Reading("clients", OTHER, 0, (), second))
    assert dict(client_tables["nsadmin_group_clients"].rows) == {("C", "G"): (2.0,), ("C", "H"): (0.0,)}
    assert client_tables["nsadmin_producer_clients"].rows == [(("C", "P"), (1.0,))]
    assert dict(client_tables["nsadmin_clients"].rows) == {
        ("C", "consumer", "GO", "V2_1_0"): (1.0,),
        ("C", "consumer", "JAVA", "V5_5_0"): (1.0,),
        ("C", "producer", "JAVA", "V5_5_0"): (1.0,),
    }


def test_consumers_behind_proxies_count_with_those_at_brokers() -> None:
    at_broker = ClientFacts({"G": frozenset({JAVA})}, {})
    behind_proxy = {"C": ClientFacts({"G": frozenset({JAVA, GO}), "H": frozenset({GO})}, {})}
    client_tables = tables(
        Reading("clients", BROKER, 0, (), at_broker),
        Reading("proxies", ServerIdentity(""), 0, (), behind_proxy),
    )
    assert dict(client_tables["nsadmin_group_clients"].rows) == {("C", "G"): (2.0,), ("C", "H"): (1.0,)}
