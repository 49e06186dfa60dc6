"""Rows as CSV and as text to paste."""

from nsadmin.tui import saving
from nsadmin.tui.model import Model
from nsadmin.tui.views.brokers import Brokers
from tests.support.screens import NOON, broker, server


def test_all_columns_of_all_rows(utc: None) -> None:
    model = Model()
    for poll in (server(), broker("10.0.1.1:10911")):
        model.apply(poll)
    view = Brokers()
    rows = view.items(model)
    head, line = saving.to_csv(view, rows).splitlines()
    assert head.startswith("cluster,broker,role,addr,state,listed,version,in,out,")
    assert line.startswith("cluster-a,broker-a,master,10.0.1.1:10911,● up,1/1,5.5.0,100,200,")
    assert saving.row_text(view, rows[0]).split("\t")[:3] == ["cluster-a", "broker-a", "master"]
    assert saving.file_name(view, NOON) == "nsadmin-brokers-20251231-120000.svg"
