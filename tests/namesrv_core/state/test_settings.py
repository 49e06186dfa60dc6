"""Settings: upstream's keys and defaults, and what may be changed at run time."""

import javaproperties
import pytest

from namesrv_core.errors import NoPermission, ResponseCode
from namesrv_core.events import SettingChange, SettingsChanged
from namesrv_core.state.settings import NameServerSettings
from tests.support.bounded_process import run_bounded

ALL_KEYS = (
    "bindAddress clientRequestThreadPoolNums clientRequestThreadPoolQueueCapacity clusterTest "
    "configBlackList configStorePath defaultThreadPoolNums defaultThreadPoolQueueCapacity "
    "deleteTopicWithBrokerRegistration enableAllTopicList enableControllerInNamesrv "
    "enableShutdownGracefully enableTopicList kvConfigPath listenPort needWaitForService "
    "notifyMinBrokerIdChanged orderMessageEnable productEnvName returnOrderTopicConfigToBroker "
    "rocketmqHome scanNotActiveBrokerInterval serverAsyncSemaphoreValue "
    "serverCallbackExecutorThreads serverChannelMaxIdleTimeSeconds serverNettyWorkerGroupEnable "
    "serverOnewaySemaphoreValue serverPooledByteBufAllocatorEnable serverSelectorThreads "
    "serverSocketBacklog serverSocketRcvBufSize serverSocketSndBufSize serverWorkerThreads "
    "shutdownWaitTimeSeconds supportActingMaster unRegisterBrokerQueueCapacity "
    "useEpollNativeSelector waitSecondsForService writeBufferHighWaterMark writeBufferLowWaterMark "
)


def test_the_40_keys_of_upstream_are_shown_sorted() -> None:
    assert list(NameServerSettings(rocketmqHome="/h").shown_items()) == ALL_KEYS.split()
    assert len(ALL_KEYS.split()) == 40


def test_a_key_without_value_is_not_shown() -> None:
    assert "rocketmqHome" not in NameServerSettings().shown_items()
    assert NameServerSettings().format_setting("rocketmqHome") == ""
    assert NameServerSettings(rocketmqHome="/h").format_setting("rocketmqHome") == "/h"


def test_defaults_are_upstream_s() -> None:
    items = NameServerSettings().shown_items()
    expected = {
        "listenPort": "9876",
        "bindAddress": "0.0.0.0",
        "scanNotActiveBrokerInterval": "5000",
        "unRegisterBrokerQueueCapacity": "3000",
        "enableTopicList": "true",
        "supportActingMaster": "false",
        "waitSecondsForService": "45",
        "serverChannelMaxIdleTimeSeconds": "120",
        "configBlackList": "configBlackList;configStorePath;kvConfigPath",
        "productEnvName": "center",
    }
    assert {key: items[key] for key in expected} == expected


def test_the_body_has_a_line_for_each_key() -> None:
    settings = NameServerSettings(kvConfigPath="C:\\kv\n=é")
    assert settings.encode_body().decode().startswith("bindAddress=0.0.0.0\nclientRequestThreadPoolNums=8\n")
    assert "kvConfigPath=C:\\kv\\n=é\n" in settings.encode_body().decode()
    # The name of a file that is no UTF-8.
    assert b"\nkvConfigPath=/kv?\n" in NameServerSettings(kvConfigPath="/kv\udcff").encode_body()


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("listenPort", " 19876 ", 19876),
        ("listenPort", "-1", -1),
        ("listenPort", "+5", 5),
        ("enableTopicList", "false ", False),
        ("supportActingMaster", "TRUE", True),
        ("productEnvName", " x y ", "x y"),
        ("rocketmqHome", "/h", "/h"),
    ],
)
def test_a_value_is_trimmed_and_typed(key: str, text: str, value: object) -> None:
    settings = NameServerSettings()
    before = settings.generation
    assert settings.set_from_text(key, text) is None
    assert getattr(settings, key) == value
    assert settings.generation > before


@pytest.mark.parametrize("text", ["", "abc", "1.5", "0x10", "2147483648", "-2147483649", "--5", "9" * 5000])
def test_a_bad_number_leaves_the_key_as_it_is_and_is_named(text: str) -> None:
    settings = NameServerSettings()
    assert settings.set_from_text("listenPort", text) == f'invalid value "{text}": write a whole number'
    assert settings.listenPort == 9876


@pytest.mark.parametrize("text", ["yes", "1", ""])
def test_a_flag_that_is_neither_is_false_and_is_named(text: str) -> None:
    settings = NameServerSettings()
    assert settings.set_from_text("enableTopicList", text) == f'invalid value "{text}": write true or false'
    assert settings.enableTopicList is False


def test_an_unknown_key_is_named_kept_and_shown() -> None:
    settings = NameServerSettings()
    assert "unknown" in (settings.set_from_text("listenport", "1") or "")
    assert settings.listenPort == 9876
    assert settings.shown_items()["listenport"] == "1"


@pytest.mark.parametrize("key", ["generation", "others", "protected"])
def test_fields_that_are_no_keys_cannot_be_set(key: str) -> None:
    settings = NameServerSettings()
    assert "unknown" in (settings.set_from_text(key, "5") or "")
    assert settings.others == {key: "5"}


def test_an_update_says_what_it_changed() -> None:
    settings = NameServerSettings()
    event = settings.apply_update(
        {"enableTopicList": "false", "productEnvName": "center", "waitSecondsForService": "x"}
    )
    assert event == SettingsChanged((SettingChange("enableTopicList", "true", "false"),))
    assert settings.enableTopicList is False


def test_keys_that_nobody_knows_are_passed_over_in_an_update() -> None:
    settings = NameServerSettings()
    settings.set_from_text("own", "1")
    assert settings.apply_update({"own": "2", "other": "3"}) == SettingsChanged(
        (SettingChange("own", "1", "2"),)
    )
    assert settings.others == {"own": "2"}


@pytest.mark.parametrize(
    "key",
    [
        "configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome", "journalDir",
        "journalKeepDays", "httpAddress", "httpTokenFile", "listenPort", "bindAddress",
        "serverWorkerThreads", "defaultThreadPoolNums", "credentialsFile", "readOnly", "noRemoteConfig",
    ],
)  # fmt: skip
def test_a_protected_key_refuses_the_whole_update(key: str) -> None:
    settings = NameServerSettings()
    before = settings.shown_items()
    with pytest.raises(NoPermission, match="Can not update config in black list") as refused:
        settings.apply_update({"enableTopicList": "false", key: "x"})
    assert refused.value.code == ResponseCode.NO_PERMISSION
    assert settings.shown_items() == before


@pytest.mark.parametrize(
    "key", ["controllerStorePath", "controllerDLegerPeers", "proxyTlsKeyPath", "aclEnable", "otherPort"]
)
def test_a_key_of_another_server_that_is_delicate_is_protected_where_the_file_has_it(key: str) -> None:
    settings = NameServerSettings()
    assert settings.apply_update({key: "/x"}) == SettingsChanged(())
    settings.set_from_text(key, "/home")
    with pytest.raises(NoPermission):
        settings.apply_update({key: "/x"})
    assert settings.others == {key: "/home"}


def test_what_decides_who_may_ask_is_shown_where_it_is_set() -> None:
    ours = {"credentialsFile", "noRemoteConfig", "readOnly"}
    assert NameServerSettings().shown_items().keys() & ours == set()
    settings = NameServerSettings()
    for key, text in (("credentialsFile", "/c.yaml"), ("noRemoteConfig", "true"), ("readOnly", "true")):
        assert settings.set_from_text(key, text) is None
        assert settings.shown_items()[key] == text


def test_the_black_list_is_what_it_was_at_the_start() -> None:
    settings = NameServerSettings(configBlackList="enableTopicList ; waitSecondsForService;x")
    settings.fix_protected_keys()
    settings.configBlackList = ""
    for key in ("enableTopicList", "waitSecondsForService", "kvConfigPath"):
        with pytest.raises(NoPermission):
            settings.apply_update({key: "x"})


def test_settings_of_before_can_be_restored() -> None:
    settings = NameServerSettings()
    settings.set_from_text("own", "1")
    before = settings.shown_items()
    settings.apply_update({"own": "2", "enableTopicList": "false", "waitSecondsForService": "1"})
    generation = settings.generation
    settings.restore_items(before)
    assert settings.shown_items() == before
    assert settings.generation > generation


def test_what_a_journal_uses_is_shown_where_there_is_one() -> None:
    ours = {key for key in NameServerSettings(journalDir="/j").shown_items() if key.startswith("journal")}
    assert ours == {
        "journalDir", "journalFsync", "journalKeepDays", "journalKeepMegabytes", "journalSegmentHours",
        "journalSegmentMegabytes", "journalSnapshotMinutes",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("journalFsync", "sometimes", 'invalid value "sometimes": use one of always, interval, never'),
        ("journalKeepDays", "0", 'invalid value "0": write a number of at least 1'),
        ("journalSegmentMegabytes", "-1", 'invalid value "-1": write a number of at least 1'),
    ],
)
def test_a_setting_that_no_journal_can_have_stays_as_it_was(key: str, text: str, said: str) -> None:
    settings = NameServerSettings()
    assert settings.set_from_text(key, text) == said
    assert settings.set_from_text("journalFsync", "always") is None
    assert settings.journalFsync == "always"


@pytest.mark.parametrize("text", ["a:1", "a:1;b.c:65535", "[::1]:9876;10.0.0.1:9876", ""])
def test_a_list_of_addresses_is_taken(text: str) -> None:
    settings = NameServerSettings()
    assert settings.set_from_text("nsaddr", text) is None
    assert settings.nsaddr == text


@pytest.mark.parametrize("text", ["a", "a:", ":1", "a:1;", "a:1,b:2", "a:1 ;b:2", "a:123456", "http://a:1/x"])
def test_what_is_no_list_of_addresses_is_named_and_changes_nothing(text: str) -> None:
    settings = NameServerSettings(nsaddr="a:1")
    assert settings.set_from_text("nsaddr", text) == f'invalid value "{text}": write HOST:PORT;HOST:PORT'
    assert settings.nsaddr == "a:1"


def test_a_hostile_list_of_addresses_is_refused_in_linear_time() -> None:
    program = """
from namesrv_core.state.settings import NameServerSettings
print(NameServerSettings(nsaddr="a:1").set_from_text("nsaddr", "[1]:1;" * 10_000 + "x"))
"""
    assert run_bounded(program).endswith("write HOST:PORT;HOST:PORT\n")


def test_the_body_can_say_what_is_really_so() -> None:
    settings = NameServerSettings(listenPort=0)
    assert b"\nlistenPort=5\n" in settings.encode_body({"listenPort": "5"})
    assert settings.listenPort == 0


def test_what_upstream_has_not_is_shown_where_it_says_something_and_can_go_back() -> None:
    settings = NameServerSettings()
    usual = settings.shown_items()
    assert "logLevel" not in usual
    debugging = SettingsChanged((SettingChange("logLevel", "INFO", "DEBUG"),))
    assert settings.apply_update({"logLevel": "DEBUG"}) == debugging
    assert settings.shown_items()["logLevel"] == "DEBUG"
    back = SettingsChanged((SettingChange("logLevel", "DEBUG", "INFO"),))
    assert settings.apply_update({"logLevel": "INFO"}) == back
    settings.apply_update({"logLevel": "DEBUG"})
    settings.restore_items(usual)
    assert settings.logLevel == "INFO"


def test_the_fast_path_is_shown_where_it_is_off_and_no_request_changes_it() -> None:
    settings = NameServerSettings()
    assert "fastPath" not in settings.shown_items()
    assert settings.set_from_text("fastPath", "false") is None
    assert settings.shown_items()["fastPath"] == "false"
    with pytest.raises(NoPermission):
        settings.apply_update({"fastPath": "true"})


def test_a_level_that_is_none_is_named_and_changes_nothing() -> None:
    settings = NameServerSettings()
    assert 'invalid value "LOUD": use one of DEBUG, INFO, WARN, ERROR' in (
        settings.set_from_text("logLevel", "LOUD") or ""
    )
    assert settings.apply_update({"logLevel": "debug"}) == SettingsChanged(())


@pytest.mark.parametrize("forged", ["a\nreadOnly=true", "a\rreadOnly=true", "a\r\nreadOnly=true"])
@pytest.mark.parametrize("key", ["productEnvName", "own"])
def test_a_value_with_a_line_break_forges_no_other_line(key: str, forged: str) -> None:
    settings = NameServerSettings(others={"own": "1"})
    settings.apply_update({key: forged})
    lines = settings.encode_body().decode().splitlines()
    assert f"{key}=" + forged.replace("\r", "\\r").replace("\n", "\\n") in lines
    assert not [line for line in lines if line.startswith("readOnly")]
    assert javaproperties.loads(settings.encode_body().decode())[key] == forged


def test_no_request_changes_the_list_of_name_servers_that_clients_get() -> None:
    settings = NameServerSettings(nsaddr="a:1")
    with pytest.raises(NoPermission):
        settings.apply_update({"nsaddr": "b:2", "productEnvName": "x"})
    assert (settings.nsaddr, settings.productEnvName) == ("a:1", "center")


def test_a_setting_that_had_no_value_has_none_again_after_a_failed_write() -> None:
    settings = NameServerSettings()
    items_before = settings.shown_items()
    settings.nsaddr = "a:1"
    settings.restore_items(items_before)
    assert settings.nsaddr is None
