"""The screen in tests: driven by Pilot, fed by hand, compared as text."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from textual.pilot import Pilot
from textual.widgets import Log

from namesrv_core.protocol.stored_messages import decode_messages
from nsadmin.client import AdminClient
from nsadmin.tui.app import Tui
from nsadmin.tui.context import AvailableContexts, ClusterContext
from nsadmin.tui.messages.message_lines import preview_body
from nsadmin.tui.messages.message_query import BrowsedMessage, MessageQuery
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, BrokerGroupListing, BrokerPolled, NameServerPolled
from nsadmin.tui.screens.screen_text import screen_to_text
from nsadmin.tui.views.base_view import CellLine
from tests.support.messages import encode_message

P = ParamSpec("P")

GOLDEN = Path(__file__).parents[1] / "golden" / "tui"
NOON = 1_767_182_400_000


def run_screen_test(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that drives a screen, in UTC, on a loop of its own."""

    @wraps(test)
    def run_it(*args: P.args, **kwargs: P.kwargs) -> None:
        zone = os.environ.get("TZ")
        os.environ["TZ"] = "UTC"
        time.tzset()
        try:
            asyncio.run(asyncio.wait_for(test(*args, **kwargs), 60))
        finally:
            if zone is None:
                del os.environ["TZ"]
            else:
                os.environ["TZ"] = zone
            time.tzset()

    return run_it


class StillFeed:
    """Looks at nothing; remembers what it was told."""

    mode = "live"

    def __init__(self, context: ClusterContext, interval: float, post: Any, failed: Any, clock: Any) -> None:
        self.context = context
        self.interval = interval
        self.failed = failed
        self.asked: tuple[DetailQuery, ...] = ()
        self.message_query: MessageQuery | None = None
        self.is_paused = False
        self.is_running = False
        self.looks = 0

    def start(self) -> None:
        self.is_running = True

    def stop(self) -> None:
        self.is_running = False

    def pause(self, is_paused: bool) -> None:
        self.is_paused = is_paused

    def look_now(self) -> None:
        self.looks += 1

    def ask(self, questions: Iterable[DetailQuery]) -> None:
        self.asked = tuple(questions)

    def follow_messages(self, message_query: MessageQuery | None) -> None:
        self.message_query = message_query


def refuse_client(addrs: Sequence[str], timeout: float | None, watch: object) -> AdminClient:
    raise AssertionError("a still feed asks nobody")


def make_context(**changes: Any) -> ClusterContext:
    return ClusterContext("lab", ("10.0.0.1:9876", "10.0.0.2:9876", "10.0.0.3:9876"), refuse_client)._replace(
        **changes
    )


class Clock:
    """What time it is, in ms."""

    def __init__(self, now: int = NOON) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class PollTape:
    """A tape of polls that are at hand; remembers from where it was started."""

    def __init__(self, polls: Sequence[AnyPoll]) -> None:
        self.polls = polls
        self.begin, self.end = polls[0].at, polls[-1].at
        self.starts: list[int] = []

    def start(self, at: int) -> Iterator[AnyPoll]:
        self.starts.append(at)
        return iter(self.polls)


def make_still_tui(
    contexts: AvailableContexts | ClusterContext | None = None, clock: Clock | None = None, **options: Any
) -> Tui:
    """A screen that nobody feeds but the test."""
    if not isinstance(contexts, AvailableContexts):
        contexts = AvailableContexts(contexts or make_context())
    return Tui(contexts, clock=clock or Clock(), feed_factory=StillFeed, **options)


async def feed_polls(app: Tui, pilot: Any, polls: Iterable[AnyPoll]) -> None:
    """Polls, and the screen drawn anew."""
    app.call_later(app.receive_polls, list(polls), app.feed)
    await pilot.pause()
    app.redraw_screen()
    await pilot.pause()


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Press these keys, and wait for what they open."""
    await pilot.press(*keys)
    await pilot.pause()


async def until_shown(app: Tui, pilot: Any, text: str) -> str:
    """Wait until the screen shows this; all that it shows."""
    for _ in range(400):
        if text in (shown := screen_to_text(app)):
            return shown
        await pilot.pause(0.05)
    raise AssertionError(screen_to_text(app))


async def until_said(app: Tui, pilot: Any, text: str) -> str:
    """Wait until the command on the screen has said this; all that it said."""
    for _ in range(400):
        said = "\n".join(line for log in app.screen.query(Log) for line in log.lines)
        if text in said:
            return said
        await pilot.pause(0.05)
    raise AssertionError(f"{text!r} was not said")


@asynccontextmanager
async def open_screen(
    app: Tui, polls: Iterable[AnyPoll] = (), size: tuple[int, int] = (80, 24)
) -> AsyncIterator[tuple[Tui, Pilot[None]]]:
    """The running app, after these polls."""
    async with app.run_test(size=size) as pilot:
        if polls:
            await feed_polls(app, pilot, polls)
        yield app, pilot


def make_model(*polls: AnyPoll) -> ClusterModel:
    """What a screen knows after these polls."""
    model = ClusterModel()
    for poll in polls:
        model.apply_poll(poll)
    return model


def join_cells(line: CellLine) -> str:
    return "".join(cell.text for cell in line)


def join_lines(lines: Iterable[CellLine]) -> str:
    """The text of a drawing, without trailing blanks."""
    return "\n".join(join_cells(line).rstrip() for line in lines)


def list_row_keys(app: Tui) -> list[str]:
    """The keys of the rows, in order."""
    return [app.current_view.row_key(row) for row in app.row_grid.rows]


def compare_golden(app: Tui, name: str) -> None:
    """The screen is as the file has it; with UPDATE_GOLDEN=1 it is written instead."""
    path, text = GOLDEN / f"{name}.txt", screen_to_text(app)
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8")


TABLE = {
    "putTps": "100.0 90.0 80.0",
    "getTransferredTps": "200.0 1 1",
    "brokerActive": "true",
    "brokerVersionDesc": "V5_5_0",
    "bootTimestamp": str(NOON - 3_600_000),
    "commitLogDiskRatio": "0.5",
    "commitLogMaxOffset": "1000000000",
    "putMessageAverageSize": "1000.0",
    "sendThreadPoolQueueHeadWaitTimeMills": "0",
    "dispatchBehindBytes": "0",
    "msgPutTotalTodayNow": "5000",
    "msgPutTotalTodayMorning": "1000",
}


def make_broker_poll(addr: str, at: int = NOON, **figures: str) -> BrokerPolled:
    """A broker that answers."""
    return BrokerPolled(at, addr, 1.0, {**TABLE, **figures})


def make_silent_broker(addr: str, at: int = NOON, kind: str = "timeout") -> BrokerPolled:
    return BrokerPolled(at, addr, 1000.0, None, "no answer within 1 s", kind)


def make_server_poll(
    addr: str = "10.0.0.1:9876",
    at: int = NOON,
    groups: dict[str, dict[int, str]] | None = None,
    **more: Any,
) -> NameServerPolled:
    """A name server that answers: broker names and their addresses, all of cluster-a."""
    known = {"broker-a": {0: "10.0.1.1:10911"}} if groups is None else groups
    defaults: dict[str, Any] = {
        "topics": ("orders", "payments"),
        "settings": {},
        "kv": {"ORDER_TOPIC_CONFIG": {}},
        "perms": dict.fromkeys(known, 6),
    }
    return NameServerPolled(
        at, addr, 1.0, None, {name: BrokerGroupListing("cluster-a", addrs) for name, addrs in known.items()},
        **{**defaults, **more},
    )  # fmt: skip


def make_browsed_message(
    body: bytes = b"hello",
    topic: str = "T",
    *,
    broker_name: str = "broker-a",
    queue_id: int = 0,
    offset: int = 0,
    at: int = NOON,
    **properties: str,
) -> BrowsedMessage:
    """A message as the screen keeps it."""
    [message] = decode_messages(
        encode_message(body, topic, table=properties, queue_id=queue_id, queue_offset=offset, stored=at,
               physical=1000 * offset)
    ).messages  # fmt: skip
    return BrowsedMessage(broker_name, message, len(body), preview_body(body))
