"""The provider of Textual's command palette: finds entries by a fuzzy match, and completes command lines."""

import asyncio
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from nsadmin.command_line import registry
from nsadmin.tui.actions.prompt_completion import Candidate, split_line
from nsadmin.tui.palette.name_matcher import NameMatch, find_best_names
from nsadmin.tui.palette.palette_entries import PaletteEntry, make_line_entry
from nsadmin.tui.views.table import escape_unprintable

_MAX_HITS = 60
_LINE_SCORE = 1000.0
"""Completed command lines come before names that match by chance."""


class PaletteSource:
    """What the palette shows, and what it does with a chosen entry."""

    def __init__(
        self,
        list_entries: Callable[[], Sequence[PaletteEntry]],
        complete_line: Callable[[Sequence[str], str], Sequence[Candidate]],
        run_entry: Callable[[PaletteEntry], None],
    ) -> None:
        self.list_entries = list_entries
        self.complete_line = complete_line
        self.run_entry = run_entry


class PaletteProvider(Provider):
    """Provides the entries of a source. `bind_source` makes the class that Textual starts."""

    source: ClassVar[PaletteSource]

    async def startup(self) -> None:
        self._named_entries = [(entry.name, entry) for entry in self.source.list_entries()]

    async def discover(self) -> Hits:
        for name, entry in self._named_entries[:_MAX_HITS]:
            yield DiscoveryHit(
                Content(escape_unprintable(name)),
                self._make_callback(entry),
                text=name,
                help=escape(escape_unprintable(entry.help_text)),
            )

    async def search(self, query: str) -> Hits:
        for line_index, entry in enumerate(await self._complete_query(query)):
            yield self._make_hit(entry, NameMatch(_LINE_SCORE - line_index, ()))
        for match, _, entry in find_best_names(query, self._named_entries, _MAX_HITS):
            yield self._make_hit(entry, match)

    async def _complete_query(self, query: str) -> list[PaletteEntry]:
        """The query itself if it is a command with arguments, and its completions."""
        unfinished = split_line(query)
        if unfinished is None or not unfinished.words_before:
            return []
        entry, arguments = registry.take_command([*unfinished.words_before, unfinished.typed_word])
        if entry is None or not arguments:
            return []
        candidates = await asyncio.to_thread(
            self.source.complete_line, unfinished.words_before, unfinished.typed_word
        )
        line_start = query[: unfinished.word_start]
        help_by_line = {query: "run this command"} | {
            f"{line_start}{word}": description or "run this command"
            for word, description in candidates[:_MAX_HITS]
        }
        return [make_line_entry(line, text) for line, text in help_by_line.items()]

    def _make_hit(self, entry: PaletteEntry, match: NameMatch) -> Hit:
        shown_name = Content(escape_unprintable(entry.name))
        if self.match_style is not None and shown_name.plain == entry.name:
            for position in match.positions:
                shown_name = shown_name.stylize(self.match_style, position, position + 1)
        return Hit(
            match.score,
            shown_name,
            self._make_callback(entry),
            text=entry.name,
            help=escape(escape_unprintable(entry.help_text)),
        )

    def _make_callback(self, entry: PaletteEntry) -> Callable[[], None]:
        return lambda: self.source.run_entry(entry)


def bind_source(palette_source: PaletteSource) -> type[PaletteProvider]:
    """The provider class of one app. Textual creates the provider itself, without arguments of ours."""

    class BoundProvider(PaletteProvider):
        source = palette_source

    return BoundProvider
