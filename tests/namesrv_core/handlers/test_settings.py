"""318 and 319."""

import pytest

from namesrv_core.events import SettingChange, SettingsChanged
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import Wire


def shown(wire: Wire, ext: dict[str, str] | None = None) -> dict[str, str]:
    lines = wire.send_request(319, ext).body.decode().splitlines()
    return dict(line.split("=", 1) for line in lines)


def test_all_keys_are_shown_sorted_one_in_a_line(form: HeaderType) -> None:
    wire = Wire(form, NameServerSettings(rocketmqHome="/h", kvConfigPath="C:\\kv"))
    answer = wire.send_request(319)
    assert (answer.code, answer.ext) == (0, None)
    assert answer.body.endswith(b"\n")
    assert list(shown(wire)) == sorted(shown(wire))
    assert len(shown(wire)) == 40
    assert shown(wire)["kvConfigPath"] == "C:\\kv"


def test_namespaces_of_the_kv_config_are_listed_if_asked_unless_there_are_many(form: HeaderType) -> None:
    wire = Wire(form)
    asked = {"kvNamespaces": "true"}
    assert "kvNamespaces" not in shown(wire)
    assert shown(wire, asked)["kvNamespaces"] == "[]"
    for namespace in ("N", "ORDER_TOPIC_CONFIG"):
        wire.send_request(100, {"namespace": namespace, "key": "k", "value": "v"})
    assert shown(wire, asked)["kvNamespaces"] == '["N", "ORDER_TOPIC_CONFIG"]'
    for number in range(1000):
        wire.send_request(100, {"namespace": f"n{number}", "key": "k", "value": "v"})
    assert "kvNamespaces" not in shown(wire, asked)


def test_an_update_is_in_force_at_once(form: HeaderType) -> None:
    wire = Wire(form)
    answer = wire.send_request(318, body=b"enableAllTopicList=false\nwaitSecondsForService = 9 \n")
    assert (answer.code, answer.remark, answer.body) == (0, None, b"")
    assert wire.events == (
        SettingsChanged(
            (
                SettingChange("enableAllTopicList", "true", "false"),
                SettingChange("waitSecondsForService", "45", "9"),
            )
        ),
    )
    assert shown(wire)["waitSecondsForService"] == "9"
    assert wire.send_request(206).remark == "disable"


def test_java_s_escapes_and_comments_are_understood(form: HeaderType) -> None:
    wire = Wire(form)
    wire.send_request(318, body="# why\nproductEnvName:\\u00e9\\\n  \\t=x é\n! more\n".encode())
    assert shown(wire)["productEnvName"] == "é\t=x é"


@pytest.mark.parametrize("body", [b"", b"own=1\n", b"# nothing\n", b"waitSecondsForService=x\n"])
def test_what_changes_nothing_succeeds(form: HeaderType, body: bytes) -> None:
    wire = Wire(form)
    before = shown(wire)
    assert wire.send_request(318, body=body).code == 0
    assert shown(wire) == before


@pytest.mark.parametrize(
    "key", ["configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome", "listenPort"]
)
def test_a_protected_key_refuses_all_of_the_update(form: HeaderType, key: str) -> None:
    wire = Wire(form)
    before = shown(wire)
    answer = wire.send_request(318, body=f"enableTopicList=false\n{key}=/tmp/x\n".encode())
    assert (answer.code, answer.remark) == (16, "Can not update config in black list.")
    assert wire.events == ()
    assert shown(wire) == before


def test_a_key_spelt_with_escapes_is_protected_too(form: HeaderType) -> None:
    assert Wire(form).send_request(318, body=b"kvConfig\\u0050ath=/tmp/x\n").code == 16


def test_a_text_that_is_no_properties_is_refused(form: HeaderType) -> None:
    answer = Wire(form).send_request(318, body=b"productEnvName=\\u12\n")
    assert (answer.code, answer.remark) == (1, "string2Properties error")
