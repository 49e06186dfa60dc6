"""The pages of the documentation, which checkout and wheel contain, and the page for a command."""

import re
import sysconfig
from pathlib import Path
from typing import NamedTuple

_TOP_FOLDER = Path(__file__).parents[3]
_PAGE_ENDING = ".md"
_TRANSLATED = ("zh",)
"""Languages with a folder of translated pages, in which the pages have the paths of their sources."""
_OTHER_PATHS = (*(f"{language}/" for language in _TRANSLATED), "reference/commands")
"""The paths of no guides: `nsadmin help` has the reference of commands, whose pages have names of guides."""
_MIN_MENTIONS = 2
"""A page that names a command once is not about it."""


class Guide(NamedTuple):
    """One page. `path_name` is its path in docs/, such as how-to/dead-letters.md."""

    path_name: str
    path: Path

    @property
    def name(self) -> str:
        return Path(self.path_name).stem

    @property
    def title(self) -> str:
        """The first heading."""
        return next((line[2:].strip() for line in self.read_text().splitlines() if line.startswith("# ")), "")

    def read_text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def translate(self, language: str) -> "Guide":
        """Return the page in this language if there is one, else this page."""
        path = Path(str(self.path).removesuffix(self.path_name), language, self.path_name)
        return Guide(self.path_name, path) if language in _TRANSLATED and path.is_file() else self


def find_guides() -> dict[str, Guide]:
    """Return all pages in English by name; how-to guides come first."""
    for folder in _page_folders():
        paths = [path for path in folder.rglob(f"*{_PAGE_ENDING}") if path.is_file()]
        guides = [Guide(path.relative_to(folder).as_posix(), path) for path in sorted(paths)]
        guides = [guide for guide in guides if not guide.path_name.startswith(_OTHER_PATHS)]
        if guides:
            guides.sort(key=lambda g: not g.path_name.startswith("how-to/"))
            return {guide.name: guide for guide in guides}
    return {}


def find_guide_of_command(typed_name: str) -> str | None:
    """Return the name of the how-to guide that is most about the command, else about its group."""
    guides = (g for g in find_guides().values() if g.path_name.startswith("how-to/"))
    # The first page has examples of all kinds, and the second one only compares the TUI with other commands.
    others = {"migrate-from-mqadmin", *(["use-the-tui"] if typed_name != "tui" else [])}
    texts = {g.name: g.read_text() for g in guides if g.name not in others}
    for words in dict.fromkeys((typed_name, typed_name.partition(" ")[0])):
        mention = re.compile(rf"(?:nsadmin |`){re.escape(words)}(?![\w-])")
        mentions = {name: len(mention.findall(text)) for name, text in texts.items()}
        # A page that names many commands is less about each of them.
        weight = {
            name: count**2 / (texts[name].count("nsadmin ") or 1)
            for name, count in mentions.items()
            if count >= _MIN_MENTIONS
        }
        if weight:
            return max(weight, key=weight.__getitem__)
    return None


def _page_folders() -> tuple[Path, ...]:
    """The folders that can have the pages: of a checkout, and of an installed package."""
    return (_TOP_FOLDER / "docs", Path(sysconfig.get_path("data"), "share", "doc", "nsadmin"))
