"""Name servers that run: in this process on the loop of the test, or as a program of their own."""

import asyncio
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from namesrv_core.protocol import codec
from namesrv_core.protocol.command import ExtFields, RemotingCommand, build_request
from namesrv_core.protocol.connection import ProtocolConnection
from namesrv_core.server.name_server import NameServer
from namesrv_core.state.settings import NameServerSettings
from namesrv_core.transport.command_stream import StreamOwner
from namesrv_core.transport.event_loop import run_coroutine
from namesrv_core.transport.listener import StreamListener
from namesrv_core.transport.protocol_detection import TlsPolicy
from namesrv_core.transport.rate_limits import StreamQuotas
from tests.support.name_server_flags import server_command

P = ParamSpec("P")

DEADLINE = 60.0
"""Seconds after which something that should have happened has not."""
ROOT = Path(__file__).parents[2]


def run_on_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """A test that is a coroutine, run to its end on the loop that the server uses."""

    @wraps(test)
    def run_it(*args: P.args, **kwargs: P.kwargs) -> None:
        run_coroutine(asyncio.wait_for(test(*args, **kwargs), DEADLINE))

    return run_it


async def wait_until(condition: Callable[[], object]) -> None:
    """Wait for what another connection causes."""
    async with asyncio.timeout(DEADLINE):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in another process or task
            await asyncio.sleep(0.001)


def make_settings(home: Path, **more: Any) -> NameServerSettings:
    fields: dict[str, Any] = {
        "kvConfigPath": str(home / "kvConfig.json"),
        "configStorePath": str(home / "namesrv.properties"),
        "bindAddress": "127.0.0.1",
        "listenPort": 0,
    }
    return NameServerSettings(**(fields | more))


@asynccontextmanager
async def start_name_server(home: Path, **more: Any) -> AsyncIterator[NameServer]:
    """A name server on a free port with its files in `home`; `more` are settings."""
    server = NameServer(make_settings(home, **more))
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@asynccontextmanager
async def open_listener(
    owner: StreamOwner,
    host: str = "127.0.0.1",
    port: int = 0,
    terms: TlsPolicy | None = None,
    allowance: StreamQuotas | None = None,
) -> AsyncIterator[StreamListener]:
    """A listener that is closed whatever happens: a loop with an open one never ends."""
    listener = await StreamListener.open(owner, host, port, tls_policy=terms, stream_quotas=allowance)
    try:
        yield listener
    finally:
        listener.close()


class Peer:
    """One connection to a server, with the bytes in the test's hand."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._connection = ProtocolConnection()
        self._received: list[RemotingCommand] = []

    @classmethod
    @asynccontextmanager
    async def connect(cls, address: str, tls: ssl.SSLContext | None = None) -> "AsyncIterator[Peer]":
        """A connection that is closed in the end; with `tls` it goes through that."""
        host, _, port = address.rpartition(":")
        name = "localhost" if tls else None
        peer = cls(*await asyncio.open_connection(host.strip("[]"), int(port), ssl=tls, server_hostname=name))
        try:
            yield peer
        finally:
            await peer.close()

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def receive(self) -> RemotingCommand | None:
        """The next command; None where the other end has closed the connection."""
        while not self._received:
            data = await self._reader.read(1 << 16)
            if not data:
                return None
            self._received += self._connection.feed_bytes(data)
        return self._received.pop(0)

    async def send_request(
        self, code: int, ext: ExtFields | None = None, body: bytes = b"", **more: Any
    ) -> RemotingCommand:
        """The next answer to a request; it must be the answer to this one."""
        asked = build_request(code, ext, body)
        for name, value in more.items():
            setattr(asked, name, value)
        self.send(codec.encode_command(asked))
        answer = await self.receive()
        assert answer is not None
        assert answer.opaque == asked.opaque
        return answer

    async def is_closed(self) -> bool:
        """Wait for the other end to close, without a word."""
        try:
            return await self.receive() is None
        except ConnectionError:
            return True

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class ServerProgram:
    """`python -m namesrv_core` as a process; `address` is what its boot line says."""

    def __init__(self, *args: str) -> None:
        self.process = subprocess.Popen(
            server_command(*args),
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.make_environment(),
        )
        self.boot = self._boot_line()
        self.address = self.boot.rpartition(" ")[2]

    @staticmethod
    def make_environment() -> dict[str, str]:
        """With both source roots on the path."""
        return os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'cli'}"}

    def _boot_line(self) -> str:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if "boot success" in line:
                return line.strip()
        raise AssertionError(self.end()[2])

    def connect(self) -> socket.socket:
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), DEADLINE)

    def end(self, number: signal.Signals | None = None) -> tuple[int, str, str]:
        """Send a signal and wait for the end: exit code, rest of stdout, stderr."""
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=DEADLINE)
        return self.process.returncode, out, err


@contextmanager
def start_program(*args: str) -> Iterator[ServerProgram]:
    running = ServerProgram(*args)
    try:
        yield running
    finally:
        if running.process.returncode is None:
            running.end(signal.SIGKILL)


def call_server(asked: RemotingCommand, connection: socket.socket) -> RemotingCommand:
    """The answer to a request over a plain socket."""
    near = ProtocolConnection()
    connection.sendall(near.encode_request(asked))
    while True:
        data = connection.recv(1 << 16)
        if not data:
            raise ConnectionResetError("the server closed the connection")
        for command in near.feed_bytes(data):
            return command
