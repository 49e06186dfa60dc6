"""Which releases have which known fault."""

import pytest

from nsadmin.operations.release_faults import (
    RELEASE_FAULTS,
    describe_broker_faults,
    find_faults,
    parse_release,
)

OPEN = {"aclEnable": "false", "autoCreateTopicEnable": "true"}
ACL = {"aclEnable": "true", "autoCreateTopicEnable": "false"}


@pytest.mark.parametrize(
    ("kind", "version", "names"),
    [
        ("name server", "V4_9_5", ["CVE-2023-33246", "CVE-2023-37582"]),
        ("name server", "V4_9_6", ["CVE-2023-37582"]),
        ("name server", "V4_9_7", []),
        ("name server", "V5_0_0", ["CVE-2023-33246", "CVE-2023-37582"]),
        ("name server", "V5_1_1_SNAPSHOT", ["CVE-2023-33246", "CVE-2023-37582"]),
        ("name server", "V5_1_1", ["CVE-2023-37582"]),
        ("name server", "V5_1_2", []),
        ("name server", "V5_5_0", []),
        ("broker", "V4_9_5", ["CVE-2023-33246"]),
        ("broker", "V4_9_6", []),
        ("broker", "V5_1_0", ["CVE-2023-33246"]),
        ("broker", "V5_5_0", []),
        ("broker", "V4_1_0", ["CVE-2023-33246"]),
        ("broker", "V4_2_0", ["CVE-2023-33246", "CVE-2019-17572"]),
        ("broker", "V4_6_0", ["CVE-2023-33246", "CVE-2019-17572"]),
        ("broker", "V4_6_1", ["CVE-2023-33246"]),
        ("broker", "V3_5_8", ["CVE-2023-33246"]),
        ("name server", "V3_0_0_BETA6", ["CVE-2023-33246", "CVE-2023-37582"]),
        ("broker", "HIGHER_VERSION", []),
        ("broker", None, []),
    ],
)
def test_a_release_has_those_that_were_mended_later(kind: str, version: str | None, names: list[str]) -> None:
    assert [f.source for f in find_faults(kind, version, OPEN) if f.is_vulnerability] == names


@pytest.mark.parametrize(
    ("version", "has"), [("V4_9_7", True), ("V5_2_0", True), ("V5_3_0", False), ("V5_5_0", False)]
)
def test_one_that_needs_a_setting_counts_with_it_and_where_nobody_knows(version: str, has: bool) -> None:
    def found(settings: dict[str, str] | None) -> bool:
        return any(f.source == "CVE-2024-23321" for f in find_faults("broker", version, settings))

    assert found(ACL) == found(None) == has
    assert not found(OPEN)


def test_versions_are_compared_as_numbers_and_a_snapshot_comes_before_its_release() -> None:
    versions = ["V4_9_10", "V5_0_0_SNAPSHOT", "V5_0_0", "V5_1_2"]
    releases = [parse_release(version) for version in versions]
    assert None not in releases
    assert releases == sorted(releases, key=lambda one: one or (0, 0, 0, 0))
    assert parse_release("5.1.1") == parse_release("V5_1_1") == (5, 1, 1, 1)
    assert parse_release("next") is None


def test_each_says_what_to_upgrade_to() -> None:
    assert [fault.remedy for fault in RELEASE_FAULTS] == [
        "upgrade to 4.9.6 or 5.1.1 or later",
        "upgrade to 4.9.7 or 5.1.2 or later",
        "upgrade to 5.3.0 or later",
        "upgrade to 4.6.1 or 5.0.0 or later",
        "upgrade to 5.5.0 or later",
        "set popConsumerKVServiceEnable=false",
        "restart it after some renewals, or upgrade to 5.5.1 or later",
    ]


@pytest.mark.parametrize(
    ("version", "has"),
    [("V5_3_1", False), ("V5_3_2", True), ("5.3.4", True), ("V5_4_0", True), ("V5_5_0", False)],
)
def test_slaves_of_some_releases_delete_topics(version: str, has: bool) -> None:
    lines = describe_broker_faults("broker-a 1", version, is_slave=True)
    assert bool(lines) == has
    assert not describe_broker_faults("broker-a 0", version, is_slave=False)
    if has:
        release = version.removeprefix("V").replace("_", ".")
        assert lines == [
            f"broker-a 1 runs {release}: as a slave, it deletes topics and groups each time it copies those "
            "of its master (apache/rocketmq#9879): upgrade to 5.5.0 or later"
        ]


def test_a_setting_decides_about_pop_and_a_certificate_about_its_renewal() -> None:
    def sources(version: str, **settings: str) -> list[str]:
        base = {**OPEN, "popConsumerKVServiceEnable": "false", "tls.server.mode": "disabled"}
        return [
            f.source
            for f in find_faults("broker", version, {**base, "brokerRole": "SYNC_MASTER", **settings})
        ]

    assert sources("V5_5_0") == []
    assert sources("V5_5_0", popConsumerKVServiceEnable="true") == ["apache/rocketmq#11195"]
    assert sources("V5_5_0", **{"tls.server.mode": "enforcing"}) == ["apache/rocketmq#10398"]
    assert sources("V5_5_1", **{"tls.server.mode": "enforcing"}) == []
