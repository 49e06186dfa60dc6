"""How servers answer whoever asks."""

import socket

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port, refuse_with
from tests.support.proxies import FakeProxy


def test_any_answer_tells_a_version_and_a_refusal_why() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with FakeNameServer() as server, FakeBroker() as broker, AdminClient(server.addr) as admin:
        broker.handlers[RequestCode.GET_BROKER_CONFIG] = refuse_with(16, "no permission\nat a.b.C")
        [name_server_exposure], [clusters] = (
            admin.exposure.name_servers([server.addr]),
            admin.exposure.clusters([server.addr]),
        )
        refused, silent = admin.exposure.brokers([broker.addr, gone])
        broker.handlers[RequestCode.GET_BROKER_CONFIG] = lambda asked: build_reply(asked, 1)
        [wordless] = admin.exposure.brokers([broker.addr])
    assert name_server_exposure.result is not None
    assert (name_server_exposure.result.version_name or "").startswith("V")
    assert (name_server_exposure.result.settings, name_server_exposure.result.refusal_text) == (
        server.config,
        None,
    )
    assert clusters.result is not None
    assert (clusters.result.settings, clusters.result.refusal_text) == ({}, None)
    assert refused.result is not None
    assert (refused.result.settings, refused.result.refusal_text) == ({}, "no permission")
    assert wordless.result is not None
    assert wordless.result.refusal_text == "code 1"
    assert silent.error is not None


def test_who_takes_connections() -> None:
    gone = f"127.0.0.1:{closed_port()}"
    with socket.create_server(("127.0.0.1", 0)) as there, AdminClient("h:1") as admin:
        addr = f"127.0.0.1:{there.getsockname()[1]}"
        assert admin.exposure.check_reachable([addr, gone, "no-such-host.invalid:1"]) == {
            addr: True,
            gone: False,
            "no-such-host.invalid:1": False,
        }
        assert admin.exposure.check_reachable([]) == {}


def test_a_proxy_answers_or_requires_credentials() -> None:
    with FakeProxy() as proxy, FakeProxy() as denying, AdminClient("h:1") as admin:
        denying.handlers[203] = refuse_with(1, "username cannot be null.")
        answered, denied = admin.exposure.proxies([proxy.addr, denying.addr])
    assert answered.result is not None
    assert denied.result is not None
    assert (answered.result.version_name, answered.result.refusal_text) == ("V5_5_0", None)
    assert denied.result.refusal_text == "username cannot be null."
