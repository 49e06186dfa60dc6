"""The navigation between views: the stack of open views and the state of each. Pure."""

from nsadmin.tui.views.table import Filter, Sort
from nsadmin.tui.views.view import View


class Place:
    """A view with its cursor row, filter, sort order, grouping, and folded groups."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.row: str | None = None
        self.filter = Filter()
        self.sort: Sort | None = view.sort
        self.is_grouped = False
        self.folded: set[str] = set()


class Navigation:
    """A stack of views. Enter pushes one, Esc pops it, and a number key starts a new stack.

    The key `-` calls `swap_with_previous`.
    """

    def __init__(self, home: View) -> None:
        self._stack = [Place(home)]
        self._before: list[Place] | None = None
        self._roots: dict[str, Place] = {home.name: self._stack[0]}

    @property
    def here(self) -> Place:
        return self._stack[-1]

    @property
    def depth(self) -> int:
        return len(self._stack)

    @property
    def path(self) -> list[str]:
        """The titles of all views on the stack."""
        return [place.view.title for place in self._stack]

    @property
    def root(self) -> View:
        return self._stack[0].view

    def enter(self, view: View) -> None:
        """Open a view on top of the current one."""
        self._before = list(self._stack)
        self._stack.append(Place(view))

    def go(self, view: View) -> None:
        """Open the view of a number key in the state in which the operator left it."""
        if self.depth == 1 and self.here.view == view:
            return
        self._before = list(self._stack)
        known = self._roots.get(view.name)
        place = known if known is not None and known.view == view else Place(view)
        self._roots[view.name] = place
        self._stack = [place]

    def beside(self, view: View) -> None:
        """Show another tab of the same object."""
        self._stack[-1] = Place(view)

    def back(self) -> bool:
        """Close the current view. Returns False for the root view, which stays open."""
        if self.depth == 1:
            return False
        self._before = list(self._stack)
        self._stack.pop()
        return True

    def last(self) -> bool:
        """Show the previous view. A second call returns to the current one."""
        if self._before is None:
            return False
        self._stack, self._before = self._before, list(self._stack)
        return True
