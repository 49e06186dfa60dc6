"""The configuration of a broker: read, changed, protected."""

import pytest

from namesrv_core.errors import NoPermission
from namesrv_core.fleet.properties import BrokerProperties

NOW = 1_700_000_000_000


def properties() -> BrokerProperties:
    return BrokerProperties({"brokerName": "broker-a", "brokerId": 0}, NOW)


def test_the_body_has_upstreams_keys_in_order() -> None:
    lines = properties().encoded_lines.decode().splitlines()
    keys = [line.partition("=")[0] for line in lines]
    assert keys == sorted(keys)
    assert {"brokerName=broker-a", "brokerPermission=6", "deleteWhen=04"} <= set(lines)
    assert len(keys) > 450


def test_an_update_changes_what_fits_and_leaves_out_the_rest() -> None:
    mine = properties()
    text = b"maxMessageSize=abc\nfoo=1\ntraceOn=FALSE\nlongPollingEnable=maybe\n"
    text += b"deleteWhen=05\nmsgTraceTopicName=a\\=b\n"
    assert not mine.apply_update(text, NOW + 1)
    assert (mine["maxMessageSize"], mine["traceOn"], mine["longPollingEnable"]) == (
        "4194304",
        "false",
        "true",
    )
    assert (mine["deleteWhen"], mine["msgTraceTopicName"]) == ("05", "a=b")
    assert b"foo" not in mine.encoded_lines
    assert mine.data_version == (1, 0, NOW + 1)


def test_a_permission_is_told_be_it_the_one_that_was() -> None:
    mine = properties()
    assert mine.apply_update(b"brokerPermission=4", NOW)
    assert mine.apply_update(b"brokerPermission=4", NOW)
    assert not mine.apply_update(b"fileReservedTime=24", NOW)
    assert mine.broker_permission == 4


def test_protected_keys_change_nothing() -> None:
    mine = properties()
    for key in ("brokerConfigPath", "rocketmqHome", "configBlackList"):
        with pytest.raises(NoPermission, match="black list"):
            mine.apply_update(f"brokerPermission=4\n{key}=x".encode(), NOW)
    assert (mine.broker_permission, mine.data_version) == (6, (0, 0, NOW))


def test_an_empty_update_is_none() -> None:
    mine = properties()
    assert not mine.apply_update(b"", NOW + 1)
    assert mine.data_version == (0, 0, NOW)
