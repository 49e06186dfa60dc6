"""Navigation: which view one is at, which one came from, and what was chosen in each. Pure."""

from nsadmin.tui.views.table import Filter, Sort
from nsadmin.tui.views.view import View


class Place:
    """A view as one left it: row, filter, order, whether rows are grouped, and which groups are folded."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.row: str | None = None
        self.filter = Filter()
        self.sort: Sort | None = view.sort
        self.is_grouped = False
        self.folded: set[str] = set()


class Navigation:
    """A stack of places: Enter adds one, Esc takes it away; a number key begins anew. `last` is for `-`."""

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
        """The titles on the way here."""
        return [place.view.title for place in self._stack]

    @property
    def root(self) -> View:
        return self._stack[0].view

    def enter(self, view: View) -> None:
        """Deeper."""
        self._before = list(self._stack)
        self._stack.append(Place(view))

    def go(self, view: View) -> None:
        """To one of the screens that numbers stand for, as it was left."""
        if self.depth == 1 and self.here.view == view:
            return
        self._before = list(self._stack)
        known = self._roots.get(view.name)
        place = known if known is not None and known.view == view else Place(view)
        self._roots[view.name] = place
        self._stack = [place]

    def beside(self, view: View) -> None:
        """Another tab of the same thing."""
        self._stack[-1] = Place(view)

    def back(self) -> bool:
        """One step up; False at the root."""
        if self.depth == 1:
            return False
        self._before = list(self._stack)
        self._stack.pop()
        return True

    def last(self) -> bool:
        """Where one was before; again, and one is here."""
        if self._before is None:
            return False
        self._stack, self._before = self._before, list(self._stack)
        return True
