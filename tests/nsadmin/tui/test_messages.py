"""What threads tell the screen."""

from nsadmin.tui.messages import Failed, Polled, Rewound
from tests.support.screens import server


def test_messages_have_what_they_are_about() -> None:
    feed, poll, error = object(), server(), ValueError("x")
    polled = Polled([poll], feed)
    assert (polled.polls, polled.feed, Failed(error).error) == ([poll], feed, error)
    assert Rewound().control is None
