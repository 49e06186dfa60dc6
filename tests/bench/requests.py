"""The requests of the benchmarks: registrations of brokers with many topics, and lookups of these topics."""

import zlib
from itertools import count

from namesrv_core.protocol import codec, headers, registration_codec
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.json_bodies import DataVersion

_opaques = count(1)


def topics(number: int, first: int = 0) -> dict[str, dict[str, object]]:
    return {
        f"topic-{i}": {
            "attributes": {}, "order": False, "perm": 6, "readQueueNums": 8, "topicFilterType": "SINGLE_TAG",
            "topicName": f"topic-{i}", "topicSysFlag": 0, "writeQueueNums": 8,
        }
        for i in range(first, first + number)
    }  # fmt: skip


def register(
    broker: int, number: int, counter: int = 1, *, compressed: bool = False, first: int = 0
) -> bytes:
    header = headers.RegisterBroker(
        f"broker-{broker}", f"127.0.0.1:{20000 + broker}", "bench", f"127.0.0.1:{30000 + broker}", 0,
        enable_acting_master=False, compressed=compressed,
    )  # fmt: skip
    encode = (
        registration_codec.encode_compressed_registration
        if compressed
        else registration_codec.encode_registration
    )
    body = encode(DataVersion(counter, 0, 1_700_000_000_000), topics(number, first))
    header = header._replace(body_crc32=zlib.crc32(body) & 0x7FFFFFFF)
    return codec.encode_command(
        build_request(RequestCode.REGISTER_BROKER, headers.write_header(header), body)
    )


def lookup(topic: int) -> bytes:
    ext = {"topic": f"topic-{topic}"}
    return codec.encode_command(
        RemotingCommand(RequestCode.GET_ROUTEINFO_BY_TOPIC, ext, opaque=next(_opaques))
    )


def lookups(connections: int, depth: int, batches: int = 50, *, topics: int = 1000) -> list[list[bytes]]:
    """The batches of each connection: `depth` lookups at once, topic after topic."""
    numbers = count()
    return [
        [b"".join(lookup(next(numbers) % topics) for _ in range(depth)) for _ in range(batches)]
        for _ in range(connections)
    ]
