"""A view is saved and restored; what is wrong in a record gets its default."""

from nsadmin.tui.navigation.root_views import make_view
from nsadmin.tui.navigation.view_navigation import ViewState
from nsadmin.tui.view_settings.view_settings_controller import (
    ViewRecord,
    apply_record,
    parse_record,
    record_view,
)
from nsadmin.tui.views.table import RowFilter, SortOrder


def test_what_is_recorded_is_restored() -> None:
    state = ViewState(make_view("brokers"))
    state.sort_order, state.chosen_columns = SortOrder("in", True), ("broker", "in")
    state.shows_problems_only = state.shows_hidden = state.is_grouped = True
    state.row_filter = RowFilter("orders")
    record = parse_record(record_view(state)._asdict())
    assert record == ViewRecord("in", True, ("broker", "in"), True, True, True)
    restored = ViewState(make_view("brokers"))
    apply_record(record, restored)
    assert record_view(restored) == record
    assert restored.row_filter.text == "", "a remembered view has no filter"


def test_a_saved_view_has_its_filter() -> None:
    state = ViewState(make_view("topics"))
    apply_record(ViewRecord(screen="topics", filter="!orders"), state)
    assert state.row_filter.text == "!orders"
    apply_record(ViewRecord(screen="topics", filter="/a("), state)
    assert state.row_filter.text == ""


def test_what_is_wrong_gets_its_default() -> None:
    assert parse_record([]) is None
    assert parse_record({"sort": 7, "columns": ["a", 1], "grouped": "yes", "more": 1}) == ViewRecord()
    state = ViewState(make_view("topics"))
    apply_record(ViewRecord("lost", True, ("lost",), grouped=True), state)
    assert (state.sort_order, state.chosen_columns, state.is_grouped) == (None, None, False)
