"""The pages of the documentation."""

import sysconfig
from pathlib import Path

import pytest

from nsadmin.console import guides as guides_module
from nsadmin.console.guides import find_guide_of_command, find_guides


def test_pages_come_from_the_checkout_or_the_installed_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    guides = find_guides()
    assert guides["dead-letters"].path_name == "how-to/dead-letters.md"
    installed = tmp_path / "share" / "doc" / "nsadmin"
    installed.mkdir(parents=True)
    (installed / "index.md").write_text("<!-- x -->\n# Start\n# Other\n")
    monkeypatch.setattr(guides_module, "_TOP_FOLDER", tmp_path / "lib")
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    assert {name: guide.title for name, guide in find_guides().items()} == {"index": "Start"}
    assert find_guide_of_command("drain") is None
    (installed / "index.md").unlink()
    assert find_guides() == {}


def test_no_two_pages_have_one_name() -> None:
    docs = Path(__file__).parents[3] / "docs"
    assert len(find_guides()) == len({*docs.rglob("*.md")} - {*(docs / "zh").rglob("*.md")})


def test_a_page_without_a_translation_stays() -> None:
    guides = find_guides()
    assert guides["dead-letters"].translate("zh").title == "重放死信"
    assert guides["monitor"].translate("zh") == guides["monitor"]
    assert guides["dead-letters"].translate("fr") == guides["dead-letters"]


@pytest.mark.parametrize(
    ("command", "guide"),
    [
        ("drain", "drain-and-stop-a-broker"),
        ("route explain", "fix-no-route-info"),
        ("dlq purge", "dead-letters"),
        ("backup show", "back-up-and-restore"),
        ("check lag", "triage-consumer-lag"),
        ("tui", "use-the-tui"),
        ("dumpCompactionLog", None),
    ],
)
def test_the_guide_of_a_command_names_it_or_its_group_most_often(command: str, guide: str | None) -> None:
    assert find_guide_of_command(command) == guide
