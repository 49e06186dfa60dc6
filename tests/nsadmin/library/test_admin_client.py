"""The client of scripts: names of brokers as addresses, and its procedures from asyncio."""

import asyncio
import gc
import warnings
import weakref
from pathlib import Path

import pytest

import nsadmin
from namesrv_core.protocol.codes import RequestCode
from nsadmin import (
    Access,
    AdminClient,
    AsyncAdminClient,
    BadAddress,
    CheckState,
    ClientClosed,
    Exchange,
    NotFound,
    ReadOnlyAccess,
    ServerResult,
)
from nsadmin.console.contexts import Context, Contexts, save_contexts
from tests.support.fake_servers import FakeBroker, FakeNameServer, closed_port
from tests.support.name_servers import DEADLINE, run_on_loop


def test_a_broker_name_stands_for_the_address_of_its_master(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    exchanges: list[Exchange] = []
    with AdminClient(first_server.addr, observer=exchanges.append) as admin:
        by_name = admin.brokers.get_runtime_info(["broker-a", "broker-a/0"])
        [by_addr] = admin.brokers.get_runtime_info([broker.addr])
    assert [result.addr for result in by_name] == ["broker-a", "broker-a/0"]
    assert by_addr.value().table
    assert [result.value().table for result in by_name] == [by_addr.value().table] * 2
    # The observer learns the name and the address, as with an address map.
    sent = [exchange for exchange in exchanges if exchange.code == RequestCode.GET_BROKER_RUNTIME_INFO]
    assert {(e.addr, e.via) for e in sent} == {("broker-a/0", broker.addr), (broker.addr, None)}


def test_a_client_that_is_not_closed_is_freed_with_its_last_reference(first_server: FakeNameServer) -> None:
    """Without waiting for the garbage collector, which would keep its connections open."""
    gc.disable()
    try:
        admin = AdminClient(first_server.addr)
        admin.brokers.get_runtime_info(["broker-a"])
        admin.checks.check_name_servers()
        reference = weakref.ref(admin)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            del admin
            is_freed = reference() is None
            gc.collect()
        assert is_freed
    finally:
        gc.enable()


def test_names_are_looked_up_with_one_request(first_server: FakeNameServer) -> None:
    exchanges: list[Exchange] = []
    with AdminClient(first_server.addr, observer=exchanges.append) as admin:
        admin.brokers.get_runtime_info(["broker-a", "broker-a/0"])
    assert [exchange.code for exchange in exchanges] == [
        RequestCode.GET_BROKER_CLUSTER_INFO,
        *[RequestCode.GET_BROKER_RUNTIME_INFO] * 2,
    ]


def test_an_unknown_broker_name_is_a_result_beside_the_others(
    first_server: FakeNameServer, broker: FakeBroker
) -> None:
    with AdminClient(first_server.addr) as admin:
        unknown, known, no_slave = admin.brokers.get_runtime_info(["broker-b", broker.addr, "broker-a/7"])
    assert isinstance(unknown.error, NotFound)
    assert str(unknown.error) == (
        'no broker "broker-b"; did you mean "broker-a"? A host needs a port: broker-b:10911'
    )
    assert known.error is None
    assert str(no_slave.error) == "broker-a has no process 7 now: the ids of its processes are 0"


def test_a_broker_name_is_mapped_like_the_address_that_it_stands_for(broker: FakeBroker) -> None:
    with FakeNameServer({"C": {"broker-a": {0: "10.9.9.9:10911"}}}) as name_server:
        access = Access(address_map=(("10.9.9.9:10911", broker.addr),))
        with AdminClient(name_server.addr, access=access) as admin:
            [result] = admin.brokers.get_runtime_info(["broker-a"])
    assert (result.addr, result.error) == ("broker-a", None)


def test_the_client_of_a_read_only_context_refuses_changes(
    first_server: FakeNameServer, contexts_file: Path
) -> None:
    save_contexts(contexts_file, Contexts({"prod": Context(first_server.addr, read_only=True)}))
    with AdminClient.from_context("prod") as admin, pytest.raises(ReadOnlyAccess):
        admin.kv.put_value("N", "k", "v")
    assert first_server.kv == {}


def test_the_value_of_a_result_has_the_type_of_the_result() -> None:
    assert ServerResult[int]("a:1", 3, None).value() + 1 == 4
    with pytest.raises(BadAddress):
        ServerResult[int]("a:1", None, BadAddress("b")).value()


@run_on_loop
async def test_procedures_and_checks_are_coroutines(
    first_server: FakeNameServer, second_server: FakeNameServer, contexts_file: Path
) -> None:
    save_contexts(contexts_file, Contexts({"prod": Context(f"{first_server.addr};{second_server.addr}")}))
    async with AsyncAdminClient.from_context("prod") as admin:
        finding = await admin.checks.check_name_servers()
        divergence = await admin.find_divergence(settle_seconds=0)
        with pytest.raises(NotFound, match='no name server lists a broker "broker-x"'):
            await admin.drain("broker-x", dry_run=True)
    assert (finding.state, divergence.observation.verdict) == (CheckState.OK, "agree")


@run_on_loop
async def test_a_cancelled_procedure_ends_in_its_pause(
    first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    second_server.routes = {"T": {"broker-a": 4}}
    is_waiting = asyncio.Event()
    loop = asyncio.get_running_loop()
    async with AsyncAdminClient(f"{first_server.addr};{second_server.addr}") as admin:
        task = asyncio.create_task(
            admin.find_divergence(
                settle_seconds=3600,
                on_waiting=lambda observation, seconds: loop.call_soon_threadsafe(is_waiting.set),
            )
        )
        await asyncio.wait_for(is_waiting.wait(), DEADLINE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The client stays usable, and its threads are free.
        assert await admin.topics.list_names() == ("T",)


def test_all_checks_end_when_the_client_is_closed(first_server: FakeNameServer) -> None:
    admin = AdminClient(first_server.addr)
    admin.close()
    with pytest.raises(ClientClosed):
        admin.checks.check_name_servers()
    with pytest.raises(ClientClosed):
        admin.checks.run_all()


def test_the_package_has_the_public_names_and_no_others() -> None:
    assert "AdminClient" in nsadmin.__all__
    assert set(nsadmin.__all__) <= set(dir(nsadmin))
    with pytest.raises(AttributeError, match="module 'nsadmin' has no attribute 'no_such_name'"):
        nsadmin.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_a_dead_name_server_is_named_when_a_broker_name_is_looked_up(broker: FakeBroker) -> None:
    addr = f"127.0.0.1:{closed_port()}"
    with AdminClient(addr) as admin:
        [result] = admin.broker_configs.get_each(["broker-a/0"])
    assert str(result.error).startswith(f"no name server answered: {addr}: ")
