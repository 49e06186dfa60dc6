"""The entries of the command palette, and what it does with the chosen one."""

import asyncio
from functools import partial
from typing import NamedTuple, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.markup import escape

from nsadmin.command_line import registry
from nsadmin.tui.actions.prompt_completion import split_line
from nsadmin.tui.actions.row_actions import TERMINAL_KINDS
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.model.server_states import ObservedBroker
from nsadmin.tui.navigation import root_views
from nsadmin.tui.palette.name_matcher import NameMatch, find_best_names
from nsadmin.tui.views.base_view import View, open_broker, open_group, open_topic
from nsadmin.tui.views.table import escape_unprintable

_MAX_HITS = 60
_LINE_SCORE = 1000.0
"""Completed command lines come before names that match by chance."""


class PaletteEntry(NamedTuple):
    """An entry, which opens `view`, or runs `prompt_line` as if it was typed after the colon.

    If `awaits_arguments` is set, the line opens in the prompt and the operator completes it.
    """

    name: str
    help_text: str
    prompt_line: str = ""
    view: View | None = None
    awaits_arguments: bool = False


class PaletteProvider(Provider):
    """Provides the entries, and opens or runs what the operator chose."""

    @property
    def tui(self) -> BaseTui:
        return cast("BaseTui", self.app)

    async def startup(self) -> None:
        self._named_entries = [(entry.name, entry) for entry in self.list_entries()]

    async def discover(self) -> Hits:
        for name, entry in self._named_entries[:_MAX_HITS]:
            help_text = escape(escape_unprintable(entry.help_text))
            shown_name = Content(escape_unprintable(name))
            yield DiscoveryHit(shown_name, partial(self.run_entry, entry), text=name, help=help_text)

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
        complete_line = self.tui.cluster_context.complete_line
        candidates = await asyncio.to_thread(complete_line, words_before, typed_word)
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
        return Hit(match.score, name, partial(self.run_entry, entry), text=entry.name, help=help_text)

    def list_entries(self) -> list[PaletteEntry]:
        """All entries: screens first, then objects of the cluster, then commands."""
        app, model = self.tui, self.tui.model
        names_poll = model.group_names_answer.last_poll
        groups = {*model.group_answers, *(names_poll.names if names_poll is not None else ())}
        contexts, themes = app.available_contexts.list_names(), sorted(app.available_themes)
        commands = (entry for entry in registry.COMMANDS if entry.kind not in TERMINAL_KINDS)
        return [
            *(PaletteEntry(title, "screen", name) for name, title in root_views.ROOT_VIEWS.items()),
            *(_line_entry(f"context {name}", "another cluster") for name in contexts),
            *(_line_entry(alias, f"alias of {line}") for alias, line in app.prompt_aliases.items()),
            *(_line_entry(f"view {name}", "saved view") for name in app.view_settings.list_view_names()),
            *(_line_entry(f"plugin {p.name}", p.summary) for p in app.custom_commands.plugins),
            *map(_broker_entry, model.brokers.values()),
            *(PaletteEntry(topic, "topic", view=open_topic(topic)) for topic in model.list_topic_names()),
            *(PaletteEntry(group, "consumer group", view=open_group(group)) for group in sorted(groups)),
            *(
                PaletteEntry(
                    command.typed_name,
                    f"command: {command.help}",
                    f"{command.typed_name} ",
                    awaits_arguments=True,
                )
                for command in commands
            ),
            *(_line_entry(f"theme {name}", "colours") for name in themes),
        ]

    def run_entry(self, entry: PaletteEntry) -> None:
        if entry.view is not None:
            self.tui.push_view(entry.view)
        elif entry.awaits_arguments:
            self.tui.prompt_controller.open_prompt("command", entry.prompt_line)
        else:
            self.tui.action_controller.run_prompt_line(entry.prompt_line)


def _line_entry(prompt_line: str, help_text: str) -> PaletteEntry:
    return PaletteEntry(prompt_line, help_text, prompt_line)


def _broker_entry(broker: ObservedBroker) -> PaletteEntry:
    role_text = "" if broker.key.id == 0 else f" {broker.key.id}"
    return PaletteEntry(
        f"{broker.key.name}{role_text}", f"broker {broker.key.addr}", view=open_broker(broker)
    )
