"""The controller behind keys and the prompt: runs commands and actions, changes contexts, and saves files."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsadmin.tui import actions, prompting, saving, units
from nsadmin.tui.actions import Action
from nsadmin.tui.picture import text_of
from nsadmin.tui.views import root
from nsadmin.tui.views.grouping import Heading
from nsadmin.tui.views.table import Sort, is_figure
from nsadmin.tui.views.view import About
from nsadmin.tui.world import World

if TYPE_CHECKING:
    from nsadmin.tui.app import Tui

INTERVALS = (1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0)


class Doing:
    """Controls one app. It shows results and errors in the last line of the screen."""

    def __init__(self, app: "Tui") -> None:
        self._app = app

    # Commands.

    def typed(self, line: str) -> None:
        """Run a line that the operator typed after the colon."""
        app, found = self._app, prompting.read(line, root.NAMES)
        if found.error is not None:
            app.say(found.error, "bad")
        elif found.screen is not None:
            app.show(root.make(found.screen))
        elif found.own is not None:
            self._own(found.own, found.argument)
        elif found.words:
            self.run(found.words)

    def _own(self, word: str, argument: str | None) -> None:
        app = self._app
        if word == "theme":
            self.theme(argument)
        elif word == "context":
            self.context(argument)
        else:

            async def act() -> Any:
                await app.run_action(word)

            app.run_worker(act)

    def run(self, words: Sequence[str]) -> None:
        """Run a command line of nsadmin. A command that changes something needs a confirmation first."""
        from nsadmin.tui.screens.output import ChangeScreen, OutputScreen

        app = self._app
        refusal = actions.refusal(words, app.world.read_only)
        entry = actions.entry_of(words)
        if refusal is not None or entry is None:
            app.say(refusal or "", "bad")
        elif actions.changes(words):
            app.push_screen(ChangeScreen(words, app.world.words, entry.name), self._changed)
        else:
            app.push_screen(OutputScreen(words, app.world.words))

    def _changed(self, code: int | None) -> None:
        """Poll at once, so that the screen shows the change before the next interval."""
        self._app.feed.look_now()

    # Actions on the row.

    def act(self, action_id: str) -> None:
        about = self._about()
        found = next((each for each in actions.suiting(about) if each.id == action_id), None)
        if found is None:
            names = [each.name for each in actions.all_actions() if each.id == action_id]
            self._app.say(f"{names[0] if names else action_id}: not for this row", "warn")
            return
        self._begin(found, about)

    def act_by_key(self, key: str) -> None:
        """Start the action of a key. Several actions share a key and apply to different kinds of rows."""
        about = self._about()
        found = next((each for each in actions.suiting(about) if each.key == key), None)
        if found is not None:
            self._begin(found, about)
        elif any(each.key == key for each in actions.all_actions()):
            self._app.say("not for this row; Space shows what can be done to it", "warn")

    def menu(self) -> None:
        """Show the actions that apply to this row."""
        found = actions.suiting(self._about())
        if not found:
            self._app.say("nothing can be done to this row", "warn")
            return
        from nsadmin.tui.screens.asking import ChooseScreen

        choices = [(each.id, f"{each.key}  {each.name:<14} {each.help}") for each in found]
        letters = {each.key: each.id for each in found}
        self._app.push_screen(ChooseScreen("What to do", choices, letters=letters), self._chosen)

    def _chosen(self, action_id: str | None) -> None:
        if action_id is not None:
            self.act(action_id)

    def _about(self) -> About:
        app = self._app
        current = app.grid.current
        about = app.view.about(current) if current is not None or app.view.is_drawing else About()
        clusters = {broker.cluster for broker in app.model.brokers.values()}
        if about.cluster is None and len(clusters) == 1:
            about = about._replace(cluster=next(iter(clusters)))
        return about

    def _begin(self, action: Action, about: About) -> None:
        app = self._app
        if app.world.read_only:
            app.say(f"{action.name}: this is read-only", "bad")
            return
        if not action.fields:
            self._look(action, about, {})
            return
        from nsadmin.tui.screens.asking import FieldsScreen

        fields = [(field.name, field.now(about)) for field in action.fields]
        app.push_screen(
            FieldsScreen(f"{action.name}: {action.target(about)}", fields),
            lambda texts: None if texts is None else self._look(action, about, texts),
        )

    def _look(self, action: Action, about: About, texts: dict[str, str]) -> None:
        from nsadmin.tui.screens.output import ChangeScreen

        app = self._app
        words = action.words(about, texts)
        app.push_screen(ChangeScreen(words, app.world.words, action.target(about)), self._changed)

    # The order of rows.

    def sort(self, step: int) -> None:
        """Sort by the next column that has a title. After the last column, use the view's own order."""
        place, columns = self._app.navigation.here, self._app.view.columns
        keys: list[str | None] = [None, *dict.fromkeys(column.key for column in columns if column.title)]
        at = keys.index(place.sort.key if place.sort else None)
        key = keys[(at + step) % len(keys)]
        place.sort = None if key is None else Sort(key, is_figure(columns, key))
        self._app.redraw()

    def reverse(self) -> None:
        """Reverse the sort order."""
        place = self._app.navigation.here
        if place.sort is not None:
            place.sort = place.sort._replace(descending=not place.sort.descending)
            self._app.redraw()

    def group(self) -> None:
        """Group the rows under headings, or stop grouping them."""
        place, app = self._app.navigation.here, self._app
        if place.view.grouping is None:
            app.say("these rows have nothing to be grouped by", "warn")
            return
        place.is_grouped = not place.is_grouped
        app.redraw()

    def fold(self, name: str | None = None) -> None:
        """Hide or show the rows of a group. Without a name, take the group of the row at the cursor."""
        place, grid = self._app.navigation.here, self._app.grid
        if not place.is_grouped or grid.chosen is None:
            self.group()
            return
        name = name or self._group_of(grid.chosen)
        place.folded ^= {name}
        if name in place.folded:
            grid.choose(name)
        self._app.redraw()

    def _group_of(self, row: Any) -> str:
        if isinstance(row, Heading):
            return row.name
        view = self._app.view
        return next(column for column in view.columns if column.key == view.grouping).cell(row).text

    def fold_all(self) -> None:
        """Hide the rows of all groups, or show all of them again."""
        place, app = self._app.navigation.here, self._app
        if not place.is_grouped:
            self.group()
        if place.is_grouped:
            names = {self._group_of(item) for item in app.painting.found}
            place.folded = set() if names <= place.folded else names
            app.redraw()

    # The poll interval.

    def interval(self, step: int) -> None:
        """Use the next longer or shorter interval. In a replay, change the speed instead."""
        app = self._app
        if app.player is not None:
            app.feed.faster(-step)
        else:
            at = min(range(len(INTERVALS)), key=lambda at: abs(INTERVALS[at] - app.interval))
            app.interval = app.feed.interval = INTERVALS[max(0, min(at + step, len(INTERVALS) - 1))]
        app.redraw()

    # Contexts and themes.

    def context(self, name: str | None = None) -> None:
        """Open the context of this name. Without a name, let the operator choose from a list."""
        app = self._app
        if name is not None:
            app.run_worker(lambda: self._find(name), thread=True)
            return
        names = list(app.worlds.names())
        if not names:
            app.say("there are no contexts: nsadmin contextSet NAME -n HOST:PORT makes one", "warn")
            return
        from nsadmin.tui.screens.asking import ChooseScreen

        app.push_screen(
            ChooseScreen("Contexts", [(each, each) for each in names], app.world.label),
            self._chosen_context,
        )

    def _chosen_context(self, name: str | None) -> None:
        if name is not None:
            self.context(name)

    def _find(self, name: str) -> None:
        """Load a context in a thread, because it may have to ask an address server."""
        app = self._app
        assert app.worlds.enter is not None
        try:
            world: World = app.worlds.enter(name)
        except Exception as error:
            app.call_from_thread(app.say, str(error), "bad")
            return
        app.call_from_thread(app.enter_world, world)

    def theme(self, name: str | None = None) -> None:
        """Use the theme of this name, or the next one in the alphabet."""
        app = self._app
        names = sorted(app.available_themes)
        if name is None:
            name = names[(names.index(app.theme) + 1) % len(names)]
        if name not in names:
            app.say(f"no theme {name!r}; there are: {', '.join(names)}", "bad")
            return
        app.theme = name
        app.redraw()
        app.say(f"theme {name}")

    # Seeking in a replay.

    def seek(self, text: str) -> None:
        """Go to a time of day, or forward or back by a number of seconds such as +60."""
        app, player = self._app, self._app.player
        if player is None:
            app.say("there is nothing to seek in: --replay plays a recording or a journal", "warn")
            return
        at = moment(text, app.clock(), player.begin, player.end)
        if at is None:
            app.say(f"{text} is no moment: type HH:MM:SS, +60 or -60", "bad")
            return
        app.feed.seek(at)
        app.say(f"at {units.moment(at)}")

    # Copies and files.

    def copy(self) -> None:
        app = self._app
        if app.view.is_drawing:
            text = text_of(app)
        elif app.grid.current is None:
            return
        else:
            text = saving.row_text(app.view, app.grid.current)
        app.copy_to_clipboard(text)
        app.say("copied, if the terminal lets programs do that")

    def save(self, name: str) -> None:
        """Save the screen or its rows. The suffix of the file name chooses the format."""
        app, path = self._app, Path(name).expanduser()
        texts: dict[str, Any] = {
            ".svg": lambda: app.export_screenshot(title=f"nsadmin {app.world.label}"),
            ".txt": lambda: text_of(app),
            ".csv": lambda: saving.to_csv(app.view, app.painting.found),
        }
        if path.suffix not in texts:
            app.say(f"{name} was not saved: end it in {', '.join(saving.FORMATS)}", "bad")
            return
        try:
            path.write_text(texts[path.suffix](), "utf-8")
        except OSError as error:
            app.say(f"{name} was not saved: {error.strerror}", "bad")
            return
        app.say(f"saved {path}")


def moment(text: str, now: int, begin: int, end: int) -> int | None:
    """Parse a time (ms since 1970). A time of day means its first occurrence in the replay."""
    text = text.strip()
    if text[:1] in ("+", "-"):
        return now + int(text) * 1000 if text[1:].isdecimal() else None
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part.isdecimal() for part in parts):
        return None
    hours, minutes, seconds = (*map(int, parts), 0)[:3]
    day = datetime.fromtimestamp(begin / 1000).replace(hour=0, minute=0, second=0, microsecond=0)
    at = day + timedelta(hours=hours, minutes=minutes, seconds=seconds)
    found = int(at.timestamp() * 1000)
    return found + 86_400_000 if found + 86_400_000 <= end and found < begin else found
