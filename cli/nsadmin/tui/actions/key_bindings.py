"""The key bindings of the main screen. Preferences assign other keys by the id of a binding."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from nsadmin.tui.actions.row_actions import ALL_ACTIONS


class KeyBinding(NamedTuple):
    """`binding_id` is the name in preferences, `app_action` the Textual action.

    `footer_hint` is a short text for the last line of the screen, or "".
    """

    help_section: str
    binding_id: str
    key_names: str
    app_action: str
    help_text: str
    footer_hint: str = ""


def _list_action_keys() -> Iterator[tuple[str, ...]]:
    """A binding for each key of actions. Several actions share a key, and their names are its help."""
    names_by_key: dict[str, list[str]] = {}
    for action in ALL_ACTIONS:
        names_by_key.setdefault(action.shortcut_key, []).append(action.display_name)
    for key, names in names_by_key.items():
        yield f"do-{key}", key, f"do('row_actions.act_by_key', '{key}')", "; ".join(dict.fromkeys(names))


_BINDINGS_BY_SECTION: Mapping[str, Sequence[tuple[str, ...]]] = {
    "Everywhere": (
        ("help", "question_mark", "help", "help for this screen, and all keys", "help"),
        ("filter", "slash", "do('prompt_controller.open_prompt', 'filter')",
         "rows with TEXT, or !TEXT: without, or /REGEX/", "filter"),
        ("nextProblem", "n", "do('table.move_to_problem', 1)", "next row with a problem"),
        ("previousProblem", "N", "do('table.move_to_problem', -1)", "previous row with a problem"),
        ("problemsOnly", "exclamation_mark", "do('table.toggle_problems_only')",
         "only rows with problems, or all"),
        ("showAll", "A", "do('table.toggle_hidden_rows')",
         "show or hide system and retry topics, and dead letters"),
        ("details", "i", "do('table.toggle_details')",
         "show or hide the details of the row, on 160 columns and more"),
        ("sort", "s", "do('table.step_sort_column', 1)", "sort by the next column", "sort"),
        ("sortBack", "S", "do('table.step_sort_column', -1)", "sort by the previous column"),
        ("reverse", "r", "do('table.reverse_order')", "reverse the order"),
        ("group", "b", "do('table.toggle_grouping')", "group rows, such as brokers by cluster; or not"),
        ("fold", "f", "do('table.fold_group')", "fold or unfold this group, like Enter"),
        ("foldAll", "F", "do('table.fold_all_groups')", "fold or unfold all groups"),
        ("back", "escape", "back", "back: clear the filter, then one level up", "back"),
        ("before", "minus", "last", "the previous view"),
        ("nextTab", "tab", "tab(1)", "the next tab"),
        ("previousTab", "shift+tab", "tab(-1)", "the previous tab"),
        ("command", "colon", "do('prompt_controller.open_prompt', 'command')",
         "a screen, or any nsadmin command", "command"),
        ("palette", "ctrl+p", "palette",
         "find a screen, an object, a context or a command by a few letters", "find"),
        ("messages", "v", "do('messages.open_messages')",
         "messages of this topic, queue or group; in a list of messages: search", "messages"),
        ("moreMessages", "greater_than_sign", "do('messages.read_more')", "read more messages"),
        ("copy", "y", "do('action_controller.copy_row')", "copy the row to the clipboard"),
        ("save", "o", "do('prompt_controller.open_prompt', 'save')",
         "save the screen (.svg, .txt) or all rows (.csv)"),
        ("context", "c", "do('action_controller.choose_context')", "another context"),
        ("views", "O", "do('view_settings.open_view')", "open a saved view"),
        ("saveView", "V", "do('prompt_controller.open_prompt', 'view')", "save this screen as a view"),
        ("columns", "C", "do('view_settings.choose_columns')", "choose the columns"),
        ("theme", "T", "do('action_controller.use_theme')", "the next theme"),
    ),
    "Changing": (
        ("edit", "e", "edit", "edit a KV value, settings, a topic or a group in $EDITOR"),
        ("mark", "m", "do('table.toggle_mark')", "mark this row: actions change all marked rows"),
        ("markAll", "M", "do('table.toggle_all_marks')", "mark all shown rows, or remove all marks"),
        ("actions", "space", "do('row_actions.show_action_menu')", "actions for this row", "do"),
        *_list_action_keys(),
        ("stopDrain", "K", "do('action_controller.stop_drain')", "stop the process of a drain or restart"),
    ),
    "Watching": (
        ("pause", "p", "pause", "pause, and continue", "pause"),
        ("slower", "plus", "do('action_controller.step_interval', 1)", "a longer interval"),
        ("faster", "underscore", "do('action_controller.step_interval', -1)", "a shorter interval"),
        ("log", "L", "log", "errors and warnings"),
    ),
    "Replaying": (
        ("seekBack", "left_square_bracket", "do('action_controller.seek_moment', '-60')", "a minute back"),
        ("seekOn", "right_square_bracket", "do('action_controller.seek_moment', '+60')", "a minute forward"),
        ("seekFarBack", "left_curly_bracket", "do('action_controller.seek_moment', '-600')",
         "ten minutes back"),
        ("seekFarOn", "right_curly_bracket", "do('action_controller.seek_moment', '+600')",
         "ten minutes forward"),
        ("seekTo", "full_stop", "do('prompt_controller.open_prompt', 'seek')",
         "to a time of day; + and _ change the speed"),
    ),
    "Leaving": (
        ("suspend", "ctrl+z", "suspend_process", "suspend; the shell command fg resumes"),
        ("quit", "q,ctrl+c", "quit", "leave", "quit"),
    ),
}  # fmt: skip
KEY_BINDINGS = tuple(
    KeyBinding(section, *row) for section, rows in _BINDINGS_BY_SECTION.items() for row in rows
)

GRID_BINDINGS = {
    "up": ("up,k", "move(-1)"), "down": ("down,j", "move(1)"), "pageUp": ("pageup,ctrl+b", "page(-1)"),
    "pageDown": ("pagedown,ctrl+f", "page(1)"), "first": ("home,g", "edge(-1)"),
    "last": ("end,G", "edge(1)"), "columnsLeft": ("left,h", "aside(-1)"),
    "columnsRight": ("right,l", "aside(1)"), "open": ("enter", "enter"),
}  # fmt: skip
"""The keys and the actions of the `Grid` widget, by the ids of its bindings, for preferences, too."""


def list_binding_ids() -> list[str]:
    """The ids of all bindings that preferences can change."""
    return [*(binding.binding_id for binding in KEY_BINDINGS), *GRID_BINDINGS]


def list_taken_keys(own_keys: Mapping[str, str]) -> dict[str, str]:
    """The id of the binding by each key that is in use. `own_keys` replace the keys of bindings."""
    grid_keys = {binding_id: keys for binding_id, (keys, _) in GRID_BINDINGS.items()}
    keys_by_id = {**{b.binding_id: b.key_names for b in KEY_BINDINGS}, **grid_keys, **own_keys}
    return {key.strip(): binding for binding, keys in keys_by_id.items() for key in keys.split(",")}
