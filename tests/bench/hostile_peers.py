"""Peers that know the protocol and try to stop the server: one attack for each known weakness.

`tests.bench.attacks` runs them together with the attacks of `crude_peers`.
"""

import contextlib
import json
import socket
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from multiprocessing.synchronize import Event
from pathlib import Path

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.transport.tls_client import TlsClient
from tests.support.tls_records import RecordForge
from tests.support.wire import broker_ext, registration_body

CREDENTIALS_FILE = "credentials.json"
FENCED_FILES = {
    CREDENTIALS_FILE: json.dumps(
        {"networks": [{"network": "127.0.0.0/8", "role": "broker", "clusters": ["c"]}]}
    )
}
"""Files of a server on which every local peer is a broker of cluster "c" only, which may also read."""

HTTP_SETTINGS = {"httpAddress": "127.0.0.1:0"}
JOURNAL_SETTINGS = {"journalDir": "journal", "journalKeepMegabytes": "20"}


class Peer:
    """A connection of an attacker. It sends requests and reads whole answers."""

    def __init__(self, port: int, timeout_seconds: float = 30) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout_seconds)
        self._protocol = ProtocolConnection()

    def ask(self, *requests: RemotingCommand) -> list[RemotingCommand]:
        """Send the requests together and wait for as many answers. Raises OSError if the server hangs up."""
        self._socket.sendall(b"".join(map(codec.encode_command, requests)))
        answers: list[RemotingCommand] = []
        while len(answers) < len(requests):
            received_bytes = self._socket.recv(1 << 20)
            if not received_bytes:
                raise ConnectionResetError
            answers += self._protocol.feed_bytes(received_bytes)
        return answers

    def send(self, request: RemotingCommand) -> None:
        """Send as much of the request as the socket takes at once. Do not wait for an answer."""
        self._socket.setblocking(False)
        with contextlib.suppress(OSError):
            self._socket.send(codec.encode_command(request))

    def reset(self) -> None:
        """Close the connection by a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._socket.close()


def flood_with_key_updates(port: int, stop: Event) -> None:
    """Send TLS 1.3 records that ask for new keys, as fast as the socket takes them, and a few requests."""
    tls_client = TlsClient(is_verifying=False)
    with tempfile.TemporaryDirectory() as folder:
        key_log = Path(folder) / "keys"
        tls_client.ssl_context.keylog_filename = str(key_log)
        while not stop.is_set():
            key_log.unlink(missing_ok=True)
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 10) as peer:
                near = tls_client.create_connection("127.0.0.1")
                received_bytes = b""
                while not near.is_ready:
                    near.feed_bytes(received_bytes)
                    peer.sendall(near.drain_outgoing())
                    received_bytes = b"" if near.is_ready else peer.recv(1 << 16)
                forge = RecordForge(near, key_log)
                request_bytes = codec.encode_command(build_request(105, {"topic": "topic-1"}))
                while not stop.is_set():
                    # Fewer records in a row than the server allows.
                    peer.sendall(b"".join(forge.key_update() for _ in range(30)) + forge.data(request_bytes))


def connect_again_and_again(port: int, stop: Event) -> Iterator[Peer]:
    """A new peer after each one that the server has cut off, until the attack ends."""
    while not stop.is_set():
        with contextlib.suppress(OSError):
            peer = Peer(port)
            try:
                yield peer
            finally:
                peer.reset()


def ask_one_by_one(peer: Peer, stop: Event, requests: Iterable[RemotingCommand]) -> None:
    for request in requests:
        if stop.is_set():
            return
        with contextlib.suppress(OSError):
            peer.ask(request)


def inflate_bodies(port: int, stop: Event) -> None:
    """Thirty peers register with bodies of 64 KB, whose one topic inflates to 63 MiB."""
    topic_line = b"t" * (63 << 20) + b" 8 8 6 SINGLE_TAG {}"
    data_version = b'{"counter":1,"stateVersion":0,"timestamp":1}'
    raw_body = b"".join(
        [
            len(data_version).to_bytes(4, "big") + data_version,
            (1).to_bytes(4, "big"),
            len(topic_line).to_bytes(4, "big") + topic_line,
        ]
    )
    ext_fields = broker_ext("inflated", addr="10.2.0.1:1") | {"compressed": "true"}
    request = build_request(103, ext_fields, zlib.compress(raw_body + b"\0\0\0\2[]" + bytes(4), 9))

    def register_repeatedly() -> None:
        for peer in connect_again_and_again(port, stop):
            ask_one_by_one(peer, stop, [request] * 10)

    with ThreadPoolExecutor(30) as pool:
        for _ in range(30):
            pool.submit(register_repeatedly)


def _register_ids(port: int, stop: Event, ids_text: str) -> None:
    mapping = f'"T":{{"topic":"T","bname":"b","currIdMap":{{{ids_text}}},"totalQueues":1}}'
    wrapper = f'"topicConfigTable":{{}},"topicQueueMappingInfoMap":{{{mapping}}}'
    for peer in connect_again_and_again(port, stop):
        for number in range(100):
            version = f'"dataVersion":{{"counter":{number},"stateVersion":0,"timestamp":1}}'
            body = f'{{"topicConfigSerializeWrapper":{{{version},{wrapper}}}}}'.encode()
            ask_one_by_one(peer, stop, [build_request(103, broker_ext("ids", addr="10.8.0.1:1"), body)])


def register_queue_ids(port: int, stop: Event) -> None:
    """A queue mapping with 900,000 queue ids, far more than the server takes."""
    _register_ids(port, stop, ",".join(f'"{number}":1' for number in range(900_000)))


def register_many_queue_ids(port: int, stop: Event) -> None:
    """A queue mapping with as many queue ids as the server takes, which change each time."""
    _register_ids(port, stop, ",".join(f"{number}:{number}" for number in range(20_000)))


def send_unsigned_bodies(port: int, stop: Event) -> None:
    """Registrations and route lookups of 15 MB with an invalid signature."""
    body = b"x" * 15_000_000
    signature = {"AccessKey": "somebody", "Signature": "A" * 27 + "="}
    ext_fields = broker_ext("unsigned", addr="10.8.0.2:1") | {"clusterName": "other"} | signature
    requests = [
        build_request(103, ext_fields, body), build_request(216, {"topic": "topic-1"} | signature, body)
    ]  # fmt: skip
    for peer in connect_again_and_again(port, stop):
        ask_one_by_one(peer, stop, requests * 10)


def register_long_names(port: int, stop: Event) -> None:
    """Registrations with a topic name of 6 MB, and lists of all topics."""
    for peer in connect_again_and_again(port, stop):
        for number in range(8):
            body = registration_body([str(number) + "x" * 6_000_000])
            ask_one_by_one(
                peer,
                stop,
                [build_request(103, broker_ext(f"long-{number}"), body), build_request(206)],
            )


def use_fresh_names(port: int, stop: Event) -> None:
    """Register and unregister brokers whose names are never used again, 50 KB each, and look for them."""
    for peer in connect_again_and_again(port, stop):
        for number in count():
            if stop.is_set():
                break
            ext_fields = broker_ext(f"{number}-" + "b" * 50_000, addr=f"10.3.0.1:{number % 60000}")
            ask_one_by_one(
                peer,
                stop,
                [
                    build_request(103, ext_fields, registration_body([f"{number}-" + "t" * 50_000])),
                    build_request(105, {"topic": f"{number}-" + "t" * 50_000}),
                    build_request(104, ext_fields),
                ],
            )


def register_wide_route(port: int) -> Peer:
    """Register a topic on 700 brokers, whose route has 246 KB."""
    peer = Peer(port)
    body = registration_body(["wide"])
    for n in range(700):
        peer.ask(
            build_request(
                103, broker_ext(f"wide-{n}-" + "w" * 100, addr=f"10.4.{n // 250}.{n % 250}:1"), body
            )
        )
    return peer


def ask_one_route_differently(port: int, stop: Event) -> None:
    """Ask for the wide route, with another ext field each time."""
    for peer in connect_again_and_again(port, stop):
        ask_one_by_one(
            peer, stop, (build_request(105, {"topic": "wide", "attempt": str(n)}) for n in range(1_000_000))
        )


def register_foreign_topics(port: int, stop: Event) -> None:
    """A fenced broker registers a topic of 12 MB for another cluster's broker (217), and whole tables."""
    large_body = registration_body([f"topic-{n}" for n in range(60_000)])
    for peer in connect_again_and_again(port, stop):
        ask_one_by_one(
            peer,
            stop,
            [
                build_request(217, {"topic": "foreign"}, large_body),
                build_request(103, broker_ext("fenced", addr="10.5.0.1:1"), large_body),
            ],
        )


def register_million_topics(port: int) -> Peer:
    """Register a million topics on twenty brokers."""
    peer = Peer(port, 120)
    for number in range(20):
        body = registration_body([f"many-{number}-{topic}" for topic in range(50_000)])
        peer.ask(build_request(103, broker_ext(f"many-{number}", addr=f"10.6.0.{number}:1"), body))
    return peer


def read_all_topics(port: int, stop: Event) -> None:
    """The list of all topics, over and over."""
    for peer in connect_again_and_again(port, stop):
        ask_one_by_one(peer, stop, [build_request(206)] * 100)


def put_large_values(port: int, stop: Event) -> None:
    """KV values of 60 KB, replaced as fast as the disk is."""
    for peer in connect_again_and_again(port, stop):
        for number in count():
            if stop.is_set():
                break
            value = f"{number}" + "v" * 60_000
            with contextlib.suppress(OSError):
                peer.ask(build_request(100, {"namespace": "n", "key": "k", "value": value}))


def churn_namespaces(port: int, stop: Event) -> None:
    """KV namespaces with long names that get a key and lose it."""
    for peer in connect_again_and_again(port, stop):
        for number in count():
            if stop.is_set():
                break
            ext_fields = {"namespace": f"{number}-" + "n" * 200, "key": "k", "value": "v"}
            with contextlib.suppress(OSError):
                peer.ask(build_request(100, ext_fields), build_request(102, ext_fields))


def leave_answers_unread(port: int, stop: Event) -> None:
    """1,500 peers that ask for all topics and read nothing."""
    peers = []
    for _ in range(1_500):
        with contextlib.suppress(OSError):
            peer = Peer(port)
            for _ in range(3):
                peer.send(build_request(206))
            peers.append(peer)
    stop.wait()
    for peer in peers:
        peer.reset()


def occupy_http(port: int, stop: Event) -> None:
    """Idle keep-alive connections on the HTTP port, more than it takes."""
    body = Peer(port).ask(build_request(319))[0].body.decode()
    http_addr = dict(line.split("=", 1) for line in body.splitlines() if "=" in line)["httpAddress"]
    host, _, http_port = http_addr.replace("\\", "").rpartition(":")
    while not stop.is_set():
        connections = []
        for _ in range(100):
            with contextlib.suppress(OSError):
                connection = socket.create_connection((host, int(http_port)), 5)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                connections.append(connection)
        stop.wait(1)
        for connection in connections:
            connection.close()


def forge_lines(port: int, stop: Event) -> None:
    """Brokers whose names hold line feeds and terminal escapes, which come and go."""
    for peer in connect_again_and_again(port, stop):
        for number in range(1000):
            name = f"a{number}\n2026-01-01 ERROR forged \x1b[2J\u202e"
            ask_one_by_one(
                peer, stop, [build_request(code, broker_ext(name, addr="10.7.0.1:1")) for code in (103, 104)]
            )


def register_crowd(port: int) -> Peer:
    """Register 9,900 brokers without topics over one connection."""
    peer = Peer(port)
    for first in range(0, 9_900, 100):
        peer.ask(
            *(
                build_request(103, broker_ext(f"crowd-{n}", addr=f"10.1.{n // 250}.{n % 250}:1"))
                for n in range(first, first + 100)
            )
        )
    return peer


def connect_and_reset(port: int, stop: Event) -> None:
    """Connect and reset as fast as possible."""
    for _ in connect_again_and_again(port, stop):
        time.sleep(0)
