"""What threads tell the screen."""

from nsadmin.tui.app_messages import FeedFailed, PollsReceived, ReplayRewound
from tests.support.screens import make_server_poll


def test_messages_have_what_they_are_about() -> None:
    feed, poll, error = object(), make_server_poll(), ValueError("x")
    polled = PollsReceived([poll], feed)
    assert (polled.polls, polled.source_feed, FeedFailed(error).error) == ([poll], feed, error)
    assert ReplayRewound().control is None
