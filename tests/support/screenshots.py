"""Draws the pictures of docs/how-to/use-the-tui.md (`make screenshots`).

They are drawn from a recording of a lab in which things went wrong, so that they are the same everywhere;
`python -m tests.support.screenshots record` makes another recording.
"""

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from namesrv_core.fleet.fleet import FleetPlan
from nsadmin.tui.context import AvailableContexts
from nsadmin.tui.messages.message_query import MessageQuery
from nsadmin.tui.polling.detail_queries import DetailQuery
from nsadmin.tui.polling.poll_records import AnyPoll, MessagesPolled
from nsadmin.tui.preferences import Preferences
from nsadmin.tui.recording.recording_file import PollRecorder, Recording
from tests.support.playground import NOON, Playground, start_playground
from tests.support.screens import (
    GOLDEN,
    Clock,
    feed_polls,
    make_browsed_message,
    make_context,
    make_still_tui,
)

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "tui"
RECORDING = GOLDEN / "incident.zst"
PLAN = FleetPlan(clusters=2, groups=4, replicas=2, topics=40)
SIZE = (120, 30)
ORDERS = ("orders", "orders-cancelled", "orders-history", "orders-settled", "orders-updated")

STORIES: dict[str, tuple[tuple[str, ...], str]] = {
    "brokers": (("down", "down"), "nsadmin-dark"),
    "clusters": (("b", "f", "down", "down"), "nsadmin-dark"),
    "topics": (("2", "slash", *"orders", "enter"), "nsadmin-dark"),
    "route": (("2", "slash", *"orders", "enter", "enter", "tab", "tab"), "nsadmin-dark"),
    "messages": (("2", "slash", *"orders", "enter", "v"), "nsadmin-dark"),
    "groups": (("3",), "nsadmin-dark"),
    "matrix": (("4", "tab"), "nsadmin-dark"),
    "events": (("6",), "nsadmin-light"),
}
"""What is typed for each picture, and its theme."""


def polls(ground: Playground) -> Iterator[AnyPoll]:
    """Half an hour in which things went wrong, a look each minute."""
    for minute in range(30):
        ground.now = NOON + minute * 60_000
        if minute == 18:
            with ground.open_client([ground.addrs[1]]) as admin:
                admin.brokers.wipe_write_perm("broker-a-2")
        if minute == 22:
            ground.kill_broker("broker-b-1")
        if minute == 28:
            ground.freeze_broker("broker-a-1", 1)
        yield from ground.poll_everything()
        if minute < 12:
            yield from ground.poll_details(DetailQuery("groups"))
        for seat in ground.world.lab_brokers.values():
            # As their timers would have it, whose time stands.
            if seat.run_state == "up" and not (minute >= 28 and seat.name == "broker-a-1:1"):
                ground.send_heartbeat(seat)
    yield from ground.poll_details(
        *(DetailQuery("topicRow", topic) for topic in ORDERS), DetailQuery("topic", "orders")
    )


def record() -> None:
    """Let it happen again."""
    with tempfile.TemporaryDirectory() as folder, start_playground(Path(folder), PLAN) as ground:
        recorder = PollRecorder(RECORDING, "prod", ["10.0.0.1:9876", "10.0.0.2:9876", "10.0.0.3:9876"])
        recorder.record_polls(list(polls(ground)))
        recorder.close()


def orders(query: MessageQuery, now: int) -> MessagesPolled:
    """Messages that have just come."""
    events = ("created", "updated", "settled", "cancelled")
    messages = [
        make_browsed_message(
            json.dumps({"id": 7000 + number, "event": events[number % 4], "amount": 12.5 * number}).encode(),
            query.topic,
            broker_name=f"broker-a-{number % 3}",
            queue_id=number % 8,
            offset=41_200 + number // 3,
            at=now - 60_000 + 2_731 * number,
            KEYS=f"order-{7000 + number}",
            TAGS=events[number % 4],
        )
        for number in range(22)
    ]
    return MessagesPolled(now, query, 1, tuple(messages), len(messages), state="waiting")


def draw_picture(name: str) -> str:
    """One of them, as SVG."""
    keys, theme = STORIES[name]
    tape = Recording(RECORDING)
    head, polls = tape.head, list(tape.start(tape.begin))

    async def draw() -> str:
        where = make_context(label=head.label, color="red", addrs=tuple(head.addrs))
        clock = Clock(polls[-1].at)
        app = make_still_tui(AvailableContexts(where), clock, preferences=Preferences(theme=theme))
        async with app.run_test(size=SIZE) as pilot:
            await feed_polls(app, pilot, polls)
            await pilot.press(*keys)
            await pilot.pause()
            if app.current_view.message_query is not None:
                # A recording has no messages.
                await feed_polls(app, pilot, [orders(app.current_view.message_query, polls[-1].at)])
                await pilot.pause()
            app.redraw_screen()
            await pilot.pause()
            return app.export_screenshot(title="nsadmin tui")

    os.environ["TZ"] = "UTC"
    time.tzset()
    return asyncio.run(draw())


if __name__ == "__main__":
    if sys.argv[1:] == ["record"]:
        record()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in STORIES:
        (FOLDER / f"{name}.svg").write_text(draw_picture(name), "utf-8")
