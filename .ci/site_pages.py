"""Adds the rendered pages and those of the root folder to the site, and corrects links to and from them."""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

from nsadmin.manual.rendered_files import render_site_pages

ROOT_FOLDER = Path(__file__).parents[1]
SITE_NAMES = {
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
}
# Blocks of code at the margin, and what stands three spaces from it: blocks and other lines.
LIST_ITEM_PARTS = re.compile(r"^```.*?^```$|^ {3}```.*?^ {3}```$|^ {3}(?=\S)", re.M | re.S)
LINK_TARGET = re.compile(r"(?<=\]\()[^)#\s:]+(?=[)#])")


def on_files(files: Any, config: Any) -> Any:
    for site_name, page_text in render_site_pages().items():
        files.append(File.generated(config, site_name, content=page_text))
    for file_name, site_name in SITE_NAMES.items():
        page_text = (ROOT_FOLDER / file_name).read_text()
        files.append(File.generated(config, site_name, content=_correct_links(page_text, "")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    # Python-Markdown begins a new list after a part of an item that has fewer than four spaces.
    markdown = LIST_ITEM_PARTS.sub(
        lambda part: part[0] if part[0].startswith("```") else re.sub("^(?=.)", " ", part[0], flags=re.M),
        markdown,
    )
    if page.file.src_uri in SITE_NAMES.values():
        return markdown
    return _correct_links(markdown, posixpath.join("docs", posixpath.dirname(page.file.src_uri)))


def _correct_links(page_text: str, page_folder: str) -> str:
    """Rewrite the targets that lead out of docs/ or into it; `page_folder` is seen from the root folder."""

    def correct_target(link: re.Match[str]) -> str:
        root_path = posixpath.normpath(posixpath.join(page_folder, link.group()))
        if root_path in SITE_NAMES:
            site_path = SITE_NAMES[root_path]
        elif root_path.startswith("docs/") and not page_folder:
            site_path = root_path.removeprefix("docs/")
        else:
            return link.group()
        return posixpath.relpath(site_path, posixpath.relpath(page_folder or "docs", "docs"))

    return LINK_TARGET.sub(correct_target, page_text)
