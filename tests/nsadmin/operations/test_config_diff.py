"""Settings that differ, and the defaults of releases."""

from collections.abc import Mapping

from nsadmin.operations.config_diff import (
    ComparedServer,
    KnownDefaults,
    SettingDifference,
    describe_texts,
    find_changed_settings,
    find_differences,
    is_own_setting,
    redact_secrets,
)

KNOWN = KnownDefaults()


def broker(name: str, release: str = "5.5.0", **config: str) -> ComparedServer:
    return ComparedServer("broker", name, release, config)


def keys(found: list[SettingDifference]) -> list[str]:
    return [difference.setting_name for difference in found]


def test_only_what_differs_within_a_kind() -> None:
    servers = [
        broker("a:0", fileReservedTime="72", flushDiskType="ASYNC_FLUSH", brokerName="a"),
        broker("b:0", fileReservedTime="48", flushDiskType="ASYNC_FLUSH", brokerName="b"),
        ComparedServer("namesrv", "h:1", "5.5.0", {"fileReservedTime": "1", "flushDiskType": "x"}),
    ]
    [difference] = find_differences(servers, KNOWN)
    assert difference == ("broker", "fileReservedTime", {"a:0": "72", "b:0": "48"}, {"5.5.0": "72"})
    assert keys(find_differences(servers, KNOWN, include_own=True)) == ["brokerName", "fileReservedTime"]


def test_what_only_one_release_knows_does_not_differ() -> None:
    servers = [broker("a:0", timerWheelEnable="true"), broker("b:0", "4.9.7")]
    assert find_differences(servers, KNOWN) == []


def test_true_is_true_however_it_is_written() -> None:
    assert (
        find_differences(
            [broker("a:0", slaveReadEnable="True"), broker("b:0", slaveReadEnable=" true")], KNOWN
        )
        == []
    )


def test_releases_have_their_own_defaults() -> None:
    servers = [
        broker("a:0", transactionCheckInterval="30000"),
        broker("b:0", "4.9.7", transactionCheckInterval="60000"),
    ]
    [difference] = find_differences(servers, KNOWN)
    assert difference.defaults_by_release == {"4.9.7": "60000", "5.5.0": "30000"}
    # Each has what its own release has.
    assert find_changed_settings(servers, KNOWN) == []


def test_what_somebody_has_set() -> None:
    servers = [
        broker("a:0", fileReservedTime="48", sendMessageThreadPoolNums="4", unheardOf="x", listenPort="1"),
        broker("b:0", fileReservedTime="72", listenPort="2"),
        broker("c:0", "4.9.7", fileReservedTime="72"),
    ]
    [changed_setting] = find_changed_settings(servers, KNOWN)
    assert (changed_setting.setting_name, changed_setting.texts_by_server) == (
        "fileReservedTime",
        {"a:0": "48"},
    )
    assert changed_setting.defaults_by_release == {"4.9.7": "72", "5.5.0": "72"}


def test_the_nearest_release_stands_for_one_that_is_not_known() -> None:
    assert KNOWN.find_nearest_release("broker", "5.5.0") == "5.5.0"
    assert KNOWN.find_nearest_release("broker", "5.3.3") == "5.5.0"
    assert KNOWN.find_nearest_release("broker", "5.6.0") == "5.5.1"
    assert KNOWN.find_nearest_release("namesrv", "5.5.1") == "5.5.0"
    assert KNOWN.find_nearest_release("namesrv", "4.9.4") == "4.9.7"
    assert KNOWN.find_nearest_release("broker", "6.0.0") is None
    assert KNOWN.get_defaults("broker", "") == {}
    assert KNOWN.get_defaults("namesrv", "4.9.4")["orderMessageEnable"] == "false"
    # What depends on the machine is known to do so.
    assert KNOWN.get_defaults("broker", "5.5.0")["sendMessageThreadPoolNums"] is None


def test_a_release_has_the_defaults_of_the_one_before_and_its_own() -> None:
    older, newer = (KNOWN.get_defaults("broker", release) for release in ("5.5.0", "5.5.1"))
    new_keys = newer.keys() - older.keys()
    assert (len(new_keys), newer["batchDeleteTopicMaxRate"], newer["fileReservedTime"]) == (14, "10.0", "72")
    assert older.keys() <= newer.keys()


def test_what_is_each_ones_own() -> None:
    assert all(map(is_own_setting, ("brokerIP1", "listenPort", "storePathRootDir", "kvConfigPath")))
    assert not is_own_setting("namesrvAddr")


def seen(key: str, values: Mapping[str, str]) -> Mapping[str, str]:
    return redact_secrets(SettingDifference("broker", key, values, {}))


def test_secrets_are_told_apart_and_not_told() -> None:
    values_shown = seen("innerClientAuthenticationCredentials", {"a": "x", "b": "y", "c": "x", "d": ""})
    assert values_shown == {"a": "secret 1", "b": "secret 2", "c": "secret 1", "d": ""}
    # A name that tells nothing, with a text that does.
    assert seen("initAuthenticationUser", {"a": '{"username":"u","password":"p"}', "b": "null"}) == {
        "a": "secret 1",
        "b": "null",
    }
    assert seen("fileReservedTime", {"a": "1"}) == {"a": "1"}


def test_in_words() -> None:
    assert describe_texts({"a": "1", "b": "", "c": "1"}) == "1 on a c, '' on b"
    many = {f"b{number}": "1" for number in range(5)}
    assert describe_texts({**many, "c": "2"}) == "1 on 5 servers, 2 on c"
