"""What was answered, from what a journal says: the very bodies of GET_ROUTEINFO_BY_TOPIC."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from namesrv_core.events import Event
from namesrv_core.history.record_lines import encode_record_line, parse_record_line
from namesrv_core.history.records import RecordOrigin
from namesrv_core.history.replay import JournalReplay
from namesrv_core.state import liveness
from namesrv_core.state.replayed_state import replayed_route_body
from namesrv_core.state.snapshot import build_snapshot, copy_tables
from tests.support.brokers import leave_at_once
from tests.support.wire import Wire, broker_ext, registration_body, topic_config

TOPICS = ("T", "U", "V", "rmq_sys_SYNC_BROKER_MEMBER_a")
NAMES = ("a", "b", "c")


def test_a_topic_without_a_route_has_no_body() -> None:
    assert replayed_route_body(JournalReplay(), "T") is None


def test_a_route_has_the_filter_servers_of_its_brokers() -> None:
    recorded = Recorded(0)
    recorded.ask(
        103,
        broker_ext("a", 0, "x:1", "c"),
        registration_body([topic_config("T"), topic_config("U")], filters=["f:1"]),
    )
    body = replayed_route_body(recorded.replay, "T")
    assert body == recorded.answered("T")
    assert json.loads(body or b"")["filterServerTable"] == {"x:1": ["f:1"]}


class Recorded:
    """A name server that is asked at random, and the replay of what it wrote down about that."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.wire = Wire()
        self.replay = JournalReplay()
        self.now = 1_700_000_000_000
        self.seq = 0
        self.write([self.snapshot()])

    def snapshot(self) -> Event:
        kv = {n: dict(t) for n, t in self.wire.state.kv_config.tables_by_namespace.items()}
        return build_snapshot(
            copy_tables(self.wire.state, self.now, kv, self.wire.state.settings.shown_items()), "interval"
        )

    def write(self, events: Any) -> None:
        for event in events:
            self.seq += 1
            self.replay.feed_record(
                parse_record_line(encode_record_line(self.seq, "s", RecordOrigin(self.now, "test"), event))
            )

    def ask(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> None:
        self.wire.send_request(code, ext, body, channel=self.chance.randint(1, 3), now=self.now)
        self.write(self.wire.events)

    def register(self) -> None:
        choose = self.chance.choice
        more = {
            "enableActingMaster": choose(("true", "false")),
            "__ZONE_NAME": choose(("z", "")),
            "heartbeatTimeoutMillis": "60000",
        }
        ext = broker_ext(
            choose(NAMES), self.chance.randrange(3), choose(("x:1", "y:1", "z:1", "w:1")), choose("cd")
        )
        configs = [
            topic_config(topic, perm=choose((2, 4, 6)), readQueueNums=choose((4, 8)))
            for topic in self.chance.sample(TOPICS, self.chance.randrange(5))
        ]
        mappings = {
            "T": {"topic": "T", "bname": choose(NAMES), "epoch": choose((1, 2)), "currIdMap": {"0": 0}}
        }
        body = registration_body(configs, filters=choose(([], ["f:1"])), mappings=choose((mappings, {})))
        self.ask(103, ext | more, body)

    def unregister(self) -> None:
        self.ask(104, broker_ext(self.chance.choice(NAMES), 0, self.chance.choice(("x:1", "y:1"))))

    def permit(self) -> None:
        self.ask(self.chance.choice((205, 327)), {"brokerName": self.chance.choice(NAMES)})

    def delete(self) -> None:
        self.ask(216, {"topic": self.chance.choice(TOPICS)})

    def order(self) -> None:
        ext = {"namespace": "ORDER_TOPIC_CONFIG", "key": self.chance.choice(TOPICS)}
        self.ask(*self.chance.choice(((100, {**ext, "value": f"a:{self.seq}"}), (102, ext))))

    def configure(self) -> None:
        key = self.chance.choice(("supportActingMaster", "orderMessageEnable"))
        self.ask(318, body=f"{key}={self.chance.choice(('true', 'false'))}\n".encode())

    def wait(self) -> None:
        self.now += self.chance.choice((1, 40_000, 70_000))
        tables = self.wire.state.tables
        self.write(leave_at_once(tables, liveness.find_expired_brokers(tables, self.now)))

    def close(self) -> None:
        tables = self.wire.state.tables
        self.write(leave_at_once(tables, liveness.end_channel(tables, self.chance.randint(1, 3))))

    def step(self) -> None:
        steps: tuple[Callable[[], None], ...] = (
            *(self.register,) * 5, self.permit, self.order, self.configure, self.unregister, self.delete,
            self.wait, self.close, lambda: self.write([self.snapshot()]),
        )  # fmt: skip
        self.chance.choice(steps)()

    def answered(self, topic: str) -> bytes | None:
        answer = self.wire.send_request(105, {"topic": topic, "acceptStandardJsonOnly": "true"}, now=self.now)
        return answer.body if answer.code == 0 else None


def told(body: bytes | None) -> Any:
    """A body, but for filter servers: those of a broker that was refused are not written down."""
    if body is None:
        return None
    return {name: value for name, value in json.loads(body).items() if name != "filterServerTable"}


@pytest.mark.parametrize("seed", range(5))
def test_routes_are_those_that_were_answered_at_each_moment(seed: int) -> None:
    recorded, checked_count = Recorded(seed), 0
    for _ in range(400):
        recorded.step()
        for topic in TOPICS:
            answered = recorded.answered(topic)
            assert told(replayed_route_body(recorded.replay, topic)) == told(answered)
            checked_count += answered is not None
    assert checked_count > 200
