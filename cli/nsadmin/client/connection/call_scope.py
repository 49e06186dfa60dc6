"""CallScope, a group of calls that end together: those of a client, or those of one task."""

from nsadmin.client.results import ClientClosed


class CallScope:
    """Ends its calls, the pending and the later ones, once it has ended itself.

    Attributes:
        end_reason: Why the calls end; None while they may go on.
    """

    def __init__(self, parent: "CallScope | None" = None) -> None:
        self._parent = parent
        self.end_reason: str | None = None

    def lies_within(self, other_scope: "CallScope") -> bool:
        """Return whether this scope ends with another one."""
        return self is other_scope or (self._parent is not None and self._parent.lies_within(other_scope))

    def find_end_reason(self) -> str | None:
        """Return why the calls end: the scope's own reason, else its parent's; None if they may go on."""
        if self.end_reason is not None or self._parent is None:
            return self.end_reason
        return self._parent.find_end_reason()

    def require_open(self) -> None:
        """Check that a call may begin."""
        end_reason = self.find_end_reason()
        if end_reason is not None:
            raise ClientClosed(end_reason)

    def require_unended(self) -> None:
        """Check that a pending call may go on."""
        end_reason = self.find_end_reason()
        if end_reason is not None:
            raise ClientClosed(f"{end_reason}; a change without an answer is possibly done")
