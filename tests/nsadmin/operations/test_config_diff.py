"""Settings that differ, and the defaults of releases."""

from collections.abc import Mapping

from nsadmin.operations.config_diff import (
    KnownDefaults,
    Server,
    SettingDifference,
    changed,
    differing,
    in_words,
    is_own,
    shown,
)

KNOWN = KnownDefaults()


def broker(name: str, release: str = "5.5.0", **config: str) -> Server:
    return Server("broker", name, release, config)


def keys(found: list[SettingDifference]) -> list[str]:
    return [one.key for one in found]


def test_only_what_differs_within_a_kind() -> None:
    servers = [
        broker("a:0", fileReservedTime="72", flushDiskType="ASYNC_FLUSH", brokerName="a"),
        broker("b:0", fileReservedTime="48", flushDiskType="ASYNC_FLUSH", brokerName="b"),
        Server("namesrv", "h:1", "5.5.0", {"fileReservedTime": "1", "flushDiskType": "x"}),
    ]
    [found] = differing(servers, KNOWN)
    assert found == ("broker", "fileReservedTime", {"a:0": "72", "b:0": "48"}, {"5.5.0": "72"})
    assert keys(differing(servers, KNOWN, own=True)) == ["brokerName", "fileReservedTime"]


def test_what_only_one_release_knows_does_not_differ() -> None:
    servers = [broker("a:0", timerWheelEnable="true"), broker("b:0", "4.9.7")]
    assert differing(servers, KNOWN) == []


def test_true_is_true_however_it_is_written() -> None:
    assert (
        differing([broker("a:0", slaveReadEnable="True"), broker("b:0", slaveReadEnable=" true")], KNOWN)
        == []
    )


def test_releases_have_their_own_defaults() -> None:
    servers = [
        broker("a:0", transactionCheckInterval="30000"),
        broker("b:0", "4.9.7", transactionCheckInterval="60000"),
    ]
    [found] = differing(servers, KNOWN)
    assert found.defaults == {"4.9.7": "60000", "5.5.0": "30000"}
    # Each has what its own release has.
    assert changed(servers, KNOWN) == []


def test_what_somebody_has_set() -> None:
    servers = [
        broker("a:0", fileReservedTime="48", sendMessageThreadPoolNums="4", unheardOf="x", listenPort="1"),
        broker("b:0", fileReservedTime="72", listenPort="2"),
        broker("c:0", "4.9.7", fileReservedTime="72"),
    ]
    [found] = changed(servers, KNOWN)
    assert (found.key, found.values) == ("fileReservedTime", {"a:0": "48"})
    assert found.defaults == {"4.9.7": "72", "5.5.0": "72"}


def test_the_nearest_release_stands_for_one_that_is_not_known() -> None:
    assert KNOWN.release("broker", "5.5.0") == "5.5.0"
    assert KNOWN.release("broker", "5.3.3") == "5.5.0"
    assert KNOWN.release("namesrv", "4.9.4") == "4.9.7"
    assert KNOWN.release("broker", "6.0.0") is None
    assert KNOWN.of("broker", "") == {}
    assert KNOWN.of("namesrv", "4.9.4")["orderMessageEnable"] == "false"
    # What depends on the machine is known to do so.
    assert KNOWN.of("broker", "5.5.0")["sendMessageThreadPoolNums"] is None


def test_what_is_each_ones_own() -> None:
    assert all(map(is_own, ("brokerIP1", "listenPort", "storePathRootDir", "kvConfigPath")))
    assert not is_own("namesrvAddr")


def seen(key: str, values: Mapping[str, str]) -> Mapping[str, str]:
    return shown(SettingDifference("broker", key, values, {}))


def test_secrets_are_told_apart_and_not_told() -> None:
    found = seen("innerClientAuthenticationCredentials", {"a": "x", "b": "y", "c": "x", "d": ""})
    assert found == {"a": "secret 1", "b": "secret 2", "c": "secret 1", "d": ""}
    # A name that tells nothing, with a text that does.
    assert seen("initAuthenticationUser", {"a": '{"username":"u","password":"p"}', "b": "null"}) == {
        "a": "secret 1",
        "b": "null",
    }
    assert seen("fileReservedTime", {"a": "1"}) == {"a": "1"}


def test_in_words() -> None:
    assert in_words({"a": "1", "b": "", "c": "1"}) == "1 on a c, '' on b"
    many = {f"b{number}": "1" for number in range(5)}
    assert in_words({**many, "c": "2"}) == "1 on 5 of them, 2 on c"
