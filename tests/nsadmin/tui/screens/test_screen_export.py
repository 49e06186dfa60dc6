"""Saved screens and rows."""

from pathlib import Path

from nsadmin.tui.screens import screen_export
from tests.support.screens import (
    feed_polls,
    make_broker_poll,
    make_server_poll,
    make_still_tui,
    run_screen_test,
)

A, SIZE = "10.0.1.1:10911", (120, 30)


@run_screen_test
async def test_a_file_is_replaced_only_when_its_name_ends_with_an_exclamation_mark(tmp_path: Path) -> None:
    app, path = make_still_tui(), tmp_path / "rows.csv"
    async with app.run_test(size=SIZE) as pilot:
        await feed_polls(app, pilot, [make_server_poll(), make_broker_poll(A)])
        path.write_text("old")
        screen_export.save_screen(app, str(path))
        assert path.read_text() == "old"
        assert "exists: choose another name, or add ! to replace it" in app.log_lines[-1][1]
        screen_export.save_screen(app, f"{path}!")
        assert "broker-a" in path.read_text()
