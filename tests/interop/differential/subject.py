"""A server under test: sends one operation, waits until its effects are there, and says what came back.

Java takes brokers out in a thread of its own, after the answer. A sentinel broker that goes the same way
behind the operation shows when that thread is done: its topic leaves under the same write lock.
"""

import itertools
import json
import time
from typing import Self

from tests.interop.differential.operations import FENCE, Kind, Op, Outcome
from tests.interop.wire import Answer, Connection, frame, json_header

# One thread each in Java: what is sent in an order is done in that order.
SERIAL = {
    "defaultThreadPoolNums": 1,
    "clientRequestThreadPoolNums": 1,
    "serverWorkerThreads": 1,
    "serverSelectorThreads": 1,
    "scanNotActiveBrokerInterval": 600_000,
}
FENCE_OPAQUE = 1_999_999_999
ANCHOR = "nsadmin-anchor"
_serial = itertools.count()


def registration(name: str, address: str, topics: tuple[str, ...]) -> tuple[dict[str, str], bytes]:
    """A plain master registration of some topics, with a DataVersion that never repeats."""
    table = {topic: {"topicName": topic} for topic in topics}
    version = {"counter": next(_serial), "timestamp": 1}
    body = {"topicConfigSerializeWrapper": {"dataVersion": version, "topicConfigTable": table}}
    ext = {
        "brokerName": name,
        "brokerAddr": address,
        "clusterName": ANCHOR,
        "brokerId": "0",
        "haServerAddr": "-",
    }
    return ext, json.dumps(body).encode()


class Subject:
    """One server and the connections of the sequence that runs against it."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self._port = port
        self._control = Connection(port)
        self._connections: dict[int, Connection] = {}
        self._opaque = 0
        ext, body = registration(ANCHOR, "10.0.0.1:1", ("nsadmin-anchor-1", "nsadmin-anchor-2"))
        self._control.call(103, ext, body)
        self._control.call(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": ANCHOR, "value": "-"})

    def run(self, op: Op) -> Outcome:
        if op.kind in (Kind.CLOSE, Kind.RESET):
            self._end(op)
            return Outcome()
        try:
            outcome = self._send(op)
        except ValueError as error:
            outcome = Outcome(fault=f"unreadable answer: {error!r}")
        except TimeoutError:
            outcome = Outcome(fault="no answer in time")
        if outcome.closed or outcome.fault:
            self._end(op)
        if op.code == 104:
            self._settle(closing=False)
        return outcome

    def close(self) -> None:
        """End the sequence: every connection goes, and what they held is gone afterwards."""
        for number in list(self._connections):
            self._forget(number)
        self._settle(closing=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in (self._control, *self._connections.values()):
            connection.close()

    def call(self, code: int, ext: dict[str, str] | None = None, body: bytes = b"") -> Answer:
        """A request outside the comparison."""
        return self._control.call(code, ext, body)

    def _connection(self, number: int) -> Connection:
        if number not in self._connections:
            self._connections[number] = Connection(self._port)
        return self._connections[number]

    def _send(self, op: Op) -> Outcome:
        connection = self._connection(op.connection)
        if op.kind is Kind.RAW:
            return self._send_raw(connection, op)
        parts = op.parts or (op,)
        opaques = range(self._opaque + 1, self._opaque + 1 + len(parts))
        self._opaque += len(parts)
        data = b"".join(part.bytes(opaque) for part, opaque in zip(parts, opaques, strict=True))
        if op.oneway:
            return self._until_fence(connection, data)
        connection.send(data)
        answers: list[Answer] = []
        for _ in parts:
            answer = connection.receive()
            if answer is None:
                return Outcome(tuple(answers), closed=True)
            answers.append(answer)
        return Outcome(tuple(sorted(answers, key=lambda answer: answer.opaque)))

    def _send_raw(self, connection: Connection, op: Op) -> Outcome:
        if "cut" not in op.marks:
            return self._until_fence(connection, op.raw)
        connection.send(op.raw)
        connection.finish_writing()
        answers: list[Answer] = []
        while (answer := connection.receive()) is not None:
            answers.append(answer)
        return Outcome(tuple(answers), closed=True)

    @staticmethod
    def _until_fence(connection: Connection, data: bytes) -> Outcome:
        """Whatever is answered before a request that is sent behind the data."""
        connection.send(data + frame(json_header(101, FENCE, FENCE_OPAQUE)))
        answers: list[Answer] = []
        while True:
            answer = connection.receive()
            if answer is None:
                return Outcome(tuple(answers), closed=True)
            if answer.opaque == FENCE_OPAQUE:
                return Outcome(tuple(answers))
            answers.append(answer)

    def _end(self, op: Op) -> None:
        self._forget(op.connection, reset=op.kind is Kind.RESET)
        self._settle(closing=True)

    def _forget(self, number: int, reset: bool = False) -> None:
        connection = self._connections.pop(number, None)
        if connection is not None:
            connection.reset() if reset else connection.close()

    def _settle(self, closing: bool) -> None:
        """Return when the unregistrations that were under way are done."""
        self._control.call(101, FENCE)
        via = Connection(self._port) if closing else self._control
        topic, name = f"nsadmin-sentinel-{next(_serial)}", f"nsadmin-sentinel-{next(_serial)}"
        ext, body = registration(name, "10.0.0.2:1", (topic, topic + "-2"))
        via.call(103, ext, body)
        if closing:
            via.close()
        else:
            via.call(104, ext)
        deadline = time.monotonic() + 5
        while self._control.call(105, {"topic": topic}).code == 0:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.name}: the sentinel broker does not go away")
