"""Facts about one broker that refuses or delays messages, and direct conclusions from them. Pure."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.brokers.broker_configs import BrokerConfig
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.cold_data import ColdData
from nsadmin.client.brokers.replication import HaStatus
from nsadmin.client.brokers.send_limits import LimitUse, find_limit_uses, read_number
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.results import ServerResult
from nsadmin.console.phrases import format_utc_second
from nsadmin.operations.broker_disks import DiskStates
from nsadmin.operations.topic_senders import Sender

SHOWN_TOPICS = 5
"""The topics with the most messages, which are named and whose senders are looked for."""


class BrokerFacts(NamedTuple):
    """All known facts about the broker at `now_ms`.

    `looks` are its runtime figures, several within seconds. `slave_count` are the slaves that name servers
    list; None if unknown. `topic_counts` are the messages of the last minute by topic, most first; very many
    topics are not all counted (`uncounted_topics`). `senders` are of the newest messages of the first topics.
    `changed_ms` is when a request last changed a setting. `reached_since` has the time from which on a
    collector saw a limit as reached, by setting; None if there is no journal of brokers.
    """

    target: BrokerTarget
    looks: tuple[ServerResult[RuntimeInfo], ...]
    config_result: ServerResult[BrokerConfig]
    disks: DiskStates
    ha_status: ServerResult[HaStatus]
    slave_count: int | None
    cold_data: ServerResult[ColdData]
    topic_counts: ServerResult[tuple[tuple[str, int], ...]]
    uncounted_topics: int
    senders: tuple[Sender, ...]
    changed_ms: int | None
    reached_since: Mapping[str, int] | None
    now_ms: int

    @property
    def addr(self) -> str:
        return self.target.broker_addr or ""

    @property
    def config(self) -> BrokerConfig:
        """The settings; {} if the broker did not tell them."""
        return self.config_result.result or {}

    @property
    def infos(self) -> list[RuntimeInfo]:
        return [look.result for look in self.looks if look.result is not None]

    @property
    def is_silent(self) -> bool:
        return not self.infos

    def largest(self, key: str) -> float | None:
        """The largest value of a figure in all looks; None if the broker does not report it."""
        return max((n for info in self.infos if (n := info.get_number(key)) is not None), default=None)

    def largest_use(self, setting: str) -> LimitUse | None:
        uses = (find_limit_uses(info, self.config).get(setting) for info in self.infos)
        return max((use for use in uses if use is not None), key=lambda use: use.used, default=None)

    def setting(self, key: str, default: int) -> int:
        return read_number(self.config, key, default)

    @property
    def takes_messages(self) -> bool:
        """Whether producers send, as far as stored messages tell it."""
        return bool(self.largest("putTps")) or bool(self.topic_counts.result)

    def tell_since(self, setting: str) -> str:
        """Since when a collector saw the limit as reached, to append to a finding."""
        since_ms = (self.reached_since or {}).get(setting)
        return "" if since_ms is None else f", since {format_utc_second(since_ms)} by the collector"
