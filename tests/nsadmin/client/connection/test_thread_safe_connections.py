"""One client in several threads and processes."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin.client import AdminClient
from tests.support.servers import FakeNameServer


def test_threads_take_turns_and_each_gets_its_own_answer() -> None:
    with FakeNameServer() as server:

        def echo(asked: RemotingCommand) -> RemotingCommand:
            return build_reply(asked, ext={"value": str((asked.ext or {})["key"])})

        server.handlers[RequestCode.GET_KV_CONFIG] = echo
        with AdminClient(server.addr) as admin, ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda key: admin.kv.get_value("N", str(key)), range(200)))
        assert found == [str(key) for key in range(200)]
        assert len(server.connections) == 1


def test_a_forked_process_has_a_connection_of_its_own() -> None:
    with FakeNameServer() as server, AdminClient(server.addr) as admin:
        expected = admin.topics.list_names()
        child = os.fork()
        if child == 0:
            os._exit(0 if admin.topics.list_names() == expected else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert admin.topics.list_names() == expected
        assert len(server.connections) == 2


def test_who_is_closed_says_so() -> None:
    with FakeNameServer() as server:
        with AdminClient(server.addr) as admin:
            admin.topics.list_names()
        with pytest.raises(RuntimeError, match="this client is closed"):
            admin.topics.list_names()
        admin.close()
