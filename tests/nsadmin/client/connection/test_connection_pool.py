"""Connections that clients use one after the other."""

from namesrv_core.transport.multiplexed_client import Exchange
from nsadmin.client import Access, AdminClient, Pool, Tls
from tests.support.fake_servers import FakeNameServer


def test_clients_of_a_pool_share_connections_until_it_is_closed() -> None:
    with FakeNameServer() as server:
        pool = Pool()
        for timeout in (1.0, 2.0):
            with AdminClient(server.addr, access=Access(timeout), pool=pool) as admin:
                admin.topics.list_names()
        assert len(server.connections) == 1
        pool.close()
        with AdminClient(server.addr, pool=pool) as admin:
            admin.topics.list_names()
        pool.close()
        assert len(server.connections) == 2


def test_each_client_has_an_observer_of_its_own() -> None:
    first, second = list[Exchange](), list[Exchange]()
    with FakeNameServer() as server:
        pool = Pool()
        for observer in (first.append, second.append):
            with AdminClient(server.addr, pool=pool, observer=observer) as admin:
                admin.topics.list_names()
        pool.close()
    assert (len(first), len(second)) == (1, 1)


def test_only_what_is_made_alike_is_shared() -> None:
    pool = Pool()
    plain = pool.get_connections(Access())
    assert pool.get_connections(Access(9.0, retries=2)) is plain
    assert pool.get_connections(Access(concurrency=2)) is not plain
    assert pool.get_connections(Access(tls=Tls(verify=False))) is not plain
    pool.close()
