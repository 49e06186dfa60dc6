"""The base class of the app: the state of the screen, its feed of polls, and its drawing."""

import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from threading import BoundedSemaphore
from time import monotonic
from typing import Any

from textual.app import App
from textual.driver import Driver

from nsadmin.tui.actions import prompt_parser
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.custom_commands.command_file import CustomCommands
from nsadmin.tui.model.agreement import AgreementVerdict, judge_agreement
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.navigation import root_views
from nsadmin.tui.navigation.view_navigation import ViewNavigation, ViewState
from nsadmin.tui.polling.poll_records import AnyPoll, BrokerPolled, NameServerPolled
from nsadmin.tui.preferences import DEFAULT_THEME, Preferences
from nsadmin.tui.recording.recording_file import PollRecorder
from nsadmin.tui.recording.replay import ReplayPlayer
from nsadmin.tui.screens.background_jobs import BackgroundJobs
from nsadmin.tui.terminal_driver import TerminalDriver
from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import Tone
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Prompt

CLOCK_SECONDS = 1.0
_MAX_LOG_LINES = 1_000
_TERMINAL_CHECK_SECONDS = 1.0
_MAX_PENDING_BATCHES = 4
_REST_FACTOR = 5
"""After drawing the screen, wait this many times as long as drawing took, so that keys are answered."""


class BaseTui(App[None]):
    """The renderer and the controllers know the app only by this class.

    `last_message` is the last message with its tone and its time (ms). `all_rows` are the rows of the current
    view, and `filtered_rows` those that pass the filter, also those of folded groups.
    """

    # The app creates these. Controllers know this class.
    navigation: ViewNavigation
    feed: Any
    _feed_factory: Callable[..., Any]
    view_settings: Any
    screen_renderer: Any
    table: Any
    row_actions: Any
    action_controller: Any
    prompt_controller: Any
    custom_command_controller: Any

    def __init__(
        self,
        available_contexts: AvailableContexts,
        interval: float,
        clock: Callable[[], int],
        player: ReplayPlayer | None,
        recorder: PollRecorder | None,
        preferences: Preferences | None,
        custom_commands: CustomCommands | None,
    ) -> None:
        super().__init__()
        self.player, self.recorder = player, recorder
        self.available_contexts = available_contexts
        self.cluster_context: ClusterContext = available_contexts.first_context
        self.interval = interval
        self.clock = clock if player is None else player.now_ms
        self.empty_model()
        self.log_lines: deque[tuple[int, str]] = deque(maxlen=_MAX_LOG_LINES)
        self.unread_log_count = 0
        self.last_message: tuple[str, Tone, int] | None = None
        self.all_rows: Sequence[Any] = ()
        self.filtered_rows: Sequence[Any] = ()
        self.is_dirty = False
        self.shows_details = True
        self.preferences = preferences or Preferences()
        self.custom_commands = custom_commands or CustomCommands()
        self.jobs = BackgroundJobs()
        self._pending_slots = BoundedSemaphore(_MAX_PENDING_BATCHES)
        self._is_ready = False
        self._drawn_at = self._next_redraw_at = 0.0

    @property
    def messages(self) -> Any:
        raise NotImplementedError

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

    def _use_remembered_theme(self) -> None:
        """Use the theme that the operator chose last in this context, or that of the preferences."""
        preferred_theme = self.preferences.theme
        known_theme = preferred_theme if preferred_theme in self.available_themes else DEFAULT_THEME
        self.theme = self.view_settings.remembered_theme or known_theme
        self.view_settings.remember_theme()

    def _create_navigation(self, screen_name: str) -> ViewNavigation:
        return ViewNavigation(root_views.make_view(screen_name), self.view_settings.prepare_state)

    def _create_feed(self) -> Any:
        if self.player is not None:
            return self._create_replay_feed(self.player)
        feed: Any = None

        def post_polls(polls: Sequence[AnyPoll]) -> None:
            self.call_later(self.receive_polls, polls, feed)

        context = self.cluster_context
        feed = self._feed_factory(context, self.interval, post_polls, self._post_failure, self.clock)
        return feed

    def _create_replay_feed(self, player: ReplayPlayer) -> ReplayPlayer:
        def post_polls(polls: Sequence[AnyPoll]) -> None:
            # Wait until the screen has shown earlier polls: a fast replay would fill the message queue.
            while not self._pending_slots.acquire(timeout=1):
                if not self.is_running:
                    return
            self.call_later(self._pending_slots.release)
            self.call_later(self.receive_polls, polls, player)

        # The replay starts again from another moment: all polls that lead to it follow.
        player.connect(post_polls, lambda: self.call_later(self.empty_model), self._post_failure)
        return player

    def _post_failure(self, error: BaseException) -> None:
        """Tell of an unexpected exception in a polling thread. The thread restarts."""
        self.call_later(self.add_log_line, f"{type(error).__name__}: {error}")

    def receive_polls(self, polls: Sequence[AnyPoll], source_feed: object) -> None:
        if source_feed is not self.feed:
            return
        is_first_poll = not self.model.brokers
        for poll in polls:
            try:
                self.model.apply_poll(poll)
            except Exception as error:
                self.add_log_line(f"{type(poll).__name__}: {type(error).__name__}: {error}")
            if isinstance(poll, NameServerPolled):
                self.agreement_verdict = judge_agreement(self.model)
            # Polls of brokers arrive all the time. The redraw of each second shows them.
            self.is_dirty |= not isinstance(poll, BrokerPolled)
        if self.recorder is not None:
            self.recorder.record_polls(polls)
        if is_first_poll and self.model.brokers:
            # The operator waits for the first screen: draw it at once.
            self.redraw_screen()

    def switch_context(self, cluster_context: ClusterContext) -> None:
        """Show another cluster. The model starts empty, and a recording of the earlier cluster ends."""
        self.view_settings.remember_changes()
        self.feed.stop()
        recording_notice = ""
        if self.recorder is not None:
            self.recorder.close()
            self.recorder, recording_notice = None, "; the recording of the previous context has ended"
        self.cluster_context = cluster_context
        self.empty_model()
        self.view_settings.load_settings()
        self.navigation = self._create_navigation(root_views.SCREEN_NAMES[0])
        self._use_remembered_theme()
        self.feed = self._create_feed()
        self.feed.start()
        self._show_current_view()
        self.show_message(f"context {cluster_context.label}{recording_notice}")

    def show_view(self, view: View) -> None:
        self.navigation.open_root_view(view)
        self._show_current_view()

    def push_view(self, view: View) -> None:
        self.navigation.push_view(view)
        self._show_current_view()

    def replace_view(self, view: View) -> None:
        self.navigation.replace_view(view)
        self._show_current_view()

    # Drawing.

    def _show_current_view(self) -> None:
        """Fill the widgets for the view on top of the navigation stack."""
        state = self.view_state
        self.screen_stack[0].set_class(state.view.is_drawing, "drawn")
        self.row_grid.show_view(state.view, state.row_key)
        if state.view.is_drawing:
            # Textual knows the size of the drawing only after the layout.
            self.call_after_refresh(self.redraw_screen)
        self.focus_rows()
        self.call_after_refresh(self.focus_rows)
        self.redraw_screen()

    def focus_rows(self) -> None:
        """Focus the table at once, so that it gets keys typed meanwhile. An open prompt keeps the focus."""
        if self._is_ready and self.screen_stack[0].query(Grid) and not self.prompt_input.display:
            self.screen_stack[0].set_focus(self.row_grid)

    def redraw_if_due(self) -> None:
        """Redraw if the model changed or if a second has passed since the last redraw."""
        now = monotonic()
        if now >= self._next_redraw_at and (self.is_dirty or now >= self._drawn_at + CLOCK_SECONDS):
            self.redraw_screen()

    def redraw_screen(self) -> None:
        """Draw the whole screen from the model. An exception becomes a line of the log panel."""
        # A timer can still call this while the app ends: then there is no screen any more.
        has_screen = self._is_ready and bool(self.screen_stack)
        if not has_screen or not self.size.width or not self.screen_stack[0].query(Grid):
            return
        self.is_dirty, self._drawn_at = False, monotonic()
        if not self.feed.is_paused:
            self.model.now_ms = max(self.model.now_ms, self.clock())
        try:
            self.screen_renderer.render_screen()
            self._send_queries()
        except Exception as error:
            self.add_log_line(f"{self.current_view.name}: {type(error).__name__}: {error}")
        now = monotonic()
        self._next_redraw_at = now + _REST_FACTOR * (now - self._drawn_at)

    def _send_queries(self) -> None:
        self.feed.ask(self.screen_renderer.list_queries())
        self.feed.follow_messages(self.current_view.message_query)
