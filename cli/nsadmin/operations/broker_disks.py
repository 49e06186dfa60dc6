"""Whether brokers refuse or delete messages because their disks are full.

The rules are those of DefaultMessageStore.CleanCommitLogService. Until 4.9 the limits are properties of the
JVM that a broker does not report. Then their defaults count. Above diskMaxUsedSpaceRatio, which is lower, a
broker only deletes expired messages at any hour, not only at deleteWhen.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.broker_numbers import parse_broker_number
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.results import error_text, is_unreachable


class _DiskLimit(NamedTuple):
    """A setting in percent. Brokers replace values outside `lowest` to `highest` by these."""

    key: str
    default: int
    lowest: int
    highest: int

    def of(self, config: Mapping[str, str]) -> int:
        text = config.get(self.key, "")
        return min(max(int(text) if text.isdecimal() else self.default, self.lowest), self.highest)


REFUSING = _DiskLimit("diskSpaceWarningLevelRatio", 90, 35, 90)
_FORCING = _DiskLimit("diskSpaceCleanForciblyRatio", 85, 30, 85)
_CAPACITY_PATTERN = re.compile(r"(Total|Free)\s*:\s*([\d.,\u066b]+\s*[KMGTPE]?i?B)")
_SIZE_PATTERN = re.compile(r"([\d.,\u066b]+)\s*([KMGTPE]?)i?B")
_COMMIT_LOG_KEY, _QUEUE_KEY = "commitLogDiskRatio", "consumeQueueDiskRatio"


class DiskStates(NamedTuple):
    """Descriptions by broker address; each continues the name of the broker, as "refuses messages: ...".

    `deletions` are of brokers that delete old messages before fileReservedTime, and refuse none yet.
    `unknown` are of brokers that answered, but not what their disks or limits are.
    """

    refusals: Mapping[str, str] = {}
    deletions: Mapping[str, str] = {}
    unknown: Mapping[str, str] = {}


def observe_disks(admin: AdminClient, runtime_results: Iterable[ServerResult[RuntimeInfo]]) -> DiskStates:
    """Read the limits of the brokers whose disks may be too full for messages, and judge all disks."""
    results = list(runtime_results)
    suspects = [addr for addr, info, _ in results if info and find_fullest(info)[1] * 100 > REFUSING.lowest]
    return judge_disks(results, admin.broker_configs.get_each(suspects) if suspects else [])


def judge_disks(
    runtime_results: Iterable[ServerResult[RuntimeInfo]], config_results: Iterable[ServerResult[BrokerConfig]]
) -> DiskStates:
    """Judge the disks of the brokers that answered."""
    configs = {config.addr: config for config in config_results}
    states: tuple[dict[str, str], ...] = ({}, {}, {})
    refusals, deletions, unknown = states
    for addr, info, error in runtime_results:
        if info is None:
            if error is not None and not is_unreachable(error):
                unknown[addr] = _describe_unknown(error)
            continue
        key, ratio = find_fullest(info)
        config, config_error = configs[addr][1:] if addr in configs else ({}, None)
        percent = ratio * 100
        if (commit_log := info.get_number(_COMMIT_LOG_KEY)) is None or commit_log < 0:
            unknown[addr] = "does not report commitLogDiskRatio: whether it refuses messages is unknown"
        elif percent > (REFUSING.highest if config is None else REFUSING.of(config)):
            refusals[addr] = f"refuses messages: {_describe_use(key, percent, REFUSING, config)}"
        elif config is None and percent > REFUSING.lowest and config_error is not None:
            unknown[addr] = _describe_unknown(config_error)
        elif config is not None and percent > _FORCING.of(config) and _may_force(config):
            deletions[addr] = (
                f"deletes messages before fileReservedTime: {_describe_use(key, percent, _FORCING, config)}"
            )
    return DiskStates(*states)


def _may_force(config: BrokerConfig) -> bool:
    return config.get("cleanFileForciblyEnable", "true").lower() == "true"


def find_fullest(info: RuntimeInfo) -> tuple[str, float]:
    """The key and value of the higher ratio. A broker refuses messages if either is above the limit."""
    ratios = [
        (key, ratio) for key in (_COMMIT_LOG_KEY, _QUEUE_KEY) if (ratio := info.get_number(key)) is not None
    ]
    return max(ratios, key=lambda pair: pair[1], default=(_COMMIT_LOG_KEY, -1.0))


def _describe_use(key: str, percent: float, limit: _DiskLimit, config: BrokerConfig | None) -> str:
    limit_percent = limit.highest if config is None else limit.of(config)
    return f"{key} is {round(percent, 1):g} %, above {limit.key} {limit_percent} %"


def _describe_unknown(error: RocketMQError) -> str:
    return f"did not say whether its disk is full: {error_text(error)}"


def parse_size(size_text: str) -> float | None:
    """Parse a size such as "239.9 KiB" to bytes; None for a text without a size."""
    match = _SIZE_PATTERN.fullmatch(size_text.strip())
    number = None if match is None else parse_broker_number(match[1])
    return None if match is None or number is None else number * 1024 ** " KMGTPE".index(match[2] or " ")


def parse_disk_capacity(capacity_text: str) -> dict[str, float | None]:
    """Parse the broker's "Total : 78.7 GiB, Free : 20.7 GiB." to bytes, by the words Total and Free."""
    return {word: parse_size(text) for word, text in _CAPACITY_PATTERN.findall(capacity_text)}
