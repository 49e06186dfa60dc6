"""What the remoting port of a proxy reports."""

from namesrv_core.protocol.command import build_reply
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.client.connection.caller import Caller
from nsadmin.client.proxies.port_probe import PortAnswer, probe_ports
from tests.support.fake_servers import closed_port, refuse_with
from tests.support.proxies import FakeProxy

CALLER = Caller(NameServerList((), "given"), Access(timeout=5))


def test_the_mode_follows_from_the_address_in_the_route() -> None:
    with FakeProxy() as cluster, FakeProxy(is_local=True) as local:
        answers = probe_ports(CALLER, [cluster.addr, local.addr, cluster.addr], ["broker-a"])
    assert answers == {
        cluster.addr: PortAnswer("V5_5_0", "cluster", cluster.addr, None, None),
        local.addr: PortAnswer("V5_5_0", "local", None, "10.0.0.7:8081", None),
    }


def test_a_refusal_has_the_release_and_silence_an_error() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeProxy() as denying, FakeProxy() as broken:
        denying.handlers[105] = refuse_with(16, "no permission")
        broken.handlers[105] = lambda asked: build_reply(asked, body=b"{")
        answers = probe_ports(CALLER, [denying.addr, broken.addr, gone], ["broker-a"])
    assert answers[denying.addr] == PortAnswer("V5_5_0", None, None, None, None)
    assert answers[broken.addr] == PortAnswer("V5_5_0", None, None, None, None)
    assert answers[gone].error is not None
