"""Which releases have which known vulnerability."""

import pytest

from nsadmin.operations.security.vulnerabilities import (
    KNOWN_VULNERABILITIES,
    find_affecting,
    parse_release,
    upgrade_remedy,
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
    assert [vulnerability.name for vulnerability in find_affecting(kind, version, OPEN)] == names


@pytest.mark.parametrize(
    ("version", "has"), [("V4_9_7", True), ("V5_2_0", True), ("V5_3_0", False), ("V5_5_0", False)]
)
def test_one_that_needs_a_setting_counts_with_it_and_where_nobody_knows(version: str, has: bool) -> None:
    def found(settings: dict[str, str] | None) -> bool:
        return any(
            vulnerability.name == "CVE-2024-23321"
            for vulnerability in find_affecting("broker", version, settings)
        )

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
    assert [upgrade_remedy(vulnerability) for vulnerability in KNOWN_VULNERABILITIES] == [
        "upgrade to 4.9.6 or 5.1.1 or later",
        "upgrade to 4.9.7 or 5.1.2 or later",
        "upgrade to 5.3.0 or later",
        "upgrade to 4.6.1 or 5.0.0 or later",
    ]
