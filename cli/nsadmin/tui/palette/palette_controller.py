"""The controller of the command palette: opens it, and opens or runs what the operator chose."""

from nsadmin.tui.action_controller import ActionController
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_links import open_target
from nsadmin.tui.palette import palette_entries
from nsadmin.tui.palette.palette_entries import PaletteEntry
from nsadmin.tui.prompt_controller import PromptController

_PLACEHOLDER = "Screen, topic, broker, group, context or command"


class PaletteController:
    """Controls the palette of one app."""

    def __init__(
        self, app: BaseTui, action_controller: ActionController, prompt_controller: PromptController
    ) -> None:
        self._app = app
        self._action_controller = action_controller
        self._prompt_controller = prompt_controller

    def open_palette(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from textual.command import CommandPalette

        from nsadmin.tui.palette.palette_provider import PaletteSource, bind_source

        palette_source = PaletteSource(
            self.list_entries, self._app.cluster_context.complete_line, self.run_entry
        )
        self._app.push_screen(CommandPalette([bind_source(palette_source)], placeholder=_PLACEHOLDER))

    def list_entries(self) -> list[PaletteEntry]:
        """All entries: screens first, then objects of the cluster, then commands."""
        app = self._app
        titles = {name: root_view.title for name, root_view in root_views.ROOT_VIEWS.items()}
        return [
            *palette_entries.list_screen_entries(titles),
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
        if entry.target is not None:
            self._app.push_view(open_target(entry.target))
        elif entry.awaits_arguments:
            self._prompt_controller.open_prompt("command", entry.prompt_line)
        else:
            self._action_controller.run_prompt_line(entry.prompt_line)
