"""Servers on loopback for tests of clients: each answers by a table and remembers what it was asked."""

import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self

from namesrv_core.protocol import codec, fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from namesrv_core.protocol.connection import ProtocolConnection

Answer = RemotingCommand | bytes | None
"""What to send back; bytes are sent as they are, and the connection is closed after them; None is silence."""
Handler = Callable[[RemotingCommand], Answer]


class Server:
    """Answers by request code, each connection in a thread of its own; unknown codes get code 3.

    With `tls` it speaks nothing else.
    """

    def __init__(
        self,
        handlers: Mapping[int, Handler] | None = None,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._tls = tls
        self.handlers: dict[int, Handler] = dict(handlers or {})
        self.asked: list[RemotingCommand] = []
        self.connections: list[socket.socket] = []
        self._listener = socket.create_server(
            (host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
        self.port: int = self._listener.getsockname()[1]
        self.addr = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self._threads = [Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.hang_up()
        for thread in self._threads:
            thread.join(5)

    def hang_up(self) -> None:
        """End every connection there is, but go on taking new ones."""
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def asked_codes(self) -> list[int]:
        """The request codes it was asked so far."""
        return [command.code for command in self.asked]

    def _accept(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            # Otherwise a second answer waits for the client's delayed acknowledgement of the first.
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(peer)
            thread = Thread(target=self._serve, args=(peer,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, peer: socket.socket) -> None:
        connection = ProtocolConnection()
        with suppress(OSError), self._secured(peer) as peer:
            while data := peer.recv(65536):
                for command in connection.feed_bytes(data):
                    self.asked.append(command)
                    answer = self.answer(command)
                    if isinstance(answer, bytes):
                        peer.sendall(answer)
                        return
                    if answer is not None:
                        peer.sendall(codec.encode_command(answer))
                if connection.error is not None:
                    return

    def _secured(self, peer: socket.socket) -> socket.socket:
        if self._tls is None:
            return peer
        secured = self._tls.wrap_socket(peer, server_side=True, do_handshake_on_connect=False)
        self.connections[self.connections.index(peer)] = secured
        try:
            secured.do_handshake()
        except OSError:
            secured.close()
            raise
        return secured

    def answer(self, command: RemotingCommand) -> Answer:
        handler = self.handlers.get(command.code)
        if handler is None:
            return build_reply(command, 3, remark=f" request type {command.code} not supported")
        return handler(command)


def answer_json(command: RemotingCommand, value: object) -> RemotingCommand:
    """A successful answer with this JSON body."""
    return build_reply(command, body=fastjson.encode_json(value))


Groups = Mapping[str, Mapping[str, Mapping[int, str]]]
"""Cluster name to broker name to broker id to address."""


class FakeNameServer(Server):
    """What a name server knows, as plain tables that a test fills."""

    def __init__(
        self, clusters: Groups | None = None, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> None:
        self.clusters = clusters or {}
        self.routes: dict[str, dict[str, int]] = {}
        """Topic to broker name to permission."""
        self.kv: dict[str, dict[str, str]] = {}
        self.config = {"listenPort": "9876", "waitSecondsForService": "45"}
        super().__init__(host=host, tls=tls)
        code = RequestCode
        self.handlers = {
            code.PUT_KV_CONFIG: self._put,
            code.GET_KV_CONFIG: self._get,
            code.DELETE_KV_CONFIG: self._delete,
            code.GET_KVLIST_BY_NAMESPACE: self._list,
            code.GET_ROUTEINFO_BY_TOPIC: self._route,
            code.GET_BROKER_CLUSTER_INFO: self._cluster_info,
            code.WIPE_WRITE_PERM_OF_BROKER: lambda asked: self._perm(asked, "wipeTopicCount", 4),
            code.ADD_WRITE_PERM_OF_BROKER: lambda asked: self._perm(asked, "addTopicCount", 6),
            code.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: lambda asked: answer_json(
                asked, {"topicList": [*self.routes]}
            ),
            code.GET_TOPICS_BY_CLUSTER: lambda asked: answer_json(asked, {"topicList": [*self.routes]}),
            code.GET_SYSTEM_TOPIC_LIST_FROM_NS: lambda asked: answer_json(
                asked, {"topicList": [*self.clusters]}
            ),
            code.DELETE_TOPIC_IN_NAMESRV: self._delete_topic,
            code.UPDATE_NAMESRV_CONFIG: self._update,
            code.GET_NAMESRV_CONFIG: self._config,
        }

    @property
    def brokers(self) -> dict[str, tuple[str, Mapping[int, str]]]:
        return {name: (c, addrs) for c, groups in self.clusters.items() for name, addrs in groups.items()}

    def _broker(self, name: str) -> dict[str, object]:
        cluster, addrs = self.brokers[name]
        return {"brokerName": name, "cluster": cluster, "brokerAddrs": dict(addrs)}

    def _cluster_info(self, asked: RemotingCommand) -> RemotingCommand:
        names = {cluster: [*groups] for cluster, groups in self.clusters.items()}
        table = {name: self._broker(name) for name in self.brokers}
        return answer_json(asked, {"brokerAddrTable": table, "clusterAddrTable": names})

    def _route(self, asked: RemotingCommand) -> RemotingCommand:
        topic = _ext_field(asked, "topic")
        if not self.routes.get(topic):
            remark = f"No topic route info in name server for the topic: {topic}\nSee the FAQ."
            return build_reply(asked, 17, remark=remark)
        queues = [
            {"brokerName": name, "perm": perm, "readQueueNums": 8, "writeQueueNums": 8, "topicSysFlag": 0}
            for name, perm in self.routes[topic].items()
        ]
        brokers = [self._broker(name) for name in self.routes[topic] if name in self.brokers]
        return answer_json(asked, {"brokerDatas": brokers, "queueDatas": queues, "filterServerTable": {}})

    def _perm(self, asked: RemotingCommand, count: str, perm: int) -> RemotingCommand:
        name = _ext_field(asked, "brokerName")
        touched = [brokers for brokers in self.routes.values() if name in brokers]
        for brokers in touched:
            brokers[name] = perm
        return build_reply(asked, ext={count: str(len(touched))})

    def _delete_topic(self, asked: RemotingCommand) -> RemotingCommand:
        left = self.routes.get(_ext_field(asked, "topic"), {})
        for name in [name for name in left if self.brokers[name][0] == _ext_field(asked, "clusterName")]:
            del left[name]
        return build_reply(asked)

    def _put(self, asked: RemotingCommand) -> RemotingCommand:
        self.kv.setdefault(_ext_field(asked, "namespace"), {})[_ext_field(asked, "key")] = _ext_field(
            asked, "value"
        )
        return build_reply(asked)

    def _get(self, asked: RemotingCommand) -> RemotingCommand:
        value = self.kv.get(_ext_field(asked, "namespace"), {}).get(_ext_field(asked, "key"))
        return (
            build_reply(asked, 22, remark="No config item")
            if value is None
            else build_reply(asked, ext={"value": value})
        )

    def _delete(self, asked: RemotingCommand) -> RemotingCommand:
        self.kv.get(_ext_field(asked, "namespace"), {}).pop(_ext_field(asked, "key"), None)
        return build_reply(asked)

    def _list(self, asked: RemotingCommand) -> RemotingCommand:
        table = self.kv.get(_ext_field(asked, "namespace"))
        return (
            build_reply(asked, 22, remark="No config item")
            if table is None
            else answer_json(asked, {"table": table})
        )

    def _update(self, asked: RemotingCommand) -> RemotingCommand:
        key, _, value = asked.body.decode().rstrip("\n").partition("=")
        if key == "kvConfigPath":
            return build_reply(asked, 16, remark="Can not update config in black list.")
        if key in self.config and (value.isdigit() or not self.config[key].isdigit()):
            self.config[key] = value
        return build_reply(asked)

    def _config(self, asked: RemotingCommand) -> RemotingCommand:
        return build_reply(
            asked, body="".join(f"{key}={value}\n" for key, value in self.config.items()).encode()
        )


class FakeBroker(Server):
    """A broker with runtime values, topics, and the consumer groups of each topic."""

    def __init__(self, table: Mapping[str, str] | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.table = {"commitLogDiskRatio": "0.1", **(table or {"brokerVersionDesc": "V5_5_0"})}
        self.settings: dict[str, str] = {}
        self.topics: dict[str, list[str]] = {}
        super().__init__(tls=tls)
        self.handlers = {
            RequestCode.GET_BROKER_RUNTIME_INFO: lambda asked: answer_json(asked, {"table": self.table}),
            RequestCode.GET_BROKER_CONFIG: lambda asked: build_reply(
                asked, body="".join(f"{key}={value}\n" for key, value in self.settings.items()).encode()
            ),
            RequestCode.DELETE_TOPIC_IN_BROKER: self._delete,
            RequestCode.GET_TOPIC_CONFIG: self._config,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self._groups,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: lambda asked: answer_json(
                asked, {"topicList": ["TBW102"]}
            ),
        }

    def _delete(self, asked: RemotingCommand) -> RemotingCommand:
        self.topics.pop(_ext_field(asked, "topic"), None)
        return build_reply(asked)

    def _config(self, asked: RemotingCommand) -> RemotingCommand:
        if _ext_field(asked, "topic") in self.topics:
            return answer_json(asked, {"topicName": _ext_field(asked, "topic")})
        return build_reply(asked, 17, remark="No topic in this broker.")

    def _groups(self, asked: RemotingCommand) -> RemotingCommand:
        return answer_json(asked, {"groupList": self.topics.get(_ext_field(asked, "topic"), [])})


def _ext_field(asked: RemotingCommand, name: str) -> str:
    return (asked.ext or {}).get(name) or ""


_CLOSED: list[socket.socket] = []
"""Bound and never listening: whoever connects is refused, and no server gets such a port meanwhile."""


def closed_port() -> int:
    """A port where nothing listens, another one each time."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    _CLOSED.append(taken)
    port: int = taken.getsockname()[1]
    return port


def refuse_with(code: int, remark: str) -> Handler:
    return lambda asked: build_reply(asked, code, remark=remark)


def answer_nothing(asked: RemotingCommand) -> None:
    """Never answers."""


def answer_garbage(asked: RemotingCommand) -> bytes:
    """Answers in another protocol."""
    return b"HTTP/1.1 400 Bad Request\r\n\r\n"


def answer_hang_up(asked: RemotingCommand) -> bytes:
    """Closes instead of answering."""
    return b""
