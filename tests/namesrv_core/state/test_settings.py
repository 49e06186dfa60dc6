"""Settings: upstream's keys and defaults, and what may be changed at run time."""

import pytest

from namesrv_core.errors import NoPermission, ResponseCode
from namesrv_core.events import SettingChange, SettingsChanged
from namesrv_core.state.settings import Settings

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
    assert list(Settings(rocketmqHome="/h").items()) == ALL_KEYS.split()
    assert len(ALL_KEYS.split()) == 40


def test_a_key_without_value_is_not_shown() -> None:
    assert "rocketmqHome" not in Settings().items()


def test_defaults_are_upstream_s() -> None:
    shown = Settings().items()
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
    assert {key: shown[key] for key in expected} == expected


def test_the_body_has_a_line_for_each_key() -> None:
    settings = Settings(kvConfigPath="C:\\kv\n=é")
    assert settings.body().decode().startswith("bindAddress=0.0.0.0\nclientRequestThreadPoolNums=8\n")
    assert "kvConfigPath=C:\\kv\n=é\n" in settings.body().decode()


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
    settings = Settings()
    before = settings.generation
    assert settings.set(key, text) is None
    assert getattr(settings, key) == value
    assert settings.generation > before


@pytest.mark.parametrize("text", ["", "abc", "1.5", "0x10", "2147483648", "--5", "9" * 5000])
def test_a_bad_number_leaves_the_key_as_it_is_and_is_named(text: str) -> None:
    settings = Settings()
    assert "9876 stays" in (settings.set("listenPort", text) or "")
    assert settings.listenPort == 9876


@pytest.mark.parametrize("text", ["yes", "1", ""])
def test_a_flag_that_is_neither_is_false_and_is_named(text: str) -> None:
    settings = Settings()
    assert "taken as false" in (settings.set("enableTopicList", text) or "")
    assert settings.enableTopicList is False


def test_an_unknown_key_is_named_kept_and_shown() -> None:
    settings = Settings()
    assert "unknown" in (settings.set("listenport", "1") or "")
    assert settings.listenPort == 9876
    assert settings.items()["listenport"] == "1"


@pytest.mark.parametrize("key", ["generation", "others", "protected"])
def test_fields_that_are_no_keys_cannot_be_set(key: str) -> None:
    settings = Settings()
    assert "unknown" in (settings.set(key, "5") or "")
    assert settings.others == {key: "5"}


def test_an_update_says_what_it_changed() -> None:
    settings = Settings()
    event = settings.update(
        {"enableTopicList": "false", "productEnvName": "center", "waitSecondsForService": "x"}
    )
    assert event == SettingsChanged((SettingChange("enableTopicList", "true", "false"),))
    assert settings.enableTopicList is False


def test_keys_that_nobody_knows_are_passed_over_in_an_update() -> None:
    settings = Settings()
    settings.set("own", "1")
    assert settings.update({"own": "2", "other": "3"}) == SettingsChanged((SettingChange("own", "1", "2"),))
    assert settings.others == {"own": "2"}


@pytest.mark.parametrize(
    "key",
    [
        "configBlackList",
        "configStorePath",
        "kvConfigPath",
        "rocketmqHome",
        "journalDir",
        "journalKeepDays",
        "httpAddress",
        "httpTokenFile",
        "listenPort",
        "bindAddress",
        "serverWorkerThreads",
        "defaultThreadPoolNums",
        "credentialsFile",
        "readOnly",
        "noRemoteConfig",
    ],
)
def test_a_protected_key_refuses_the_whole_update(key: str) -> None:
    settings = Settings()
    before = settings.items()
    with pytest.raises(NoPermission, match="Can not update config in black list") as refused:
        settings.update({"enableTopicList": "false", key: "x"})
    assert refused.value.code == ResponseCode.NO_PERMISSION
    assert settings.items() == before


@pytest.mark.parametrize(
    "key", ["controllerStorePath", "controllerDLegerPeers", "proxyTlsKeyPath", "aclEnable", "otherPort"]
)
def test_a_key_of_another_server_that_is_delicate_is_protected_where_the_file_has_it(key: str) -> None:
    settings = Settings()
    assert settings.update({key: "/x"}) == SettingsChanged(())
    settings.set(key, "/home")
    with pytest.raises(NoPermission):
        settings.update({key: "/x"})
    assert settings.others == {key: "/home"}


def test_what_decides_who_may_ask_is_shown_where_it_is_set() -> None:
    ours = {"credentialsFile", "noRemoteConfig", "readOnly"}
    assert Settings().items().keys() & ours == set()
    settings = Settings()
    for key, text in (("credentialsFile", "/c.yaml"), ("noRemoteConfig", "true"), ("readOnly", "true")):
        assert settings.set(key, text) is None
        assert settings.items()[key] == text


def test_the_black_list_is_what_it_was_at_the_start() -> None:
    settings = Settings(configBlackList="listenPort; enableTopicList")
    settings.protect()
    settings.configBlackList = ""
    for key in ("listenPort", "enableTopicList", "kvConfigPath"):
        with pytest.raises(NoPermission):
            settings.update({key: "x"})


def test_settings_of_before_can_be_restored() -> None:
    settings = Settings()
    settings.set("own", "1")
    before = settings.items()
    settings.update({"own": "2", "enableTopicList": "false", "waitSecondsForService": "1"})
    generation = settings.generation
    settings.restore(before)
    assert settings.items() == before
    assert settings.generation > generation


def test_what_a_journal_uses_is_shown_where_there_is_one() -> None:
    ours = {key for key in Settings(journalDir="/j").items() if key.startswith("journal")}
    assert ours == {
        "journalDir", "journalFsync", "journalKeepDays", "journalKeepMegabytes", "journalSegmentHours",
        "journalSegmentMegabytes", "journalSnapshotMinutes",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("journalFsync", "sometimes", "'sometimes' is none of always, interval, never, interval stays"),
        ("journalKeepDays", "0", "'0' is less than 1, 400 stays"),
        ("journalSegmentMegabytes", "-1", "'-1' is less than 1, 16 stays"),
    ],
)
def test_a_setting_that_no_journal_can_have_stays_as_it_was(key: str, text: str, said: str) -> None:
    settings = Settings()
    assert settings.set(key, text) == said
    assert settings.set("journalFsync", "always") is None
    assert settings.journalFsync == "always"


@pytest.mark.parametrize("text", ["a:1", "a:1;b.c:65535", "[::1]:9876;10.0.0.1:9876", ""])
def test_a_list_of_addresses_is_taken(text: str) -> None:
    settings = Settings()
    assert settings.set("nsaddr", text) is None
    assert settings.nsaddr == text


@pytest.mark.parametrize("text", ["a", "a:", ":1", "a:1;", "a:1,b:2", "a:1 ;b:2", "a:123456", "http://a:1/x"])
def test_what_is_no_list_of_addresses_is_named_and_changes_nothing(text: str) -> None:
    settings = Settings(nsaddr="a:1")
    assert "is not like HOST:PORT;HOST:PORT, a:1 stays" in (settings.set("nsaddr", text) or "")
    assert settings.nsaddr == "a:1"


def test_the_body_can_say_what_is_really_so() -> None:
    settings = Settings(listenPort=0)
    assert b"\nlistenPort=5\n" in settings.body({"listenPort": "5"})
    assert settings.listenPort == 0


def test_what_upstream_has_not_is_shown_where_it_says_something_and_can_go_back() -> None:
    settings = Settings()
    usual = settings.items()
    assert "logLevel" not in usual
    debugging = SettingsChanged((SettingChange("logLevel", "INFO", "DEBUG"),))
    assert settings.update({"logLevel": "DEBUG"}) == debugging
    assert settings.items()["logLevel"] == "DEBUG"
    back = SettingsChanged((SettingChange("logLevel", "DEBUG", "INFO"),))
    assert settings.update({"logLevel": "INFO"}) == back
    settings.update({"logLevel": "DEBUG"})
    settings.restore(usual)
    assert settings.logLevel == "INFO"


def test_the_fast_path_is_shown_where_it_is_off_and_no_request_changes_it() -> None:
    settings = Settings()
    assert "fastPath" not in settings.items()
    assert settings.set("fastPath", "false") is None
    assert settings.items()["fastPath"] == "false"
    with pytest.raises(NoPermission):
        settings.update({"fastPath": "true"})


def test_a_level_that_is_none_is_named_and_changes_nothing() -> None:
    settings = Settings()
    assert "'LOUD' is none of DEBUG, INFO, WARN, ERROR, INFO stays" in (
        settings.set("logLevel", "LOUD") or ""
    )
    assert settings.update({"logLevel": "debug"}) == SettingsChanged(())
