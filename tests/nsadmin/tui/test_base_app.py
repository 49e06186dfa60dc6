"""What the renderer and the controller share."""

import pytest

from nsadmin.tui.base_app import BaseTui
from tests.support.screens import NOON, Clock, make_context, make_still_tui


def test_an_error_goes_to_the_log_once_and_the_message_is_the_last_one() -> None:
    app = make_still_tui()
    app.show_message("closed", "bad")
    app.show_message("closed", "bad")
    app.show_message("saved")
    assert list(app.log_lines) == [(NOON, "closed")]
    assert app.last_message == ("saved", "accent", NOON)


def test_the_base_alone_draws_nothing() -> None:
    app = BaseTui(make_still_tui().available_contexts, 5.0, "brokers", Clock(), None, None)
    assert app.current_view.name == "brokers"
    for call in (
        app.redraw_screen, lambda: app.show_view(app.current_view), lambda: app.switch_context(make_context())
    ):  # fmt: skip
        with pytest.raises(NotImplementedError):
            call()
