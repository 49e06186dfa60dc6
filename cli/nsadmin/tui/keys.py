"""The key bindings of the main screen. Preferences assign other keys by the id of a binding."""

from typing import NamedTuple

from nsadmin.tui.actions import all_actions


class Key(NamedTuple):
    """`binding_id` is the name in preferences, `app_action` the Textual action.

    `footer_hint` is a short text for the last line of the screen, or "".
    """

    id: str
    keys: str
    action: str
    group: str
    help: str
    hint: str = ""


def _named(key: str) -> str:
    """The names of all actions that share a key."""
    return "; ".join(dict.fromkeys(each.name for each in all_actions() if each.key == key))


KEYS = (
    Key("help", "question_mark", "help", "Everywhere", "what this screen shows, and every key", "help"),
    Key("filter", "slash", "filter", "Everywhere", "rows with TEXT, without: !TEXT, by: /REGEX/", "filter"),
    Key("sort", "s", "do('sort', 1)", "Everywhere", "sort by the next column", "sort"),
    Key("sortBack", "S", "do('sort', -1)", "Everywhere", "sort by the column before"),
    Key("reverse", "r", "do('reverse')", "Everywhere", "turn the order round"),
    Key("group", "b", "do('group')", "Everywhere", "put rows under headings: brokers by cluster; or not"),
    Key("fold", "f", "do('fold')", "Everywhere", "hide or show the rows of this group; so does Enter"),
    Key("foldAll", "F", "do('fold_all')", "Everywhere", "headings alone, or everything again"),
    Key("back", "escape", "back", "Everywhere", "back: out of a filter, then one step up", "back"),
    Key("before", "minus", "last", "Everywhere", "the view before this one"),
    Key("nextTab", "tab", "tab(1)", "Everywhere", "the next tab of what one looks at"),
    Key("previousTab", "shift+tab", "tab(-1)", "Everywhere", "the tab before"),
    Key("command", "colon", "command", "Everywhere", "a screen, or any command of nsadmin", "command"),
    Key("copy", "y", "do('copy')", "Everywhere", "copy the row to the clipboard"),
    Key("save", "o", "save", "Everywhere", "save the screen (.svg, .txt) or all rows (.csv)"),
    Key("context", "c", "do('context')", "Everywhere", "another context"),
    Key("theme", "T", "do('theme')", "Everywhere", "the next theme"),
    Key("actions", "space", "do('menu')", "Changing", "what can be done to this row", "do"),
    *(
        Key(f"do-{key}", key, f"do('act_by_key', '{key}')", "Changing", _named(key))
        for key in dict.fromkeys(action.key for action in all_actions())
    ),
    Key("pause", "p", "pause", "Watching", "stand still, and go on", "pause"),
    Key("slower", "plus", "do('interval', 1)", "Watching", "a longer interval"),
    Key("faster", "underscore", "do('interval', -1)", "Watching", "a shorter interval"),
    Key("log", "L", "log", "Watching", "what went wrong so far"),
    Key("seekBack", "left_square_bracket", "do('seek', '-60')", "Replaying", "a minute back"),
    Key("seekOn", "right_square_bracket", "do('seek', '+60')", "Replaying", "a minute on"),
    Key("seekFarBack", "left_curly_bracket", "do('seek', '-600')", "Replaying", "ten minutes back"),
    Key("seekFarOn", "right_curly_bracket", "do('seek', '+600')", "Replaying", "ten minutes on"),
    Key("seekTo", "full_stop", "seek_to", "Replaying", "to a time of day; + and _ change the speed"),
    Key("quit", "q,ctrl+c", "quit", "Leaving", "leave", "quit"),
)  # fmt: skip

OF_ROWS = (
    "up", "down", "pageUp", "pageDown", "first", "last", "columnsLeft", "columnsRight", "open",
)  # fmt: skip
"""The ids of the bindings of the `Grid` widget, which preferences can change, too."""


def names() -> list[str]:
    """The ids of all bindings above, as preferences use them."""
    return [key.id for key in KEYS]
