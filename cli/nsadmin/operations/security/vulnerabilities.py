"""The known vulnerabilities of Apache RocketMQ, with the affected releases and settings."""

import re
from collections.abc import Mapping
from typing import NamedTuple

ReleaseNumber = tuple[int, int, int, int]
"""Major, minor, patch; then 0 for a SNAPSHOT build, 1 for the release."""

_VERSION_PATTERN = re.compile(r"V(\d+)_(\d+)_(\d+)(?:_(?:ALPHA|BETA)\d+|_FINAL)?(_SNAPSHOT)?")


class KnownVulnerability(NamedTuple):
    """A vulnerability of servers of these `server_kinds` ("name server", "broker").

    `fixed_releases` has the first fixed release of each major version. If it is missing, all its releases
    are affected. `first_release` is the first affected release. A server with another value of
    `needed_setting` is not affected; an unknown value counts as affected.
    """

    name: str
    server_kinds: tuple[str, ...]
    attack_text: str
    fixed_releases: Mapping[int, str]
    first_release: str = "0.0.0"
    needed_setting: tuple[str, str] | None = None
    is_grave: bool = True


KNOWN_VULNERABILITIES = (
    KnownVulnerability(
        "CVE-2023-33246",
        ("broker", "name server"),
        "an attacker who reaches it can run commands on its machine by changing its settings",
        {4: "4.9.6", 5: "5.1.1"},
    ),
    KnownVulnerability(
        "CVE-2023-37582",
        ("name server",),
        "an attacker who reaches it can make it write files by changing its settings",
        {4: "4.9.7", 5: "5.1.2"},
    ),
    KnownVulnerability(
        "CVE-2024-23321",
        ("broker",),
        "a client with any account, or with an address in its allow list, can read the administrator's keys",
        {5: "5.3.0"},
        needed_setting=("aclEnable", "true"),
        is_grave=False,
    ),
    KnownVulnerability(
        "CVE-2019-17572",
        ("broker",),
        "an attacker who sends messages to it can create folders outside its store with a crafted topic name",
        {4: "4.6.1", 5: "5.0.0"},
        first_release="4.2.0",
        needed_setting=("autoCreateTopicEnable", "true"),
    ),
)


def parse_release(version: str | None) -> ReleaseNumber | None:
    """Parse a version such as "V5_1_1" or "5.1.1"; None for any other text."""
    version_text = version or ""
    match = _VERSION_PATTERN.fullmatch(
        version_text if version_text.startswith("V") else "V" + version_text.replace(".", "_")
    )
    if match is None:
        return None
    return int(match[1]), int(match[2]), int(match[3]), 0 if match[4] else 1


def find_affecting(
    kind: str, version: str | None, settings: Mapping[str, str] | None
) -> list[KnownVulnerability]:
    """Return the vulnerabilities of a server of this kind, version and settings."""
    release = parse_release(version)
    return (
        []
        if release is None
        else [
            vulnerability
            for vulnerability in KNOWN_VULNERABILITIES
            if kind in vulnerability.server_kinds and _is_affected(vulnerability, release, settings)
        ]
    )


def _is_affected(
    vulnerability: KnownVulnerability, release: ReleaseNumber, settings: Mapping[str, str] | None
) -> bool:
    first_release, fixed_release = (
        parse_release(vulnerability.first_release),
        parse_release(vulnerability.fixed_releases.get(release[0])),
    )
    if (
        first_release is None
        or release < first_release
        or (fixed_release is not None and release >= fixed_release)
    ):
        return False
    if vulnerability.needed_setting is None or settings is None:
        return True
    setting_key, needed_value = vulnerability.needed_setting
    return settings.get(setting_key, needed_value).lower() == needed_value


def upgrade_remedy(vulnerability: KnownVulnerability) -> str:
    """Return the remedy: an upgrade to a fixed release."""
    return "upgrade to " + " or ".join(sorted(vulnerability.fixed_releases.values())) + " or later"
