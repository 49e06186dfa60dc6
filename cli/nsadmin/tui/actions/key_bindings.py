"""The key bindings of the main screen. Preferences assign other keys by the id of a binding."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.tui.actions.row_actions import all_actions


class KeyBinding(NamedTuple):
    """`binding_id` is the name in preferences, `app_action` the Textual action.

    `footer_hint` is a short text for the last line of the screen, or "".
    """

    binding_id: str
    key_names: str
    app_action: str
    help_section: str
    help_text: str
    footer_hint: str = ""


def _describe_action_key(key: str) -> str:
    """The names of all actions that share a key."""
    names = (action.display_name for action in all_actions() if action.shortcut_key == key)
    return "; ".join(dict.fromkeys(names))


KEY_BINDINGS = (
    KeyBinding("help", "question_mark", "help", "Everywhere", "help for this screen, and all keys", "help"),
    KeyBinding("filter", "slash", "prompt('filter')", "Everywhere", "rows with TEXT, or !TEXT: without, "
    "or /REGEX/", "filter"),
    KeyBinding("nextProblem", "n", "run_key('nextProblem')", "Everywhere", "next row with a problem"),
    KeyBinding("previousProblem", "N", "run_key('previousProblem')", "Everywhere", "previous row with a "
    "problem"),
    KeyBinding("problemsOnly", "exclamation_mark", "run_key('problemsOnly')", "Everywhere", "only rows with "
    "problems, or all"),
    KeyBinding("showAll", "A", "run_key('showAll')", "Everywhere", "show or hide system and retry "
    "topics, and dead letters"),
    KeyBinding("details", "i", "run_key('details')", "Everywhere", "show or hide the details of the row, on "
    "160 columns and more"),
    KeyBinding("sort", "s", "run_key('sort')", "Everywhere", "sort by the next column", "sort"),
    KeyBinding("sortBack", "S", "run_key('sortBack')", "Everywhere", "sort by the previous column"),
    KeyBinding("reverse", "r", "run_key('reverse')", "Everywhere", "reverse the order"),
    KeyBinding("group", "b", "run_key('group')", "Everywhere", "group rows, such as brokers by cluster; "
    "or not"),
    KeyBinding("fold", "f", "run_key('fold')", "Everywhere", "fold or unfold this group, like Enter"),
    KeyBinding("foldAll", "F", "run_key('foldAll')", "Everywhere", "fold or unfold all groups"),
    KeyBinding("back", "escape", "back", "Everywhere", "back: clear the filter, then one level up", "back"),
    KeyBinding("before", "minus", "last", "Everywhere", "the previous view"),
    KeyBinding("nextTab", "tab", "tab(1)", "Everywhere", "the next tab"),
    KeyBinding("previousTab", "shift+tab", "tab(-1)", "Everywhere", "the previous tab"),
    KeyBinding("command", "colon", "prompt('command')", "Everywhere", "a screen, or any nsadmin "
    "command", "command"),
    KeyBinding("palette", "ctrl+p", "palette", "Everywhere", "find a screen, an object, a context or a "
    "command by a few letters", "find"),
    KeyBinding("messages", "v", "run_key('messages')", "Everywhere", "messages of this topic, queue or "
    "group; in a list of messages: search", "messages"),
    KeyBinding("moreMessages", "greater_than_sign", "run_key('moreMessages')", "Everywhere", "read more "
    "messages"),
    KeyBinding("copy", "y", "run_key('copy')", "Everywhere", "copy the row to the clipboard"),
    KeyBinding("save", "o", "prompt('save')", "Everywhere", "save the screen (.svg, .txt) or all "
    "rows (.csv)"),
    KeyBinding("context", "c", "run_key('context')", "Everywhere", "another context"),
    KeyBinding("views", "O", "open_saved_view", "Everywhere", "open a saved view"),
    KeyBinding("saveView", "V", "prompt('view')", "Everywhere", "save this screen as a view"),
    KeyBinding("columns", "C", "columns", "Everywhere", "choose the columns"),
    KeyBinding("theme", "T", "run_key('theme')", "Everywhere", "the next theme"),
    KeyBinding("edit", "e", "edit", "Changing", "edit a KV value, settings, a topic or a group in $EDITOR"),
    KeyBinding("mark", "m", "run_key('mark')", "Changing", "mark this row: actions change all marked rows"),
    KeyBinding("markAll", "M", "run_key('markAll')", "Changing", "mark all shown rows, or remove all marks"),
    KeyBinding("actions", "space", "run_key('actions')", "Changing", "actions for this row", "do"),
    *(
        KeyBinding(
            f"do-{shortcut_key}", shortcut_key, f"act('{shortcut_key}')", "Changing",
            _describe_action_key(shortcut_key),
        )
        for shortcut_key in dict.fromkeys(action.shortcut_key for action in all_actions())
    ),
    KeyBinding("stopDrain", "K", "run_key('stopDrain')", "Changing", "stop the process of a drain or "
    "restart"),
    KeyBinding("pause", "p", "pause", "Watching", "pause, and continue", "pause"),
    KeyBinding("slower", "plus", "run_key('slower')", "Watching", "a longer interval"),
    KeyBinding("faster", "underscore", "run_key('faster')", "Watching", "a shorter interval"),
    KeyBinding("log", "L", "log", "Watching", "errors and warnings"),
    KeyBinding("seekBack", "left_square_bracket", "run_key('seekBack')", "Replaying", "a minute back"),
    KeyBinding("seekOn", "right_square_bracket", "run_key('seekOn')", "Replaying", "a minute forward"),
    KeyBinding("seekFarBack", "left_curly_bracket", "run_key('seekFarBack')", "Replaying", "ten "
    "minutes back"),
    KeyBinding("seekFarOn", "right_curly_bracket", "run_key('seekFarOn')", "Replaying", "ten "
    "minutes forward"),
    KeyBinding("seekTo", "full_stop", "prompt('seek')", "Replaying", "to a time of day; + and _ "
    "change the speed"),
    KeyBinding("suspend", "ctrl+z", "suspend_process", "Leaving", "suspend; the shell command fg resumes"),
    KeyBinding("quit", "q,ctrl+c", "quit", "Leaving", "leave", "quit"),
)  # fmt: skip

GRID_KEYS = {
    "up": "up,k", "down": "down,j", "pageUp": "pageup,ctrl+b", "pageDown": "pagedown,ctrl+f",
    "first": "home,g", "last": "end,G", "columnsLeft": "left,h", "columnsRight": "right,l", "open": "enter",
}  # fmt: skip
"""The keys of the `Grid` widget by the ids of its bindings."""
GRID_BINDING_IDS = tuple(GRID_KEYS)
"""The ids of the bindings of the `Grid` widget, which preferences can change, too."""


def list_binding_ids() -> list[str]:
    return [binding.binding_id for binding in KEY_BINDINGS]


def list_taken_keys(own_keys: Mapping[str, str]) -> dict[str, str]:
    """The id of the binding by each key that is in use. `own_keys` replace the keys of bindings."""
    keys_by_id = {**{b.binding_id: b.key_names for b in KEY_BINDINGS}, **GRID_KEYS, **own_keys}
    return {key.strip(): binding for binding, keys in keys_by_id.items() for key in keys.split(",")}
