"""106."""

import pytest

from namesrv_core.protocol.codes import HeaderType
from tests.support.wire import STARTED_AT, Wire


@pytest.mark.parametrize("version", [0, 317, 513])
def test_the_cluster_map_is_in_the_default_dialect_whoever_asks(form: HeaderType, version: int) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U", more={"__ZONE_NAME": "z"})
    answer = wire.send_request(106, version=version)
    assert (answer.code, answer.ext) == (0, None)
    assert answer.body == (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"a","cluster":"c",'
        b'"enableActingMaster":false,"zoneName":"z"}},"clusterAddrTable":{"c":["a"]}}'
    )


def test_who_asks_for_it_is_told_how_long_brokers_were_silent(form: HeaderType) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    plain = wire.send_request(106)
    answer = wire.send_request(106, {"withHeartbeats": "true"}, now=STARTED_AT + 30_000)
    assert answer.ext == {"heartbeats": '{"10.0.0.1:10911":[30000,120000]}'}
    assert answer.body == plain.body
    assert wire.send_request(106, {"withHeartbeats": "false"}).ext is None
