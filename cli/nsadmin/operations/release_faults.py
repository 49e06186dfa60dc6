"""The releases of Apache RocketMQ with known faults: what each does, its source and its remedy."""

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client.brokers.clusters import BrokerStatus

ReleaseNumber = tuple[int, int, int, int]
"""Major, minor, patch; then 0 for a SNAPSHOT build, 1 for the release."""

_VERSION_PATTERN = re.compile(r"V(\d+)_(\d+)_(\d+)(?:_(?:ALPHA|BETA)\d+|_FINAL)?(_SNAPSHOT)?")


class ReleaseFault(NamedTuple):
    """A fault of servers of these `server_kinds` ("name server", "broker").

    `fixed_releases` has the first fixed release of each major version. If it is missing, all its releases
    are affected. `first_release` is the first affected release. A server with another value of
    `needed_setting` is not affected; an unknown value counts as affected, except for a notice. `source` is a
    CVE, or an issue.
    """

    source: str
    server_kinds: tuple[str, ...]
    effect: str
    fixed_releases: Mapping[int, str]
    first_release: str = "0.0.0"
    needed_setting: tuple[str, str] | None = None
    severity: Literal["critical", "warning", "notice"] = "critical"
    workaround: str | None = None

    @property
    def is_vulnerability(self) -> bool:
        return self.source.startswith("CVE-")

    @property
    def remedy(self) -> str:
        upgrade = "upgrade to " + " or ".join(sorted(self.fixed_releases.values())) + " or later"
        return " or ".join(filter(None, (self.workaround, upgrade if self.fixed_releases else None)))


RELEASE_FAULTS = (
    ReleaseFault(
        "CVE-2023-33246",
        ("broker", "name server"),
        "an attacker who reaches it can run commands on its machine by changing its settings",
        {4: "4.9.6", 5: "5.1.1"},
    ),
    ReleaseFault(
        "CVE-2023-37582",
        ("name server",),
        "an attacker who reaches it can make it write files by changing its settings",
        {4: "4.9.7", 5: "5.1.2"},
    ),
    ReleaseFault(
        "CVE-2024-23321",
        ("broker",),
        "a client with any account, or with an address in its allow list, can read the administrator's keys",
        {5: "5.3.0"},
        needed_setting=("aclEnable", "true"),
        severity="warning",
    ),
    ReleaseFault(
        "CVE-2019-17572",
        ("broker",),
        "an attacker who sends messages to it can create folders outside its store with a crafted topic name",
        {4: "4.6.1", 5: "5.0.0"},
        first_release="4.2.0",
        needed_setting=("autoCreateTopicEnable", "true"),
    ),
    # SlaveSynchronize calls deleteTopicConfig for each topic, not only for those that the master lacks.
    ReleaseFault(
        "apache/rocketmq#9879",
        ("broker",),
        "as a slave, it deletes topics and groups each time it copies those of its master",
        {5: "5.5.0"},
        first_release="5.3.2",
        needed_setting=("brokerRole", "slave"),
    ),
    # PopConsumerService.popAsync asks for popResponseReturnActualRetryTopic, and should ask for the contrary.
    ReleaseFault(
        "apache/rocketmq#11195",
        ("broker",),
        "it delivers POP retries under the name of their retry topic",
        {},
        first_release="5.3.2",
        needed_setting=("popConsumerKVServiceEnable", "true"),
        severity="notice",
        workaround="set popConsumerKVServiceEnable=false",
    ),
    ReleaseFault(
        "apache/rocketmq#10398",
        ("broker", "name server"),
        "with OpenSSL (netty-tcnative), each renewal of its certificate leaks up to 1 MB of memory",
        {5: "5.5.1"},
        needed_setting=("tls.server.mode", "enforcing"),
        severity="notice",
        workaround="restart it after some renewals,",
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


def has_users(version: str | None) -> bool:
    """Whether a broker of this version has users and ACLs of its own (since 5.3), in place of accounts."""
    return (parse_release(version) or ()) >= (5, 3)


def find_faults(kind: str, version: str | None, settings: Mapping[str, str] | None) -> list[ReleaseFault]:
    """Return the faults of a server of this kind, version and settings."""
    release = parse_release(version)
    return (
        []
        if release is None
        else [f for f in RELEASE_FAULTS if kind in f.server_kinds and _is_affected(f, release, settings)]
    )


def _is_affected(fault: ReleaseFault, release: ReleaseNumber, settings: Mapping[str, str] | None) -> bool:
    first_release = parse_release(fault.first_release)
    fixed_release = parse_release(fault.fixed_releases.get(release[0]))
    if (
        first_release is None
        or release < first_release
        or (fixed_release is not None and release >= fixed_release)
    ):
        return False
    if fault.needed_setting is None:
        return True
    key, needed_value = fault.needed_setting
    value = (settings or {}).get(key, "" if fault.severity == "notice" else needed_value)
    return value.lower() == needed_value


def describe_broker_faults(label: str, version: str | None, *, is_slave: bool) -> list[str]:
    """The faults that a broker has whatever its settings are, except vulnerabilities, each as a line."""
    release = (version or "").removeprefix("V").replace("_", ".")
    settings = {"brokerRole": "SLAVE" if is_slave else "MASTER"}
    return [
        f"{label} runs {release}: {f.effect} ({f.source}): {f.remedy}"
        for f in find_faults("broker", version, settings)
        if f.severity != "notice" and not f.is_vulnerability
    ]


def list_broker_faults(statuses: Iterable[BrokerStatus]) -> list[str]:
    """The lines of `describe_broker_faults` for all brokers that reported their release."""
    return [
        line
        for s in statuses
        if s.runtime_info is not None
        for line in describe_broker_faults(
            f"{s.broker_name} {s.broker_id} at {s.broker_addr}",
            s.runtime_info.version,
            is_slave=s.broker_id != MASTER_BROKER_ID,
        )
    ]
