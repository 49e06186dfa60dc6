"""One operation with what both servers made of it, and the shape of an accepted difference."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.interop.differential.ledger import Ledger
from tests.interop.differential.operations import Op, Outcome
from tests.interop.differential.views import View


@dataclass
class Case:
    """One operation with both outcomes and their views; entries settle differences in the views."""

    op: Op
    java: Outcome
    ours: Outcome
    java_view: View
    our_view: View
    ledger: Ledger

    def code(self, view: View) -> int | None:
        response_code = view.get("code")
        return response_code if isinstance(response_code, int) else None

    @property
    def codes(self) -> tuple[int | None, int | None]:
        return self.code(self.java_view), self.code(self.our_view)

    def forget(self, *parts: str) -> None:
        """Take the parts out of the comparison."""
        for view in (self.java_view, self.our_view):
            for part in parts:
                view.pop(part, None)

    def forget_answers(self) -> None:
        self.java_view.clear()
        self.our_view.clear()


@dataclass(frozen=True)
class Tolerance:
    """One accepted difference; `settle` removes it from the views and nothing more."""

    name: str
    reason: str
    applies: Callable[[Case], bool]
    settle: Callable[[Case], None]
    ends_sequence: bool = False
