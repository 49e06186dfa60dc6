"""The controller of the command palette: opens it, and opens or runs what the operator chose."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual.command import CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from nsadmin.command_line import registry
from nsadmin.tui.actions.prompt_completion import Candidate, split_line
from nsadmin.tui.navigation import root_views
from nsadmin.tui.palette import palette_entries
from nsadmin.tui.palette.name_matcher import NameMatch, find_best_names
from nsadmin.tui.palette.palette_entries import PaletteEntry
from nsadmin.tui.views.table import escape_unprintable

if TYPE_CHECKING:
    from nsadmin.tui.app import Tui

_MAX_HITS = 60
_LINE_SCORE = 1000.0
"""Completed command lines come before names that match by chance."""


class PaletteSource(NamedTuple):
    """What the palette shows, and what it does with a chosen entry."""

    list_entries: Callable[[], Sequence[PaletteEntry]]
    complete_line: Callable[[Sequence[str], str], Sequence[Candidate]]
    run_entry: Callable[[PaletteEntry], None]


class PaletteProvider(Provider):
    """Provides the entries of a source. `bind_source` makes the class that Textual starts."""

    source: ClassVar[PaletteSource]

    async def startup(self) -> None:
        self._named_entries = [(entry.name, entry) for entry in self.source.list_entries()]

    async def discover(self) -> Hits:
        for name, entry in self._named_entries[:_MAX_HITS]:
            shown_name, help_text = (
                Content(escape_unprintable(name)),
                escape(escape_unprintable(entry.help_text)),
            )
            yield DiscoveryHit(shown_name, self._make_callback(entry), text=name, help=help_text)

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
        words_before, typed_word, word_start = unfinished
        entry, arguments = registry.take_command([*words_before, typed_word])
        if entry is None or not arguments:
            return []
        candidates = await asyncio.to_thread(self.source.complete_line, words_before, typed_word)
        help_by_line = {query: "run this command"}
        for word, description in candidates[:_MAX_HITS]:
            help_by_line[query[:word_start] + word] = description or "run this command"
        # A whole command line runs at once. A change shows its preview first.
        return [PaletteEntry(line, help_text, line) for line, help_text in help_by_line.items()]

    def _make_hit(self, entry: PaletteEntry, match: NameMatch) -> Hit:
        name = Content(escape_unprintable(entry.name))
        if self.match_style is not None and name.plain == entry.name:
            for position in match.positions:
                name = name.stylize(self.match_style, position, position + 1)
        help_text = escape(escape_unprintable(entry.help_text))
        return Hit(match.score, name, self._make_callback(entry), text=entry.name, help=help_text)

    def _make_callback(self, entry: PaletteEntry) -> Callable[[], None]:
        return lambda: self.source.run_entry(entry)


def bind_source(palette_source: PaletteSource) -> type[PaletteProvider]:
    """The provider class of one app. Textual creates the provider itself, without arguments of ours."""

    class BoundProvider(PaletteProvider):
        source = palette_source

    return BoundProvider


_PLACEHOLDER = "Screen, topic, broker, group, context or command"


class PaletteController:
    def __init__(self, app: "Tui") -> None:
        self._app = app

    def open_palette(self) -> None:
        source = PaletteSource(self.list_entries, self._app.cluster_context.complete_line, self.run_entry)
        self._app.push_screen(CommandPalette([bind_source(source)], placeholder=_PLACEHOLDER))

    def list_entries(self) -> list[PaletteEntry]:
        """All entries: screens first, then objects of the cluster, then commands."""
        app = self._app
        return [
            *palette_entries.list_screen_entries(root_views.ROOT_VIEWS),
            *palette_entries.list_context_entries(app.available_contexts.list_names()),
            *palette_entries.list_alias_entries(app.prompt_aliases),
            *palette_entries.list_view_entries(app.view_settings.list_view_names()),
            *palette_entries.list_plugin_entries(app.custom_commands.plugins),
            *palette_entries.list_cluster_entries(app.model),
            *palette_entries.list_command_entries(),
            *palette_entries.list_theme_entries(sorted(app.available_themes)),
        ]

    def run_entry(self, entry: PaletteEntry) -> None:
        """Open the view of an entry, or run its line."""
        if entry.view is not None:
            self._app.push_view(entry.view)
        elif entry.awaits_arguments:
            self._app.prompt_controller.open_prompt("command", entry.prompt_line)
        else:
            self._app.action_controller.run_prompt_line(entry.prompt_line)
