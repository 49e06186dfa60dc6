"""The tab of a broker's settings, with the defaults of its release and the values of its peers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from nsadmin.operations.config_diff import DefaultTexts, KnownDefaults, is_own_setting
from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import LatestAnswer
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import ConfigPolled
from nsadmin.tui.views.brokers.broker_detail import QueriedBrokerView
from nsadmin.tui.views.table import Cell, Column, SortOrder

_MAX_PEERS = 8


class BrokerSettingRow(NamedTuple):
    """A setting, the default of the broker's release, and the peers that have another value."""

    setting_name: str
    setting_value: str
    default_value: str | None
    differing_peers: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        return self.default_value is not None and self.default_value != self.setting_value


class BrokerConfigView(QueriedBrokerView):
    """The broker's current settings. Settings that differ come first."""

    view_name = "config"
    awaited_phrase = "the settings are"
    empty_text = "the broker returned no settings"
    default_sort = SortOrder("differs")
    columns: Sequence[Column[BrokerSettingRow]] = (
        Column("key", "SETTING", 40, "",
               lambda row: row.setting_name.lower(), cell=lambda row: Cell(row.setting_name)),
        Column("value", "VALUE", 22, "",
               lambda row: row.setting_value,
               cell=lambda row: Cell(row.setting_value, "strong" if row.is_changed else ""), flash=True,
               grow=True),
        Column("differs", "", 4, "≠ where brokers with the same role differ, * where it is not the default",
               lambda row: (not row.differing_peers, not row.is_changed),
               cell=lambda row: _difference_marks(row)),
        Column("default", "DEFAULT", 16, "default of its release, if the value differs",
               lambda row: (row.is_changed and row.default_value) or "", tone="dim",
               drop=1),
        Column("peers", "DIFFERS ON", 26, "brokers of the cluster with the same role that have another value",
               lambda row: row.differing_peers, show=", ".join, tone="warn", drop=2),
    )  # fmt: skip

    def list_queries(
        self, model: ClusterModel, visible_rows: Sequence[object], current_row: object | None
    ) -> list[DetailQuery]:
        return [DetailQuery("config", addr) for addr in [self.broker_addr, *self._find_peers(model)]]

    def find_answer(self, model: ClusterModel) -> LatestAnswer[ConfigPolled] | None:
        return model.config_answers.get(self.broker_addr)

    def _find_peers(self, model: ClusterModel) -> list[str]:
        """The brokers of the cluster with the same role. Masters and slaves differ on purpose."""
        peer_addrs = [
            broker.key.addr
            for broker in model.brokers.values()
            if broker.cluster_name == self.cluster_name
            and (broker.key.id == 0) == (self.broker_id == 0)
            and broker.key.addr != self.broker_addr
            and broker.is_fresh
        ]
        return sorted(peer_addrs)[:_MAX_PEERS]

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerSettingRow]:
        own_config = _find_config(model, self.broker_addr)
        if own_config is None:
            return []
        broker = self.find_broker(model)
        known_defaults = _default_settings(
            broker.read_text("brokerVersionDesc") if broker is not None else None
        )
        label_by_addr = {key.addr: f"{key.name}:{key.id}" for key in model.brokers}
        config_by_peer = {
            peer_addr: peer_config
            for peer_addr in self._find_peers(model)
            if (peer_config := _find_config(model, peer_addr)) is not None
        }
        return [
            BrokerSettingRow(
                name,
                value,
                None if is_own_setting(name) else known_defaults.get(name),
                ()
                if is_own_setting(name)
                else tuple(
                    label_by_addr.get(peer_addr, peer_addr)
                    for peer_addr, peer_settings in config_by_peer.items()
                    if peer_settings.get(name, value) != value
                ),
            )
            for name, value in own_config.items()
        ]

    def row_key(self, row: BrokerSettingRow) -> str:
        return row.setting_name

    def subject_of_row(self, row: BrokerSettingRow) -> RowSubject:
        return super().subject_of_row(row)._replace(key=row.setting_name, value=row.setting_value)


def _difference_marks(row: BrokerSettingRow) -> Cell:
    return Cell(
        ("≠" if row.differing_peers else " ") + ("*" if row.is_changed else ""),
        "warn" if row.differing_peers else "info",
    )


def _find_config(model: ClusterModel, broker_addr: str) -> dict[str, str] | None:
    config_answer = model.config_answers.get(broker_addr)
    if config_answer is None or config_answer.last_poll is None or config_answer.last_poll.config is None:
        return None
    return dict(config_answer.last_poll.config)


@cache
def _default_settings(version_text: str | None) -> DefaultTexts:
    """The default settings of a broker release, or none for an unknown release."""
    release_name = (version_text or "").removeprefix("V").replace("_", ".").lower()
    return KnownDefaults().get_defaults("broker", release_name) if release_name else {}
