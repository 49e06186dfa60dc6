"""The Textual messages that polling threads post to the app."""

from collections.abc import Callable, Sequence

from textual.message import Message

from nsadmin.tui.polling.poll_records import AnyPoll


class PollsReceived(Message):
    """Polls from a thread of the poller. The app calls `mark_handled`; a replay thread waits for that."""

    def __init__(
        self, polls: Sequence[AnyPoll], source_feed: object, mark_handled: Callable[[], object] = lambda: None
    ) -> None:
        super().__init__()
        self.polls = polls
        self.source_feed = source_feed
        self.mark_handled = mark_handled


class FeedFailed(Message):
    """An unexpected exception in a polling thread. The thread restarts."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class ReplayRewound(Message):
    """The replay continues from another time. All polls that lead to that time follow."""
