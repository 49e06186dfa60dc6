"""The navigation between views: the stack of open views and the state of each. Pure."""

from collections.abc import Callable

from nsadmin.tui.views.base_view import View
from nsadmin.tui.views.table import RowFilter, SortOrder


class ViewState:
    """A view with its cursor row, filter, sort order, grouping, and folded groups.

    `shows_problems_only` leaves only rows with a problem. `shows_hidden` adds the rows that the view hides.
    `marked_keys` are the rows that the next action changes together. `chosen_columns` are the keys of the
    columns that the operator chose; None for all.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self.row_key: str | None = None
        self.row_filter = RowFilter()
        self.sort_order: SortOrder | None = view.default_sort
        self.is_grouped = False
        self.folded_groups: set[str] = set()
        self.shows_problems_only = False
        self.shows_hidden = False
        self.marked_keys: set[str] = set()
        self.chosen_columns: tuple[str, ...] | None = None


class ViewNavigation:
    """A stack of views. Enter pushes one, Esc pops it, and a number key starts a new stack.

    The key `-` calls `swap_with_previous`. `prepare_state` restores what is remembered of a new view.
    """

    def __init__(
        self, home_view: View, prepare_state: Callable[[ViewState], None] = lambda state: None
    ) -> None:
        self._prepare_state = prepare_state
        self._state_stack = [self._create_state(home_view)]
        self._previous_stack: list[ViewState] | None = None
        self._root_states: dict[str, ViewState] = {home_view.name: self._state_stack[0]}

    def _create_state(self, view: View) -> ViewState:
        state = ViewState(view)
        self._prepare_state(state)
        return state

    @property
    def current_state(self) -> ViewState:
        return self._state_stack[-1]

    @property
    def stack_depth(self) -> int:
        return len(self._state_stack)

    @property
    def title_path(self) -> list[str]:
        return [state.view.title for state in self._state_stack]

    def push_view(self, view: View) -> None:
        self._previous_stack = list(self._state_stack)
        self._state_stack.append(self._create_state(view))

    def open_root_view(self, view: View) -> None:
        """Open the view of a number key in the state in which the operator left it."""
        if self.stack_depth == 1 and self.current_state.view == view:
            return
        self._previous_stack = list(self._state_stack)
        known = self._root_states.get(view.name)
        state = known if known is not None and known.view == view else self._create_state(view)
        self._root_states[view.name] = state
        self._state_stack = [state]

    def replace_view(self, view: View) -> None:
        """Show another tab of the same object."""
        self._state_stack[-1] = self._create_state(view)

    def pop_view(self) -> bool:
        """Close the current view. Returns False for the root view, which stays open."""
        if self.stack_depth == 1:
            return False
        self._previous_stack = list(self._state_stack)
        self._state_stack.pop()
        return True

    def swap_with_previous(self) -> bool:
        """Show the previous view. A second call returns to the current one."""
        if self._previous_stack is None:
            return False
        self._state_stack, self._previous_stack = self._previous_stack, list(self._state_stack)
        return True
