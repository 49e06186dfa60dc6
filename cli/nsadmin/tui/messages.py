"""Messages: what threads tell the screen."""

from collections.abc import Callable, Sequence

from textual.message import Message

from nsadmin.tui.polls import AnyPoll


class Polled(Message):
    """What the feed saw; from one of its threads, which may wait until it is `handled`."""

    def __init__(
        self, polls: Sequence[AnyPoll], feed: object, handled: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__()
        self.polls = polls
        self.feed = feed
        self.handled = handled


class Failed(Message):
    """A mistake in here, in one of the feed's threads, which goes on."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class Rewound(Message):
    """What is played goes on from an earlier moment: all comes anew."""
