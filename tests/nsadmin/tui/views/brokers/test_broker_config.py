"""The settings of one broker, and where they differ."""

from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, ConfigPolled
from nsadmin.tui.views.brokers.broker_config import BrokerConfigView
from tests.support.screens import NOON, make_broker_poll, make_server_poll

A, B, C = (f"10.0.1.{number}:10911" for number in (1, 2, 3))
PLACE = ("broker-a", 0, A, "cluster-a")


def model_of(*polls: AnyPoll) -> ClusterModel:
    model = ClusterModel()
    model.apply_poll(make_server_poll(groups={"broker-a": {0: A, 1: C}, "broker-b": {0: B}}))
    for poll in (make_broker_poll(A), make_broker_poll(B), make_broker_poll(C), *polls):
        model.apply_poll(poll)
    return model


def test_settings_that_differ_from_the_default_and_from_peers_are_marked_and_come_first() -> None:
    own = {
        "brokerName": "broker-a",
        "flushDiskType": "SYNC_FLUSH",
        "registerNameServerPeriod": "30000",
        "x": "1",
    }
    model = model_of(
        ConfigPolled(NOON, A, own), ConfigPolled(NOON, B, {**own, "brokerName": "broker-b", "x": "2"})
    )
    view = BrokerConfigView(*PLACE)
    settings_by_name = {setting.setting_name: setting for setting in view.build_rows(model)}
    assert settings_by_name["flushDiskType"].is_changed
    assert not settings_by_name["registerNameServerPeriod"].is_changed
    assert (settings_by_name["x"].differing_peers, settings_by_name["brokerName"].differing_peers) == (
        ("broker-b:0",),
        (),
    )
    marks = {
        setting.setting_name: view.columns[2].render_cell(setting).text for setting in view.build_rows(model)
    }
    assert marks == {"brokerName": " ", "flushDiskType": " *", "registerNameServerPeriod": " ", "x": "≠"}
    order = sorted(view.build_rows(model), key=view.columns[2].read)
    assert [setting.setting_name for setting in order][:2] == ["x", "flushDiskType"]
    assert view.subject_of_row(settings_by_name["x"])._replace(
        broker_name=None, broker_addr=None, cluster=None
    ) == RowSubject(key="x", value="1")
    assert view.list_queries(model, [], None) == [DetailQuery("config", A), DetailQuery("config", B)]
    assert view.row_key(settings_by_name["x"]) == "x"


def test_settings_that_were_not_told_are_none() -> None:
    assert BrokerConfigView(*PLACE).build_rows(model_of(ConfigPolled(NOON, A, None, "closed"))) == []
