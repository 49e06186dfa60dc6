"""The base class of the app: the state that the renderer and the action controller share, and its widgets."""

import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from textual.app import App
from textual.driver import Driver

from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.model.agreement import AgreementVerdict
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_navigation import ViewNavigation, ViewState
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.terminal_driver import TerminalDriver
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import Tone
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt

_MAX_LOG_LINES = 1_000
_TERMINAL_CHECK_SECONDS = 1.0


class BaseTui(App[None]):
    """The renderer and the controller know the app only by this class.

    `last_message` is the last message with its tone and its time (ms). `all_rows` are the rows of the current
    view, and `filtered_rows` those that pass the filter, also those of folded groups.
    """

    def __init__(
        self,
        available_contexts: AvailableContexts,
        interval: float,
        home: str,
        clock: Callable[[], int],
        player: ReplayPlayer | None,
        recorder: PollRecorder | None,
    ) -> None:
        super().__init__()
        self.player, self.recorder = player, recorder
        self.available_contexts = available_contexts
        self.cluster_context: ClusterContext = available_contexts.first_context
        self.interval = interval
        self.clock = clock if player is None else player.now_ms
        self.empty_model()
        self.navigation = ViewNavigation(root_views.make_view(home))
        self.log_lines: deque[tuple[int, str]] = deque(maxlen=_MAX_LOG_LINES)
        self.unread_log_count = 0
        self.last_message: tuple[str, Tone, int] | None = None
        self.all_rows: Sequence[Any] = ()
        self.filtered_rows: Sequence[Any] = ()
        self.feed: Any = None
        self.custom_commands = CustomCommands()
        # The app creates these controllers, which know this class.
        self.view_settings: Any = None
        self.custom_command_controller: Any = None
        self.is_dirty = False
        self.shows_details = True

    def empty_model(self) -> None:
        """Forget every poll: another cluster, or another moment of a replay, begins."""
        self.model = ClusterModel(self.cluster_context.addrs, is_replay=self.player is not None)
        self.agreement_verdict = AgreementVerdict("unknown")

    def get_driver_class(self) -> type[Driver]:
        return TerminalDriver

    def on_mount(self) -> None:
        self.set_interval(_TERMINAL_CHECK_SECONDS, self._end_without_terminal)

    def _end_without_terminal(self) -> None:
        """End as after SIGHUP, which only the first process of the terminal's session gets."""
        if isinstance(self._driver, TerminalDriver) and self._driver.is_terminal_gone:
            self.exit(return_code=128 + signal.SIGHUP)

    @property
    def row_grid(self) -> Grid:
        return self.screen_stack[0].query_one(Grid)

    @property
    def prompt_input(self) -> Prompt:
        return self.screen_stack[0].query_one(Prompt)

    def find_lines(self, widget_id: str) -> Lines:
        return self.screen_stack[0].query_one(f"#{widget_id}", Lines)

    @property
    def prompt_aliases(self) -> dict[str, str]:
        """The aliases of the prompt: those of nsadmin, and the operator's own."""
        return {**prompt_parser.BUILTIN_ALIASES, **self.custom_commands.aliases}

    @property
    def view_state(self) -> ViewState:
        return self.navigation.current_state

    @property
    def current_view(self) -> View:
        return self.view_state.view

    def add_log_line(self, line: str) -> None:
        """Add a line to the log panel, unless the last line has the same text."""
        if not self.log_lines or self.log_lines[-1][1] != line:
            self.log_lines.append((self.clock(), line))
            self.unread_log_count += 1
        self.is_dirty = True

    def show_message(self, message_text: str, tone: Tone = "accent") -> None:
        """Show a message in the last line for a few seconds. Errors also go to the log panel."""
        self.last_message = (message_text, tone, self.clock())
        if tone == "bad":
            self.add_log_line(message_text)
        self.redraw_screen()

    def choose(
        self,
        title: str,
        choices: Sequence[tuple[str, str]],
        use_choice: Callable[[str], None],
        initial_choice: str | None = None,
        choice_by_letter: Mapping[str, str] | None = None,
    ) -> None:
        """Let the operator choose one of these ids, each with its text. After Esc, nothing happens."""
        from nsadmin.tui.screens.dialogs import ChooseScreen

        screen = ChooseScreen(title, choices, initial_choice, choice_by_letter)
        self.push_screen(screen, lambda choice: None if choice is None else use_choice(choice))

    def ask_fields(
        self,
        title: str,
        initial_values: Sequence[tuple[str, str]],
        use_texts: Callable[[dict[str, str]], None],
    ) -> None:
        """Let the operator type a text for each field. After Esc, nothing happens."""
        from nsadmin.tui.screens.dialogs import FieldsScreen

        screen = FieldsScreen(title, initial_values)
        self.push_screen(screen, lambda texts: None if texts is None else use_texts(texts))

    # The app implements these.

    def show_view(self, view: View) -> None:
        """Show one of the root views."""
        raise NotImplementedError

    def push_view(self, view: View) -> None:
        raise NotImplementedError

    def replace_view(self, view: View) -> None:
        raise NotImplementedError

    def switch_context(self, cluster_context: ClusterContext) -> None:
        raise NotImplementedError

    def focus_rows(self) -> None:
        """Focus the table, unless a prompt is open."""
        raise NotImplementedError

    def redraw_screen(self) -> None:
        raise NotImplementedError
