"""Known vulnerabilities of Apache RocketMQ, by version and settings. Only data, and how to compare."""

import re
from collections.abc import Mapping
from typing import NamedTuple

Release = tuple[int, int, int, int]
"""Major, minor, patch, and 0 for a snapshot of it, 1 for itself."""

_VERSION = re.compile(r"V(\d+)_(\d+)_(\d+)(_SNAPSHOT)?")


class Vulnerability(NamedTuple):
    """What whoever reaches a server of these `kinds` ("name server", "broker") can do.

    `fixed` are the first releases that have it no more, by major version: without one, all of that have it.
    `since` is the first one that had it. It counts only where the setting `needs` has that value, or nobody
    knows.
    """

    name: str
    kinds: tuple[str, ...]
    what: str
    fixed: Mapping[int, str]
    since: str = "0.0.0"
    needs: tuple[str, str] | None = None
    is_grave: bool = True


KNOWN = (
    Vulnerability(
        "CVE-2023-33246",
        ("broker", "name server"),
        "whoever reaches it can run commands on its machine, by a change of its settings",
        {4: "4.9.6", 5: "5.1.1"},
    ),
    Vulnerability(
        "CVE-2023-37582",
        ("name server",),
        "whoever reaches it can have it write files, by a change of its settings",
        {4: "4.9.7", 5: "5.1.2"},
    ),
    Vulnerability(
        "CVE-2024-23321",
        ("broker",),
        "whoever has any account, or an address of its white list, can learn the administrator's keys",
        {5: "5.3.0"},
        needs=("aclEnable", "true"),
        is_grave=False,
    ),
    Vulnerability(
        "CVE-2019-17572",
        ("broker",),
        "whoever sends to it can have it make folders outside of its store, by the name of a topic",
        {4: "4.6.1", 5: "5.0.0"},
        since="4.2.0",
        needs=("autoCreateTopicEnable", "true"),
    ),
)


def release(version: str | None) -> Release | None:
    """What a server calls itself, to compare: "V5_1_1" or "5.1.1"; None where that says nothing."""
    text = version or ""
    found = _VERSION.fullmatch(text if text.startswith("V") else "V" + text.replace(".", "_"))
    if found is None:
        return None
    return int(found[1]), int(found[2]), int(found[3]), 0 if found[4] else 1


def affecting(kind: str, version: str | None, settings: Mapping[str, str] | None) -> list[Vulnerability]:
    """Those that a server of this kind and version has, by all that is known of it."""
    here = release(version)
    return (
        [] if here is None else [one for one in KNOWN if kind in one.kinds and _affects(one, here, settings)]
    )


def _affects(one: Vulnerability, here: Release, settings: Mapping[str, str] | None) -> bool:
    since, fixed = release(one.since), release(one.fixed.get(here[0]))
    if since is None or here < since or (fixed is not None and here >= fixed):
        return False
    if one.needs is None or settings is None:
        return True
    key, value = one.needs
    return settings.get(key, value).lower() == value


def remedy(one: Vulnerability) -> str:
    """Which releases have it no more."""
    return "upgrade to " + " or ".join(sorted(one.fixed.values())) + " or later"
