"""Rows as CSV and as text to paste."""

from nsadmin.tui.views import row_export
from nsadmin.tui.views.brokers.broker_table import BrokersView
from tests.support.screens import NOON, make_broker_poll, make_model, make_server_poll


def test_all_columns_of_all_rows(utc: None) -> None:
    model = make_model(make_server_poll(), make_broker_poll("10.0.1.1:10911", commitLogDiskRatio="0.38"))
    view = BrokersView()
    rows = view.build_rows(model)
    head, line = row_export.rows_to_csv(view, rows).splitlines()
    assert head.startswith("cluster,broker,role,addr,state,listed,version,in,out,")
    assert line.startswith("cluster-a,broker-a,master,10.0.1.1:10911,up,1/1,5.5.0,100,200,")
    [disk_ratio] = [cell for key, cell in zip(head.split(","), line.split(","), strict=True) if key == "disk"]
    assert disk_ratio == "0.38"
    assert row_export.format_row(view, rows[0]).split("\t")[:3] == ["cluster-a", "broker-a", "master"]
    assert row_export.suggest_file_name(view, NOON) == "nsadmin-brokers-20251231-120000.svg"


def test_a_line_end_in_a_name_adds_no_row_and_no_command_to_what_is_pasted() -> None:
    model = make_model(
        make_server_poll(groups={"a\nreboot\x1b": {0: "10.0.1.1:10911"}}), make_broker_poll("10.0.1.1:10911")
    )
    view = BrokersView()
    rows = view.build_rows(model)
    assert row_export.format_row(view, rows[0]).split("\t")[1] == "a\\nreboot\\x1b"
    _, line = row_export.rows_to_csv(view, rows).splitlines()
    assert ",a\\nreboot\\x1b," in line
