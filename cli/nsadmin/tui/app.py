"""The Textual app: connects the poller, the model, the views and the keys."""

from collections import deque
from collections.abc import Callable, Sequence
from threading import BoundedSemaphore
from time import monotonic, time
from typing import Any, ClassVar

from textual.app import App
from textual.binding import Binding
from textual.screen import Screen

from nsadmin.tui import prompting, saving, themes, units
from nsadmin.tui.agreement import Verdict, verdict
from nsadmin.tui.doing import Doing
from nsadmin.tui.feed import Feed, Plan
from nsadmin.tui.keys import KEYS
from nsadmin.tui.messages import Failed, Polled, Rewound
from nsadmin.tui.model import Model
from nsadmin.tui.navigation import Navigation
from nsadmin.tui.painting import Painting
from nsadmin.tui.polls import AnyPoll, BrokerPolled, NameServerPolled
from nsadmin.tui.preferences import THEME, Preferences
from nsadmin.tui.recording import Recorder
from nsadmin.tui.replaying import Player, ReplayFeed
from nsadmin.tui.screens.main import Main
from nsadmin.tui.views import root
from nsadmin.tui.views.table import BadFilter, Filter, Sort, Tone, is_figure
from nsadmin.tui.views.view import View
from nsadmin.tui.widgets.grid import Grid
from nsadmin.tui.widgets.lines import Lines
from nsadmin.tui.widgets.prompt import Mode, Prompt
from nsadmin.tui.world import World, Worlds

_TICK = 0.25
_CLOCK = 1.0
_LOG = 1_000
_AHEAD = 4
_REST = 5
"""After drawing the screen, wait this many times as long as drawing took, so that keys are answered."""


def wall() -> int:
    return int(time() * 1000)


class Tui(App[None]):
    """`feed_factory` creates the poller. Tests pass their own; a replay uses `ReplayFeed` instead."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "nsadmin"
    BINDINGS: ClassVar = [
        *(
            Binding(key.keys, key.action, key.help, show=False, id=key.id, priority=True)
            for key in KEYS
            if "Tab" not in key.id
        ),
        *(
            Binding(str(at), f"screen({at - 1})", name, show=False, id=f"screen{at}", priority=True)
            for at, name in enumerate(root.NAMES, 1)
        ),
    ]

    def __init__(
        self,
        worlds: Worlds,
        *,
        interval: float = 5.0,
        home: str = "brokers",
        clock: Callable[[], int] = wall,
        feeds: Callable[..., Any] = Feed,
        preferences: Preferences | None = None,
        player: Player | None = None,
        recorder: Recorder | None = None,
    ) -> None:
        super().__init__()
        self.player = player
        self.recorder = recorder
        self.preferences = preferences or Preferences()
        self.doing = Doing(self)
        self.painting = Painting(self)
        self.worlds = worlds
        self.world: World = worlds.first
        self.interval = interval
        self.clock = clock if player is None else player.now
        self.model = Model(self.world.addrs, is_played=player is not None)
        self.navigation = Navigation(root.make(home))
        self.log_lines: deque[tuple[int, str]] = deque(maxlen=_LOG)
        self._room = BoundedSemaphore(_AHEAD)
        self._feeds = feeds
        self.verdict = Verdict("unknown")
        self._is_dirty = self._is_ready = False
        self._drawn = self._again = 0.0
        self.feed = self._new_feed()
        for theme in (*themes.OURS, *themes.made(self.preferences.themes)):
            self.register_theme(theme)
        self.set_keymap(self.preferences.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The app handles keys before its widgets, unless a prompt or a modal screen is open."""
        if not self._is_ready or not self.screen_stack[0].query(Prompt):
            return False
        return len(self.screen_stack) == 1 and not self.prompt.display

    def get_default_screen(self) -> Screen[None]:
        return Main()

    def on_main_ready(self) -> None:
        self.theme = self.preferences.theme if self.preferences.theme in self.available_themes else THEME
        if self.theme != self.preferences.theme:
            self.say(f"no theme {self.preferences.theme!r}: :theme offers those there are", "warn")
        self._is_ready = True
        if self.recorder is not None:
            self.recorder.failed = self._fail
        self.feed.start()
        self._arrive()
        self.set_interval(_TICK, self._tick)

    def on_unmount(self) -> None:
        self.feed.stop()
        if self.recorder is not None:
            self.recorder.close()

    def _new_feed(self) -> Any:
        if self.player is not None:
            return self._replay(self.player)
        plan = Plan(
            self.world.addrs,
            self.world.namespaces,
            self.interval,
            journals=self.world.journals,
            said=self.world.said,
        )
        feed: Any = None

        def post(polls: Sequence[AnyPoll]) -> None:
            self.post_message(Polled(polls, feed))

        feed = self._feeds(plan, self.world.connect, post, self._fail, self.clock)
        return feed

    def _replay(self, player: Player) -> ReplayFeed:
        def post(polls: Sequence[AnyPoll]) -> None:
            # Wait until the screen has shown earlier polls: a fast replay would fill the message queue.
            while not self._room.acquire(timeout=1):
                if not self.is_running:
                    return
            self.post_message(Polled(polls, feed, self._room.release))

        feed = ReplayFeed(player, post, lambda: self.post_message(Rewound()), self._fail)
        return feed

    def _fail(self, error: BaseException) -> None:
        self.post_message(Failed(error))

    @property
    def grid(self) -> Grid:
        return self.screen_stack[0].query_one(Grid)

    @property
    def prompt(self) -> Prompt:
        return self.screen_stack[0].query_one(Prompt)

    def lines(self, name: str) -> Lines:
        return self.screen_stack[0].query_one(f"#{name}", Lines)

    @property
    def view(self) -> View:
        return self.navigation.here.view

    # Messages of the poller.

    def on_polled(self, message: Polled) -> None:
        message.handled()
        if message.feed is not self.feed:
            return
        is_first = not self.model.brokers
        for poll in message.polls:
            try:
                self.model.apply(poll)
            except Exception as error:
                self.note(f"{type(poll).__name__}: {type(error).__name__}: {error}")
            if isinstance(poll, NameServerPolled):
                self.verdict = verdict(self.model)
            # Polls of brokers arrive all the time. The redraw of each second shows them.
            self._is_dirty |= not isinstance(poll, BrokerPolled)
        if self.recorder is not None:
            self.recorder.keep(message.polls)
        if is_first and self.model.brokers:
            # The operator waits for the first screen: draw it at once.
            self.redraw()

    def on_rewound(self) -> None:
        """Start with an empty model, because the replay starts again from another moment."""
        self.model, self.verdict = Model(self.world.addrs, is_played=True), Verdict("unknown")

    def on_failed(self, message: Failed) -> None:
        self.note(f"{type(message.error).__name__}: {message.error}")

    def note(self, text: str) -> None:
        """Add a line to the log panel, unless the last line has the same text."""
        if not self.log_lines or self.log_lines[-1][1] != text:
            self.log_lines.append((self.clock(), text))
        self._is_dirty = True

    def say(self, text: str, tone: Tone = "accent") -> None:
        """Show a message in the last line for a few seconds. Errors also go to the log panel."""
        self.painting.say(text, tone)
        if tone == "bad":
            self.note(text)
        self.redraw()

    def enter_world(self, world: World) -> None:
        """Show another cluster. The model starts empty, and a recording of the earlier cluster ends."""
        self.feed.stop()
        ended = ""
        if self.recorder is not None:
            self.recorder.close()
            self.recorder, ended = None, "; the recording, which is of the other one, has ended"
        self.world, self.model, self.verdict = world, Model(world.addrs), Verdict("unknown")
        self.navigation = Navigation(root.make(root.NAMES[0]))
        self.feed = self._new_feed()
        self.feed.start()
        self._arrive()
        self.say(f"context {world.label}{ended}")

    def show(self, view: View) -> None:
        """Show one of the root views."""
        self.navigation.go(view)
        self._arrive()

    # Drawing.

    def _arrive(self) -> None:
        """Fill the widgets for the view on top of the navigation stack."""
        place = self.navigation.here
        self.screen_stack[0].set_class(place.view.is_drawing, "drawn")
        self.grid.show_view(place.view, place.row)
        if place.view.is_drawing:
            # Textual knows the size of the drawing only after the layout.
            self.call_after_refresh(self.redraw)
        self.focus_rows()
        self.call_after_refresh(self.focus_rows)
        self.redraw()

    def focus_rows(self) -> None:
        """Focus the table at once, so that it gets keys typed meanwhile. An open prompt keeps the focus."""
        if self._is_ready and self.screen_stack[0].query(Grid) and not self.prompt.display:
            self.screen_stack[0].set_focus(self.grid)

    def _tick(self) -> None:
        """Redraw if the model changed or if a second has passed since the last redraw."""
        now = monotonic()
        if now >= self._again and (self._is_dirty or now >= self._drawn + _CLOCK):
            self.redraw()

    def redraw(self) -> None:
        """Draw the whole screen from the model. An exception becomes a line of the log panel."""
        if not self._is_ready or not self.size.width or not self.screen_stack[0].query(Grid):
            return
        self._is_dirty, self._drawn = False, monotonic()
        self.model.now = max(self.model.now, self.clock())
        try:
            self.painting.paint()
            self._ask()
        except Exception as error:
            self.note(f"{self.view.name}: {type(error).__name__}: {error}")
        now = monotonic()
        self._again = now + _REST * (now - self._drawn)

    def _ask(self) -> None:
        self.feed.ask(self.view.questions(self.model, self.grid.visible_rows, self.grid.current))

    # Keys. Textual finds these methods by the names in the bindings.

    def action_screen(self, at: int) -> None:
        self.show(root.make(root.NAMES[at]))

    async def action_back(self) -> None:
        place = self.navigation.here
        if place.filter:
            place.filter = Filter()
            self.redraw()
        elif self.navigation.back():
            self._arrive()

    def action_last(self) -> None:
        if self.navigation.last():
            self._arrive()

    def action_tab(self, step: int) -> None:
        tabs = self.view.tabs()
        if tabs:
            at = next((at for at, tab in enumerate(tabs) if tab == self.view), 0)
            self.navigation.beside(tabs[(at + step) % len(tabs)])
            self._arrive()

    def action_help(self) -> None:
        from nsadmin.tui.screens.help import HelpScreen

        self.push_screen(HelpScreen(self.view))

    def action_log(self) -> None:
        from nsadmin.tui.screens.log import LogScreen

        self.push_screen(LogScreen(self.log_lines))

    def action_pause(self) -> None:
        self.feed.pause(not self.feed.is_paused)
        self.redraw()

    def action_seek_to(self) -> None:
        if self.player is None:
            self.say("there is nothing to seek in: --replay plays a recording or a journal", "warn")
            return
        self._open("seek", units.clock(self.clock()))

    def action_filter(self) -> None:
        self._open("filter", self.navigation.here.filter.text)

    def action_command(self) -> None:
        names = list(self.worlds.names())
        self._open("command", "", prompting.offered(root.NAMES, sorted(self.available_themes), names))

    def action_save(self) -> None:
        self._open("save", saving.file_name(self.view, self.clock()))

    def _open(self, mode: Mode, text: str, offered: Sequence[str] = ()) -> None:
        self.screen_stack[0].add_class("asking")
        self.prompt.open(mode, text, offered)

    def action_do(self, what: str, *how: Any) -> None:
        """Call a method of `ActionController` by its name."""
        getattr(self.doing, what)(*how)

    # Messages of widgets.

    def on_grid_entered(self, message: Grid.Entered) -> None:
        view = self.view.enter(message.item)
        if view is not None:
            self.navigation.enter(view)
            self._arrive()

    def on_grid_folded(self, message: Grid.Folded) -> None:
        self.doing.fold(message.name)

    def on_grid_moved(self, message: Grid.Moved) -> None:
        self.navigation.here.row = self.grid.current_key
        self._ask()

    def on_grid_sort_asked(self, message: Grid.SortAsked) -> None:
        place = self.navigation.here
        if place.sort is not None and place.sort.key == message.key:
            self.doing.reverse()
        else:
            place.sort = Sort(message.key, is_figure(place.view.columns, message.key))
            self.redraw()

    async def on_lines_clicked(self, message: Lines.Clicked) -> None:
        if message.lines.id != "screens":
            return
        if self.navigation.depth == 1 and not self.view.tabs():
            self.action_screen(message.cell)
        elif message.cell == 0:
            await self.run_action("back")
        elif self.view.tabs():
            self.navigation.beside(self.view.tabs()[message.cell - 1])
            self._arrive()

    def on_prompt_typing(self, message: Prompt.Typing) -> None:
        if message.mode == "filter" and self.screen_stack[0].has_class("asking"):
            try:
                self.navigation.here.filter = Filter(message.text)
            except BadFilter:
                # The operator has typed only a part of the regular expression so far.
                return
            self.redraw()

    def on_prompt_ended(self, message: Prompt.Ended) -> None:
        self.screen_stack[0].remove_class("asking")
        self.prompt.display = False
        self.focus_rows()
        if message.mode == "filter" and message.text is None:
            self.navigation.here.filter = Filter()
        if message.mode == "command" and message.text:
            self.doing.typed(message.text)
        if message.mode == "seek" and message.text:
            self.doing.seek(message.text)
        if message.mode == "save" and message.text:
            # Save after the next refresh: the file must not show the prompt.
            name = message.text
            self.call_after_refresh(lambda: self.doing.save(name))
        self.redraw()

    def on_resize(self) -> None:
        self.call_after_refresh(self.redraw)
