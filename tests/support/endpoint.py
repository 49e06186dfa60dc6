"""An HTTP endpoint on loopback that tells name servers, or does what a test wants it to."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import create_server
from threading import Event, Thread
from types import TracebackType
from typing import Self


class FakeEndpoint:
    """Answers every GET with `status`, `text` and `headers`; remembers what it was asked."""

    def __init__(self, text: str = "", status: int = 200) -> None:
        self.text = text
        self.status = status
        self.headers: dict[str, str] = {}
        self.asked: list[tuple[str, Mapping[str, str]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                endpoint.asked.append((self.path, dict(self.headers.items())))
                self.send_response(endpoint.status)
                for name, value in endpoint.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(endpoint.text.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.domain = f"127.0.0.1:{self._server.server_port}"
        self.url = f"http://{self.domain}/rocketmq/nsaddr"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


class SlowEndpoint:
    """Answers one request with `pieces`, with a pause of `seconds` after each; counts what it could send."""

    def __init__(self, pieces: Iterable[bytes], seconds: float = 0.0) -> None:
        self.sent = 0
        self.ended = Event()
        self._pieces, self._seconds = pieces, seconds
        self._listener = create_server(("127.0.0.1", 0))
        self._stopped = Event()
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/rocketmq/nsaddr"
        self._thread = Thread(target=self._answer)
        self._thread.start()

    def _answer(self) -> None:
        with suppress(OSError):
            peer, _ = self._listener.accept()
            with peer:
                peer.settimeout(30)
                peer.recv(65536)
                for piece in self._pieces:
                    peer.sendall(piece)
                    self.sent += len(piece)
                    if self._stopped.wait(self._seconds):
                        break
        self.ended.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        with suppress(OSError):
            self._listener.shutdown(2)
        self._listener.close()
        self._thread.join(30)
