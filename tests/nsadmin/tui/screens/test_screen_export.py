"""Saved screens and rows."""

from pathlib import Path

from tests.support.screens import broker, driven, hear, server, still

A, SIZE = "10.0.1.1:10911", (120, 30)


@driven
async def test_a_file_is_replaced_only_when_its_name_ends_with_an_exclamation_mark(tmp_path: Path) -> None:
    app, path = still(), tmp_path / "rows.csv"
    async with app.run_test(size=SIZE) as pilot:
        await hear(app, pilot, [server(), broker(A)])
        path.write_text("old")
        app.action_controller.save_screen(str(path))
        assert path.read_text() == "old"
        assert "exists: choose another name, or add ! to replace it" in app.log_lines[-1][1]
        app.action_controller.save_screen(f"{path}!")
        assert "broker-a" in path.read_text()
