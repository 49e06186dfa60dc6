"""The size that we compute of a registration, beside the bytes that real brokers sent."""

import json
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin import AdminClient
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.operations.registration_size import RegistrationSize, encode_header, measure_registration
from tests.interop import command_line, jars, wire
from tests.interop.cluster import brokers, create_topic, wait_for_registration, wait_for_runtime_info
from tests.interop.java_parts import WITHOUT_TIMER, JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for
from tests.interop.tap import Caught, Tap

TOPICS = 60


class Observed(NamedTuple):
    """A broker whose registrations are caught on their way to our name server."""

    broker: JavaBroker
    tap: Tap

    def register(self, frames: int = 1, permission: int = 6, **items: object) -> list[Caught]:
        """Change settings, and have all registered: a new permission is told at once. Its frames."""
        self.set(**items)
        self.set(brokerPermission=5 if permission == 4 else 4)
        before = len(self.tap.registrations())
        self.set(brokerPermission=permission)
        wait_for("a registration", lambda: len(self.tap.registrations()) >= before + frames)
        return self.tap.registrations()[before : before + frames]

    def set(self, **items: object) -> None:
        """Change settings of the broker."""
        body = "".join(f"{key}={value}\n" for key, value in items.items()).encode()
        if items:
            assert wire.ask(self.broker.port, 25, {}, body).code == 0

    def told(self) -> BrokerRegistrant:
        with AdminClient([self.tap.address]) as admin:
            [registration] = admin.registrations.get_each([self.broker.address])
        assert registration.result is not None, registration.error
        return registration.result


@pytest.fixture(scope="module")
def observed_brokers(
    released: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Observed]]:
    home = tmp_path_factory.mktemp("registrations")
    with ExitStack() as ends, ThreadPoolExecutor() as pool:
        server = ends.enter_context(OurNameServer(home / "server"))
        taps = [ends.enter_context(Tap(server.address)) for _ in range(2)]
        new = JavaBroker(home / "new", [taps[0].address], "broker-new", config=WITHOUT_TIMER)
        old = JavaBroker(home / "old", [taps[1].address], "broker-old", version=jars.OLD)
        mqadmin = MqAdmin(home / "mqadmin", [server.address])
        for part in pool.map(lambda part: part.__enter__(), (new, old, mqadmin)):
            ends.push(part)
        for broker in (new, old):
            wait_for_registration([server], broker)
            wait_for_runtime_info(broker.port)
            for number in range(TOPICS):
                create_topic(broker.port, f"orders-{number * number}", number % 9 + 1, 6 if number % 7 else 4)
        mqadmin("updateTopic", "-b", new.address, "-t", "Fifo", "-a", "+message.type=FIFO")
        mqadmin("updateStaticTopic", "-t", "Static", "-qn", "12", "-b", "broker-new")
        yield {"5.5.0": Observed(new, taps[0]), "4.9.7": Observed(old, taps[1])}


def sizes(caught: list[Caught]) -> list[int]:
    return [len(frame.command.body) for frame in caught]


def check_headers(broker: BrokerRegistrant, size: RegistrationSize, caught: list[Caught]) -> None:
    """The header is computed to the byte where its two unknown numbers are known."""
    for frame in caught:
        crc = int((frame.command.ext or {})["bodyCrc32"])
        assert frame.header_size == len(encode_header(broker, crc, frame.command.opaque)) <= size.header_bytes


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_a_registration_has_the_size_that_we_compute(
    observed_brokers: dict[str, Observed], release: str
) -> None:
    caught = observed_brokers[release].register()
    broker = observed_brokers[release].told()
    size = measure_registration(broker)
    assert list(size.body_bytes) == sizes(caught)
    check_headers(broker, size, caught)
    # What nobody knows before it is sent are the digits of a checksum and of the number of the request.
    assert 0 <= size.frame_bytes - caught[0].size < 20


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_a_broker_that_may_only_read_registers_less(
    observed_brokers: dict[str, Observed], release: str
) -> None:
    caught = observed_brokers[release].register(permission=4)
    broker = observed_brokers[release].told()
    size = measure_registration(broker)
    assert list(size.body_bytes) == sizes(caught)
    observed_brokers[release].register()
    assert {b'"perm":6' in frame.command.body for frame in caught} == {False}


@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
def test_a_compressed_registration(observed_brokers: dict[str, Observed], release: str) -> None:
    """What is inflated has the same size to the byte; how well it is compressed depends on its order."""
    [caught] = observed_brokers[release].register(compressedRegister="true")
    broker = observed_brokers[release].told()
    observed_brokers[release].register(compressedRegister="false")
    size = measure_registration(broker)
    body = caught.command.body
    assert size.inflated_bytes == len(zlib.decompress(body))
    # Sixty topics make a short text; in a long one the order matters less.
    assert abs(size.body_bytes[0] - len(body)) <= len(body) // 25
    check_headers(broker, size, [caught])


def test_a_split_registration(observed_brokers: dict[str, Observed]) -> None:
    registration = observed_brokers["5.5.0"].told()
    number = len(registration.topics) // 25 + 1
    split: dict[str, Any] = {"enableSplitRegistration": "true", "splitRegistrationSize": 25}
    caught = observed_brokers["5.5.0"].register(frames=number, **split)
    broker = observed_brokers["5.5.0"].told()
    observed_brokers["5.5.0"].register(enableSplitRegistration="false")
    size = measure_registration(broker)
    # Parts are sent at once, and the first one to be caught may be any.
    assert sorted(size.body_bytes) == sorted(sizes(caught))
    assert size.room_for_topics is None
    check_headers(broker, size, caught)


def test_one_topic_too_many_and_the_broker_is_gone(
    observed_brokers: dict[str, Observed], released: None, tmp_path: Path
) -> None:
    """A broker that starts with all topics but five that fit; then these, then some more."""
    names = (f"many-{number:06}-{'x' * 100}" for number in count())
    registration = observed_brokers["5.5.0"].told()
    own = {
        name: config
        for name, config in registration.topics.items()
        if not name.startswith(("orders-", "Fifo"))
    }
    each = {**registration.topics["orders-0"], "attributes": {}, "perm": 6}
    sample = next(names)
    empty = registration._replace(topics=own, mappings={})
    with_one = empty._replace(topics={**own, sample: {**each, "topicName": sample}})
    number = (MAX_FRAME_BYTES - measure_registration(empty).frame_bytes) // (
        measure_registration(with_one).frame_bytes - measure_registration(empty).frame_bytes
    ) - 5
    table = {name: {**each, "topicName": name} for name in islice(names, number)}
    file = tmp_path / "broker" / "store" / "config" / "topics.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"dataVersion": registration.data_version, "topicConfigTable": table}))
    with (
        OurNameServer(tmp_path / "server") as server,
        Tap(server.address) as tap,
        JavaBroker(tmp_path / "broker", [tap.address], "broker-many", config=WITHOUT_TIMER) as broker,
    ):
        many = Observed(broker, tap)
        wait_for_registration([server], broker)
        fits = measure_registration(many.told()).room_for_topics
        assert fits is not None
        assert 0 < fits < 10
        for name in islice(names, fits):
            create_topic(broker.port, name, each["readQueueNums"])
        [caught] = many.register()
        assert MAX_FRAME_BYTES - 400 < caught.size <= MAX_FRAME_BYTES
        assert len(caught.command.body) == measure_registration(many.told()).body_bytes[0]
        # Under load, a broker gives up waiting for the answer, and registers again.
        wait_for("the largest registration", lambda: "broker-many" in brokers(server))
        create_topic(broker.port, next(names), each["readQueueNums"])
        many.set(brokerPermission=4)
        wait_for("its end", lambda: "broker-many" not in brokers(server))
        [row] = command_line.nsadmin(server.address, "registrationSize", "-b", broker.address).rows
        assert (row["framePercent"] > 100, row["fits"]) == (True, -1)
