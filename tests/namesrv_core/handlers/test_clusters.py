"""106."""

import pytest

from namesrv_core.protocol.codes import HeaderType
from tests.support.wire import Wire


@pytest.mark.parametrize("version", [0, 317, 513])
def test_the_cluster_map_is_in_the_default_dialect_whoever_asks(form: HeaderType, version: int) -> None:
    wire = Wire(form)
    wire.register("a", "T", "U", more={"__ZONE_NAME": "z"})
    answer = wire.ask(106, version=version)
    assert (answer.code, answer.ext) == (0, None)
    assert answer.body == (
        b'{"brokerAddrTable":{"a":{"brokerAddrs":{0:"10.0.0.1:10911"},"brokerName":"a","cluster":"c",'
        b'"enableActingMaster":false,"zoneName":"z"}},"clusterAddrTable":{"c":["a"]}}'
    )
