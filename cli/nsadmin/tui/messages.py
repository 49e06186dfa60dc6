"""The Textual messages that polling threads post to the app."""

from collections.abc import Callable, Sequence

from textual.message import Message

from nsadmin.tui.polls import AnyPoll


class Polled(Message):
    """Polls from a thread of the poller. The app calls `mark_handled`; a replay thread waits for that."""

    def __init__(
        self, polls: Sequence[AnyPoll], feed: object, handled: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__()
        self.polls = polls
        self.feed = feed
        self.handled = handled


class Failed(Message):
    """An unexpected exception in a polling thread. The thread restarts."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Rewound(Message):
    """The replay continues from another time. All polls that lead to that time follow."""
