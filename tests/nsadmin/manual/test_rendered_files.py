"""What the wheel and the site have: a page for every command, and nothing that a page links to is missing."""

import posixpath
import re

from nsadmin.command_line.registry import COMMANDS
from nsadmin.manual import man_pages
from nsadmin.manual.rendered_files import render_files_in_git, render_man_pages, render_site_pages
from tests.support.name_servers import ROOT


def test_each_command_has_a_man_page() -> None:
    pages = render_man_pages((ROOT / "man" / "nsadmin.1.in").read_text())
    assert not re.search("@[A-Z_]+@", pages["nsadmin.1"])
    assert pages.keys() == {"nsadmin.1", *(f"{man_pages.page_name(entry)}.1" for entry in COMMANDS)}


def test_the_links_of_rendered_and_written_pages_lead_somewhere() -> None:
    rendered = {f"docs/{name}": text for name, text in render_site_pages().items()}
    pages = rendered | {
        path.relative_to(ROOT).as_posix(): path.read_text()
        for path in [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    }
    missing = [
        (name, target)
        for name, text in pages.items()
        for target in re.findall(r"\]\(([^)#\s:]+)(?:#[^)]*)?\)", text)
        if (path := posixpath.normpath(posixpath.join(posixpath.dirname(name), target))) not in pages
        and not (ROOT / path).exists()
    ]
    assert missing == []


def test_the_menu_of_the_site_has_each_rendered_page() -> None:
    menu = (ROOT / "mkdocs.yml").read_text()
    assert [name for name in render_site_pages() if f"- {name}\n" not in menu] == []


def test_nothing_is_both_rendered_for_the_build_and_in_git() -> None:
    assert not {f"docs/{name}" for name in render_site_pages()} & render_files_in_git().keys()
    assert [name for name in render_site_pages() if (ROOT / "docs" / name).exists()] == []
