"""The Textual app: connects the poller, the model, the views and the keys."""

from collections.abc import Callable
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.screen import Screen

from nsadmin.client.wall_clock import time
from nsadmin.tui import themes
from nsadmin.tui.action_controller import ActionController
from nsadmin.tui.actions.key_bindings import KEY_BINDINGS
from nsadmin.tui.base_app import CLOCK_SECONDS, BaseTui
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.custom_commands.custom_command_controller import CustomCommandController
from nsadmin.tui.navigation import root_views
from nsadmin.tui.polling.poller import ClusterPoller
from nsadmin.tui.preferences import Preferences
from nsadmin.tui.prompt_controller import PromptController
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.row_action_controller import RowActionController
from nsadmin.tui.screens.renderer import ScreenRenderer
from nsadmin.tui.table_controller import TableController
from nsadmin.tui.view_settings.settings_file import SettingsFile
from nsadmin.tui.view_settings.view_settings_controller import ViewSettingsController
from nsadmin.tui.views import screen_frame
from nsadmin.tui.views.base_view import CommandTarget
from nsadmin.tui.views.table import RowFilter
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt

if TYPE_CHECKING:
    from nsadmin.tui.message_controller import MessageController


class MainScreen(Screen[None]):
    """The screen below all modal screens. The key Tab shows the next tab and does not move the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.tab(1)", show=False, id="nextTab"),
        Binding("shift+tab", "app.tab(-1)", show=False, id="previousTab"),
    ]

    class WidgetsReady(Message):
        """All widgets of the screen exist."""

    def on_mount(self) -> None:
        self.post_message(self.WidgetsReady())

    def compose(self) -> ComposeResult:
        yield Lines("bar", id="header")
        yield Lines("panel", id="screens")
        yield Lines(id="headline")
        with Horizontal(id="body"):
            yield Grid(id="grid")
            yield Lines(id="drawing")
            yield Lines("panel", id="details")
        yield Lines(id="footer")
        yield Lines("panel", id="candidates")
        yield Prompt(id="prompt")
        yield Lines("bar", id="hints")


def build_bindings() -> list[BindingType]:
    """All bindings of the app, except the keys for tabs, which the main screen binds."""
    return [
        *(
            Binding(b.key_names, b.app_action, b.help_text, show=False, id=b.binding_id, priority=True)
            for b in KEY_BINDINGS
            if "Tab" not in b.binding_id
        ),
        *(
            Binding(str(number), f"screen({number})", name, show=False, id=f"screen{number}", priority=True)
            for number, name in enumerate(root_views.SCREEN_NAMES)
        ),
    ]


_TICK_SECONDS = 0.25


def wall_clock_ms() -> int:
    return int(time() * 1000)


class Tui(BaseTui):
    """Creates the controllers and the feed, and passes keys and messages of widgets on to them.

    `feed_factory` creates the poller. Tests pass their own; a replay uses its player instead.
    """

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "nsadmin"
    BINDINGS: ClassVar = build_bindings()

    def __init__(
        self,
        available_contexts: AvailableContexts,
        *,
        interval: float = 5.0,
        home: str = "brokers",
        clock: Callable[[], int] = wall_clock_ms,
        feed_factory: Callable[..., Any] = ClusterPoller,
        preferences: Preferences | None = None,
        player: ReplayPlayer | None = None,
        recorder: PollRecorder | None = None,
        custom_commands: CustomCommands | None = None,
        settings_file: SettingsFile | None = None,
    ) -> None:
        super().__init__(available_contexts, interval, clock, player, recorder, preferences, custom_commands)
        self.view_settings = ViewSettingsController(self, settings_file)
        self.navigation = self._create_navigation(home)
        self.table = TableController(self)
        self.row_actions = RowActionController(self)
        self.action_controller = ActionController(self)
        self.prompt_controller = PromptController(self)
        self.custom_command_controller = CustomCommandController(self)
        self.screen_renderer = ScreenRenderer(self)
        self._feed_factory = feed_factory
        self.feed = self._create_feed()
        for theme in (*themes.OWN_THEMES, *themes.build_themes(self.preferences.themes)):
            self.register_theme(theme)
        self.set_keymap(self.preferences.keys)

    @cached_property
    def messages(self) -> "MessageController":
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.message_controller import MessageController

        return MessageController(self)

    def check_action(self, action_name: str, parameters: tuple[object, ...]) -> bool | None:
        """The app handles keys before its widgets, unless a prompt or a modal screen is open."""
        if not self._is_ready or not self.screen_stack[0].query(Prompt):
            return False
        return len(self.screen_stack) == 1 and not self.prompt_input.display

    def get_default_screen(self) -> Screen[None]:
        return MainScreen()

    def on_main_screen_widgets_ready(self) -> None:
        self._use_remembered_theme()
        if self.preferences.theme not in self.available_themes:
            self.show_message(f'unknown theme "{self.preferences.theme}": see :theme', "warn")
        self._is_ready = True
        if self.recorder is not None:
            self.recorder.report_failure = self._post_failure
        self.feed.start()
        self._show_current_view()
        self.custom_command_controller.bind_keys()
        self.set_interval(_TICK_SECONDS, self.redraw_if_due)
        self.set_interval(CLOCK_SECONDS, self.action_controller.report_ended_jobs)
        self.set_interval(CLOCK_SECONDS, self.view_settings.remember_changes)
        if self.view_settings.error_text is not None:
            self.show_message(self.view_settings.error_text, "bad")

    def on_unmount(self) -> None:
        self.view_settings.remember_changes()
        self.feed.stop()
        if self.recorder is not None:
            self.recorder.close()

    # Keys. Textual finds these methods by the names in the bindings.

    def action_screen(self, screen_index: int) -> None:
        self.show_view(root_views.make_view(root_views.SCREEN_NAMES[screen_index]))

    async def action_back(self) -> None:
        state = self.view_state
        if state.row_filter:
            state.row_filter = RowFilter()
            self.redraw_screen()
        elif self.navigation.pop_view():
            self._show_current_view()

    def action_last(self) -> None:
        if self.navigation.swap_with_previous():
            self._show_current_view()

    def action_tab(self, step: int) -> None:
        if tabs := self.current_view.list_tabs():
            self.replace_view(tabs[(tabs.index(self.current_view) + step) % len(tabs)])

    def action_help(self) -> None:
        from nsadmin.tui.screens.help_screen import HelpScreen

        self.push_screen(HelpScreen(self.current_view, self.custom_commands))

    def action_palette(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from textual.command import CommandPalette

        from nsadmin.tui.palette.palette_provider import PaletteProvider

        placeholder = "Screen, topic, broker, group, context or command"
        self.push_screen(CommandPalette([PaletteProvider], placeholder=placeholder))

    def action_edit(self) -> None:
        # Imported late, so that the first screen appears sooner.
        from nsadmin.tui.editor.edit_controller import EditController

        EditController(self).edit_row()

    def action_log(self) -> None:
        from nsadmin.tui.screens.log_screen import LogScreen

        self.unread_log_count = 0
        self.push_screen(LogScreen(self.log_lines))

    def action_pause(self) -> None:
        self.feed.pause(not self.feed.is_paused)
        self.redraw_screen()

    def action_do(self, method_path: str, *arguments: Any) -> None:
        """Call a method of a controller, such as `table.reverse_order`."""
        attrgetter(method_path)(self)(*arguments)

    # Messages of widgets.

    def on_grid_entered(self, message: Grid.Entered) -> None:
        if self.current_view.message_query is not None:
            self.messages.open_message(message.row)
            return
        target = self.current_view.open_row(message.row)
        if isinstance(target, CommandTarget):
            self.action_controller.run_command(target.words)
        elif target is not None:
            self.push_view(target)

    def on_grid_folded(self, message: Grid.Folded) -> None:
        self.table.fold_group(message.group_name)

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self.view_state.row_key = self.row_grid.cursor_key
        self.screen_renderer.show_details()
        self._send_queries()

    def on_grid_sort_asked(self, message: Grid.SortAsked) -> None:
        self.table.sort_by_column(message.column_key)

    async def on_lines_clicked(self, message: Lines.Clicked) -> None:
        if message.lines_widget.id == "hints":
            # Each hint has two cells: its key and its word.
            hints = screen_frame.list_hints(self.current_view.has_messages)
            await self.run_action(hints[message.cell_index // 2].app_action)
        if message.lines_widget.id != "screens":
            return
        tabs = self.current_view.list_tabs()
        if self.navigation.stack_depth == 1 and not tabs:
            self.action_screen(message.cell_index)
        elif message.cell_index == 0:
            await self.run_action("back")
        elif tabs:
            self.replace_view(tabs[message.cell_index - 1])

    def on_prompt_typing(self, message: Prompt.Typing) -> None:
        self.prompt_controller.follow_typing(message.prompt_mode, message.typed_text)

    def on_prompt_completion_asked(self, message: Prompt.CompletionAsked) -> None:
        self.prompt_controller.complete_line(message.line_text, message.step)

    def on_prompt_ended(self, message: Prompt.Ended) -> None:
        self.prompt_controller.close_prompt(message.prompt_mode, message.typed_text)

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw_screen)
