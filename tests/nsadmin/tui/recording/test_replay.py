"""The same polls again: at a speed, standing still, from any moment."""

import threading
from collections.abc import Iterator, Sequence

from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll
from nsadmin.tui.recording.replay import REPLAY_SPEEDS, ReplayPlayer
from tests.support.name_servers import DEADLINE
from tests.support.screens import NOON, PollTape, make_broker_poll

POLLS = [make_broker_poll("10.0.1.1:10911", NOON + second * 1000) for second in range(0, 100, 10)]


class Timer:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def player(speed: float = 1.0) -> tuple[ReplayPlayer, Timer]:
    timer = Timer()
    return ReplayPlayer(PollTape(POLLS), speed, timer), timer


def test_time_goes_on_at_its_speed_and_not_beyond_the_end() -> None:
    replay, timer = player(10.0)
    timer.seconds = 2.5
    assert replay.now_ms() == NOON + 25_000
    replay.speed = 1.0
    timer.seconds = 3.5
    assert (replay.now_ms(), replay.speed) == (NOON + 26_000, 1.0)
    timer.seconds = 1000
    assert replay.now_ms() == replay.end == NOON + 90_000


def test_standing_still_and_going_elsewhere() -> None:
    replay, timer = player()
    replay.pause(True)
    timer.seconds = 50
    assert (replay.now_ms(), replay.is_paused) == (NOON, True)
    replay.seek(NOON + 40_500)
    replay.pause(False)
    timer.seconds = 51
    assert replay.now_ms() == NOON + 41_500
    replay.seek(0)
    assert replay.now_ms() == replay.begin
    replay.seek(NOON * 2)
    assert replay.now_ms() == replay.end


class Told:
    def __init__(self) -> None:
        self.polls: list[int] = []
        self.errors: list[str] = []
        self.rewound = 0

    def post(self, polls: Sequence[AnyPoll]) -> None:
        self.polls += [(poll.at - NOON) // 1000 for poll in polls]

    def failed(self, error: BaseException) -> None:
        self.errors.append(str(error))

    def rewind(self) -> None:
        self.rewound += 1
        self.polls.clear()


def test_each_poll_comes_once_and_all_anew_where_time_goes_back() -> None:
    replay, timer = player()
    feed_log = Told()
    replay.connect(feed_log.post, feed_log.rewind, feed_log.failed)
    timer.seconds = 25
    replay.play_due_polls()
    replay.play_due_polls()
    assert feed_log.polls == [0, 10, 20]
    replay.seek(NOON + 60_000)
    replay.play_due_polls()
    assert (feed_log.polls, feed_log.rewound) == ([0, 10, 20, 30, 40, 50, 60], 0)
    replay.seek(NOON + 15_000)
    replay.play_due_polls()
    assert (feed_log.polls, feed_log.rewound) == ([0, 10], 1)


def test_it_stands_in_for_a_feed() -> None:
    replay, timer = player(60.0)
    feed_log = Told()
    replay.connect(feed_log.post, feed_log.rewind, feed_log.failed)
    assert (replay.mode, replay.is_paused) == ("replay x60", False)
    replay.step_speed(1)
    assert replay.speed == 120.0
    for _ in REPLAY_SPEEDS:
        replay.step_speed(-1)
    assert replay.speed == 1.0
    replay.pause(True)
    assert replay.is_paused
    replay.pause(False)
    replay.ask([DetailQuery("groups")])
    replay.look_now()
    timer.seconds = 1000
    assert replay.mode == "replay ended"


def test_its_thread_plays_and_ends() -> None:
    replay = ReplayPlayer(PollTape(POLLS), 3600)
    came = threading.Event()
    replay.connect(lambda polls: came.set(), lambda: None, print)
    replay.start()
    assert came.wait(DEADLINE)
    replay.stop(DEADLINE)


def test_what_lies_far_ahead_is_reached_from_near_it() -> None:
    hours = [make_broker_poll("10.0.1.1:10911", NOON + hour * 3_600_000) for hour in range(24)]
    tape = PollTape(hours)
    replay, feed_log = ReplayPlayer(tape, 1.0, Timer()), Told()
    replay.connect(feed_log.post, feed_log.rewind, feed_log.failed)
    replay.play_due_polls()
    replay.seek(NOON + 3_600_000)
    replay.play_due_polls()
    assert (feed_log.rewound, tape.starts) == (0, [NOON])
    replay.seek(NOON + 20 * 3_600_000)
    replay.play_due_polls()
    assert (feed_log.rewound, tape.starts) == (1, [NOON, NOON + 20 * 3_600_000])


def test_a_tape_that_breaks_is_told_and_stands_still() -> None:
    class Broken(PollTape):
        def start(self, at: int) -> Iterator[AnyPoll]:
            yield self.polls[0]
            raise OSError("the disk is gone")

    feed_log, told_it = Told(), threading.Event()
    replay = ReplayPlayer(Broken(POLLS), 3600)
    replay.connect(feed_log.post, feed_log.rewind, lambda error: told_it.set())
    replay.start()
    assert told_it.wait(DEADLINE)
    replay.stop(DEADLINE)
