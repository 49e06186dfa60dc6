"""Brokers behind other addresses than their own: which way is taken, and what is still said of them."""

import pytest

from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.address_map import AddressMap, parse_pair
from nsadmin.client.connection.addresses import BadAddress
from nsadmin.client.results import error_text
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port

UNROUTABLE = "10.9.9.9:10911"
MAP = AddressMap(
    [
        ("0.0.0.0/0", "everywhere:1"),
        ("10.0.0.0/8", "gateway"),
        ("10.9.0.0/16", "gateway-9:2"),
        ("10.9.9.9", "host-only"),
        ("10.9.9.9:10911", "127.0.0.1:20911"),
        ("broker-a.svc", "localhost:30911"),
        ("fd00::/8", "[::1]"),
        ("[fd00::5]:10911", "[::1]:5"),
    ]
)


@pytest.mark.parametrize(
    ("addr", "way"),
    [
        ("10.9.9.9:10911", "127.0.0.1:20911"),
        ("10.9.9.9:10912", "host-only:10912"),
        ("10.9.1.1:10911", "gateway-9:2"),
        ("10.1.1.1:10911", "gateway:10911"),
        ("192.168.0.1:10911", "everywhere:1"),
        ("broker-a.svc:10911", "localhost:30911"),
        ("broker-b.svc:10911", "broker-b.svc:10911"),
        ("[fd00::5]:10911", "[::1]:5"),
        ("[fd00::6]:10911", "[::1]:10911"),
        ("[fe80::6]:10911", "[fe80::6]:10911"),
    ],
)
def test_the_most_specific_pair_counts(addr: str, way: str) -> None:
    assert MAP(addr) == way


def test_a_pair_is_written_with_an_equals_sign() -> None:
    assert parse_pair("10.0.0.0/8 = gateway") == ("10.0.0.0/8", "gateway")
    assert parse_pair("[fd00::5]:1=[::1]:2") == ("[fd00::5]:1", "[::1]:2")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10.0.0.0/8", 'invalid mapping "10.0.0.0/8": use FROM=TO'),
        ("=a:1", "invalid mapping"),
        ("a=", "invalid mapping"),
        ("a=b=c", "invalid mapping"),
        ("10.0.0.1/8=a", 'invalid network "10.0.0.1/8": 10.0.0.1/8 has host bits set'),
        ("10.0.0.0/40=a", "invalid network"),
        ("a:x=b", 'invalid address "a:x"'),
        ("a=b:0", 'invalid port 0 in "b:0"'),
        ("a=b/c", 'invalid address "b/c"'),
    ],
)
def test_what_maps_nothing_is_refused(text: str, said: str) -> None:
    with pytest.raises(BadAddress, match=r"invalid (mapping|network|address|port) ") as failed:
        parse_pair(text)
    assert said in str(failed.value)


def test_a_broker_is_reached_through_the_map_and_keeps_its_own_address() -> None:
    with FakeBroker() as broker, FakeNameServer({"C": {"a": {0: UNROUTABLE}}}) as server:
        access = Access(timeout=5, address_map=(("10.0.0.0/8", broker.addr),))
        with AdminClient(server.addr, access=access) as admin:
            [status] = admin.clusters.list_broker_status()
    assert (status.broker_addr, status.error) == (UNROUTABLE, None)
    assert status.runtime_info is not None


def test_an_error_names_the_brokers_address_and_the_one_that_was_tried() -> None:
    way = f"127.0.0.1:{closed_port()}"
    with FakeNameServer({"C": {"a": {0: UNROUTABLE}}}) as server:
        access = Access(timeout=5, address_map=((UNROUTABLE, way),))
        with AdminClient(server.addr, access=access) as admin:
            [status] = admin.clusters.list_broker_status()
    refused = f"through {way}: connection refused, no server listens on this port"
    assert status.error is not None
    assert str(status.error) == f"{UNROUTABLE}: {refused}"
    assert error_text(status.error) == refused


def test_name_servers_are_not_mapped() -> None:
    with FakeNameServer() as server:
        access = Access(timeout=5, address_map=(("127.0.0.0/8", f"127.0.0.1:{closed_port()}"),))
        with AdminClient(server.addr, access=access) as admin:
            assert admin.clusters.get_info().cluster_names == ()


def test_a_bad_map_is_refused_before_anything_is_asked() -> None:
    with pytest.raises(BadAddress, match="invalid network"):
        AdminClient("h:1", access=Access(address_map=(("10.0.0.1/8", "a"),)))
