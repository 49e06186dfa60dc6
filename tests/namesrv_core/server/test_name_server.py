"""A name server on real sockets, with its files on a real disk."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.server import name_server
from namesrv_core.server.name_server import NameServer
from namesrv_core.storage import kv_file, settings_file
from namesrv_core.transport.command_stream import CommandStream
from tests.support.name_servers import (
    Peer,
    make_settings,
    open_listener,
    run_on_loop,
    start_name_server,
    wait_until,
)
from tests.support.wire import broker_ext, registration_body, topic_config

KEY = {"namespace": "n", "key": "k"}
REGISTRATION = registration_body(["T", "U"])


async def register(peer: Peer, broker_id: int = 0, addr: str = "127.0.0.1:1", **more: str) -> RemotingCommand:
    ext = broker_ext("a", broker_id, addr) | {"haServerAddr": f"ha-{addr}"} | more
    answer = await peer.send_request(103, ext, REGISTRATION)
    assert answer.code == 0
    return answer


async def value(peer: Peer, key: str = "k") -> str | None:
    ext = (await peer.send_request(101, KEY | {"key": key})).ext
    return ext.get("value") if ext else None


class Recorder:
    """A broker's own port: keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[RemotingCommand] = []

    def stream_opened(self, stream: CommandStream) -> None:
        pass

    def command_received(self, stream: CommandStream, command: RemotingCommand) -> None:
        self.told.append(command)

    def stream_closed(self, stream: CommandStream) -> None:
        pass


@asynccontextmanager
async def recording() -> AsyncIterator[tuple[Recorder, str]]:
    recorder = Recorder()
    async with open_listener(recorder) as listener:
        yield recorder, f"127.0.0.1:{listener.bound_port}"


# Connections.


def test_both_header_forms_are_answered_each_in_its_own(tmp_path: Path, form: HeaderType) -> None:
    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
            answer = await peer.send_request(106, header_type=form)
            assert (answer.code, answer.header_type) == (0, form)

    test()


async def test_half_frames_hold_up_nobody_and_many_in_one_read_are_answered(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path) as server,
        Peer.connect(server.namesrv_addr) as peer,
        Peer.connect(server.namesrv_addr) as other,
    ):
        whole = codec.encode_command(build_request(106))
        peer.send(whole[:9])
        assert (await other.send_request(106)).code == 0
        peer.send(whole[9:] + whole * 20 + whole[:3])
        answers = [await peer.receive() for _ in range(21)]
        assert [answer.code for answer in answers if answer] == [0] * 21


async def test_garbage_closes_its_connection_takes_out_its_broker_and_harms_nobody_else(
    tmp_path: Path,
) -> None:
    async with (
        start_name_server(tmp_path) as server,
        Peer.connect(server.namesrv_addr) as bad,
        Peer.connect(server.namesrv_addr) as good,
    ):
        await register(bad, 0, "127.0.0.1:1")
        await register(good, 1, "127.0.0.1:2")
        bad.send(b"GET / HTTP/1.1\r\n\r\n")
        assert await bad.is_closed()
        await wait_until(lambda: set(server.state.tables.broker_groups["a"].broker_addrs) == {1})
        assert (await good.send_request(106)).code == 0


async def test_oneway_requests_are_carried_out_and_answers_ignored_without_a_word(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        for flag in (1, 2, 3):
            peer.send(
                codec.encode_command(
                    RemotingCommand(100, KEY | {"value": f"v{flag}"}, opaque=flag, flag=flag)
                )
            )
        peer.send(codec.encode_command(RemotingCommand(9999, opaque=4, flag=2)))
        assert await value(peer) == "v2"


async def test_a_broker_is_gone_as_soon_as_its_connection_is(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as client:
        async with Peer.connect(server.namesrv_addr) as broker:
            await register(broker)
            assert (await client.send_request(105, {"topic": "T"})).code == 0
        await wait_until(lambda: not server.state.tables.broker_groups)
        assert (await client.send_request(105, {"topic": "T"})).code == 17


async def test_a_broker_that_came_back_over_a_new_connection_survives_the_end_of_the_old(
    tmp_path: Path,
) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as fresh:
        async with Peer.connect(server.namesrv_addr) as old:
            await register(old)
            await register(fresh)
        await wait_until(lambda: len(server._open_streams) == 1)
        assert (await fresh.send_request(105, {"topic": "T"})).code == 0


async def test_a_handler_that_breaks_is_code_1_and_the_connection_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        with monkeypatch.context() as broken:
            broken.setattr(server.state.kv_config, "get_value", None)
            answer = await peer.send_request(101, KEY)
        assert answer.code == 1
        assert "TypeError" in (answer.remark or "")
        assert (await peer.send_request(101, KEY)).code == 22


# Time.


async def test_the_channel_of_a_broker_that_expired_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_server, "FIRST_SCAN_SECONDS", 0.02)
    async with (
        start_name_server(tmp_path, scanNotActiveBrokerInterval=20) as server,
        Peer.connect(server.namesrv_addr) as silent,
        Peer.connect(server.namesrv_addr) as other,
    ):
        await register(silent, heartbeatTimeoutMillis="1")
        assert await silent.is_closed()
        assert server.state.tables.broker_groups == {}
        assert (await other.send_request(106)).code == 0


async def test_a_connection_without_a_word_is_closed_and_a_busy_one_is_not(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, serverChannelMaxIdleTimeSeconds=1) as server,
        Peer.connect(server.namesrv_addr) as idle,
        Peer.connect(server.namesrv_addr) as busy,
    ):
        await register(idle)
        closed = asyncio.ensure_future(idle.is_closed())
        while not closed.done():
            assert (await busy.send_request(106)).code == 0
            await asyncio.sleep(0.05)
        assert server.state.tables.broker_groups == {}
        assert (await busy.send_request(106)).code == 0


async def test_who_does_not_take_what_it_was_sent_is_cut_off_and_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As where something to be sent stands in the way.
    monkeypatch.setattr(CommandStream, "close", lambda stream: None)
    async with (
        start_name_server(tmp_path, serverChannelMaxIdleTimeSeconds=1) as server,
        Peer.connect(server.namesrv_addr) as idle,
    ):
        await register(idle)
        assert await idle.is_closed()
        assert server.counters.idle_count == 1
        assert server.state.tables.broker_groups == {}


async def test_readers_of_a_long_topic_list_get_the_same_list_and_then_each_change(tmp_path: Path) -> None:
    names = [f"T{number:04}" for number in range(5_000)]
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(start_name_server(tmp_path))
        peers = [await stack.enter_async_context(Peer.connect(server.namesrv_addr)) for _ in range(5)]
        assert (await peers[0].send_request(103, broker_ext(), registration_body(names))).code == 0
        answers = await asyncio.gather(*(p.send_request(206) for p in peers[1:]), peers[0].send_request(106))
        for answer in answers[:-1]:
            assert json.loads(answer.body)["topicList"] == names
        assert (await peers[0].send_request(216, {"topic": "T0007"})).code == 0
        assert "T0007" not in json.loads((await peers[1].send_request(206)).body)["topicList"]


# Disk.


async def test_a_value_is_on_the_disk_when_its_put_is_answered(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        assert (await peer.send_request(100, KEY | {"value": "v"})).code == 0
        assert kv_file.load_kv_tables(tmp_path / "kvConfig.json") == {"n": {"k": "v"}}
        assert (await peer.send_request(102, KEY)).code == 0
        assert kv_file.load_kv_tables(tmp_path / "kvConfig.json") == {}
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        assert (await peer.send_request(219, {"namespace": "n"})).code == 22


async def test_a_delete_of_what_is_just_being_deleted_waits_for_the_disk_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        start_name_server(tmp_path) as server,
        Peer.connect(server.namesrv_addr) as first,
        Peer.connect(server.namesrv_addr) as second,
    ):
        assert (await first.send_request(100, KEY | {"value": "v"})).code == 0
        gate, save = threading.Event(), kv_file.save_kv_tables
        monkeypatch.setattr(kv_file, "save_kv_tables", lambda *told: gate.wait(10) and save(*told))
        deletes = [asyncio.ensure_future(peer.send_request(102, KEY)) for peer in (first, second)]
        async with Peer.connect(server.namesrv_addr) as third:
            await wait_until(lambda: server.state.kv_config.tables_by_namespace == {})
            assert (await third.send_request(106)).code == 0
        assert not any(answer.done() for answer in deletes)
        gate.set()
        assert [(await answer).code for answer in deletes] == [0, 0]
        assert kv_file.load_kv_tables(tmp_path / "kvConfig.json") == {}


async def test_many_puts_at_once_are_all_answered_and_all_on_the_disk(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        puts = [build_request(100, KEY | {"key": f"k{number}", "value": "v"}) for number in range(200)]
        peer.send(b"".join(map(codec.encode_command, puts)))
        answers = [await peer.receive() for _ in puts]
        assert {(a.opaque, a.code) for a in answers if a} == {(put.opaque, 0) for put in puts}
        assert len(kv_file.load_kv_tables(tmp_path / "kvConfig.json")["n"]) == 200


async def test_a_value_that_cannot_be_written_is_refused_and_not_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with start_name_server(home) as server, Peer.connect(server.namesrv_addr) as peer:
        assert (await peer.send_request(100, KEY | {"value": "old"})).code == 0
        kept = home.rename(tmp_path / "kept")
        home.write_text("a file where the folder was")
        for ext in (KEY | {"value": "new"}, KEY | {"key": "other", "value": "new"}):
            answer = await peer.send_request(100, ext)
            assert answer.code == 1
            assert "could not be saved" in (answer.remark or "")
        assert (await peer.send_request(102, KEY)).code == 1
        assert (await value(peer), await value(peer, "other")) == ("old", None)
        home.unlink()
        kept.rename(home)
        assert (await peer.send_request(100, KEY | {"value": "new"})).code == 0
        assert kv_file.load_kv_tables(home / "kvConfig.json") == {"n": {"k": "new"}}


async def test_a_oneway_put_that_cannot_be_written_is_undone_without_a_word(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with start_name_server(home) as server, Peer.connect(server.namesrv_addr) as peer:
        home.write_text("a file where a folder should be")
        peer.send(codec.encode_command(RemotingCommand(100, KEY | {"value": "v"}, opaque=7, flag=2)))
        assert (await peer.send_request(100, KEY | {"key": "other", "value": "v"})).code == 1
        assert server.state.kv_config.tables_by_namespace == {}


async def test_a_route_shows_no_order_configuration_that_could_not_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with (
        start_name_server(home, orderMessageEnable=True) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await register(peer)
        home.write_text("a file where a folder should be")
        order = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:8"}
        assert (await peer.send_request(100, order)).code == 1
        assert b"orderTopicConf" not in (await peer.send_request(105, {"topic": "T"})).body


async def test_settings_are_in_force_and_on_the_disk_when_their_update_is_answered(tmp_path: Path) -> None:
    path = tmp_path / "namesrv.properties"
    path.write_text("# mine\nenableAllTopicList=true\n")
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        body = "enableAllTopicList=false\nproductEnvName=C:\\\\é\n".encode()
        assert (await peer.send_request(318, body=body)).code == 0
        items = {item.key: item.value for item in settings_file.load_setting_items(path)}
        assert (items["enableAllTopicList"], items["productEnvName"]) == ("false", "C:\\é")
        assert "# mine" in path.with_name("namesrv.properties.bak").read_text()
        assert (await peer.send_request(206)).remark == "disable"
        assert b"productEnvName=C:\\\xc3\xa9\n" in (await peer.send_request(319)).body


async def test_settings_that_cannot_be_written_are_refused_and_not_in_force(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store = str(tmp_path / "file" / "namesrv.properties")
    async with (
        start_name_server(tmp_path, configStorePath=store) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        assert (await peer.send_request(318, body=b"enableAllTopicList=false\n")).code == 1
        assert (await peer.send_request(206)).code == 0


def test_a_corrupt_kv_file_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "kvConfig.json").write_text('{"configTable":')
    with pytest.raises(kv_file.CorruptFileError, match=r"kvConfig\.json"):
        NameServer(make_settings(tmp_path))


# Notices (905).

NOTIFY = {"notifyMinBrokerIdChanged": True}


async def test_brokers_are_told_of_a_smaller_id_in_their_group(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, **NOTIFY) as server,
        recording() as (recorder, addr),
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await register(peer, 1, addr)
        await register(peer, 0, "127.0.0.1:1")
        await wait_until(lambda: recorder.told)
        (notice,) = recorder.told
        assert (notice.code, notice.is_oneway) == (905, True)
        assert notice.ext == {
            "minBrokerId": "0",
            "minBrokerAddr": "127.0.0.1:1",
            "haBrokerAddr": "ha-127.0.0.1:1",
        }


async def test_brokers_are_told_of_a_smallest_id_that_went(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, **NOTIFY) as server,
        recording() as (recorder, addr),
        Peer.connect(server.namesrv_addr) as slave,
    ):
        async with Peer.connect(server.namesrv_addr) as master:
            await register(master, 0, "127.0.0.1:1", enableActingMaster="true")
            await register(slave, 1, addr, enableActingMaster="true")
        await wait_until(lambda: recorder.told)
        assert recorder.told[0].ext == {
            "minBrokerId": "1",
            "minBrokerAddr": addr,
            "offlineBrokerAddr": "127.0.0.1:1",
        }


async def test_nobody_is_told_unless_the_settings_say_so(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path) as server,
        recording() as (recorder, addr),
        Peer.connect(server.namesrv_addr) as peer,
    ):
        await register(peer, 2, addr)
        await register(peer, 1, "127.0.0.1:1")
        assert (await peer.send_request(318, body=b"notifyMinBrokerIdChanged=true\n")).code == 0
        await register(peer, 0, "127.0.0.1:2")
        await wait_until(lambda: recorder.told)
        assert [(notice.ext or {})["minBrokerId"] for notice in recorder.told] == ["0"]


@pytest.mark.parametrize("addr", ["127.0.0.1:1", "no address", "127.0.0.1:99999", "no.such.host.invalid:1"])
def test_a_broker_that_cannot_be_told_harms_nobody(tmp_path: Path, addr: str) -> None:
    @run_on_loop
    async def test() -> None:
        async with start_name_server(tmp_path, **NOTIFY) as server, Peer.connect(server.namesrv_addr) as peer:
            await register(peer, 1, addr)
            await register(peer, 0, "127.0.0.1:2")
            await wait_until(lambda: not server._notices._tasks)
            assert (await peer.send_request(106)).code == 0

    test()


# The end.


async def test_a_server_that_stops_closes_its_connections_and_its_port(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server:
        async with Peer.connect(server.namesrv_addr) as peer:
            await register(peer)
            await server.stop()
            assert await peer.is_closed()
        with pytest.raises(OSError, match=r"."):
            async with Peer.connect(server.namesrv_addr):
                pass


async def test_a_put_under_way_is_written_and_answered_before_the_end(tmp_path: Path) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        await peer.send_request(106)
        peer.send(codec.encode_command(build_request(100, KEY | {"value": "v"})))
        await wait_until(lambda: server.state.kv_config.tables_by_namespace)
        await server.stop()
        answer = await peer.receive()
        assert answer is not None
        assert answer.code == 0
    assert kv_file.load_kv_tables(tmp_path / "kvConfig.json") == {"n": {"k": "v"}}


async def test_an_address_on_ipv6_is_in_brackets(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, bindAddress="::1") as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        assert server.namesrv_addr.startswith("[::1]:")
        assert (await peer.send_request(106)).code == 0


async def test_time_is_in_milliseconds_and_never_goes_back(tmp_path: Path) -> None:
    server = NameServer(make_settings(tmp_path))
    times = [server.now_ms() for _ in range(1000)]
    assert times == sorted(times)
    assert times[0] > 1_700_000_000_000


def many(version: int, perm: int = 6) -> bytes:
    configs = [topic_config(f"topic-{number}", perm=perm) for number in range(4000)]
    return registration_body(configs, DataVersion(version, 0, 1))


async def test_a_large_registration_holds_nobody_up_and_is_seen_whole_or_not_at_all(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path) as server,
        Peer.connect(server.namesrv_addr) as broker,
        Peer.connect(server.namesrv_addr) as client,
    ):
        ext = broker_ext("a", 0, "127.0.0.1:1")
        for version, perm in ((1, 6), (2, 4), (2, 4), (3, 6)):
            asked = build_request(103, ext, many(version, perm))
            broker.send(
                codec.encode_command(asked) + codec.encode_command(build_request(105, {"topic": "topic-7"}))
            )
            answered = asyncio.create_task(broker.receive())
            while not answered.done():
                assert (await client.send_request(206)).code == 0
                topics = server.state.tables.placements_by_topic
                assert len(topics) in (0, 4000)
                assert len({placement.broker_queues["a"].perm for placement in topics.values()}) < 2
            # What comes behind it on its connection comes after it.
            answers = [answered.result(), await broker.receive()]
            assert [answer.code for answer in answers if answer] == [0, 0]
            assert answers[1] is not None
            assert b'"perm":%d' % perm in answers[1].body


async def test_without_the_fast_path_all_is_answered_and_nothing_quickly(tmp_path: Path) -> None:
    async with (
        start_name_server(tmp_path, fastPath=False) as server,
        Peer.connect(server.namesrv_addr) as peer,
    ):
        for _ in range(2):
            answer = await peer.send_request(103, broker_ext("a", 0, "127.0.0.1:1"), many(1))
            assert answer.code == 0
        for _ in range(3):
            assert (await peer.send_request(105, {"topic": "topic-7"})).code == 0
        assert server.counters.cached_answer_count == 0


async def test_a_large_registration_that_cannot_be_read_is_answered_as_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with start_name_server(tmp_path) as server, Peer.connect(server.namesrv_addr) as peer:
        ext = broker_ext("a", 0, "127.0.0.1:1")
        answer = await peer.send_request(103, ext, many(1)[:-1])
        assert answer.code == 1
        assert server.state.tables.placements_by_topic == {}

        def broken(*_: object, **__: object) -> None:
            raise RuntimeError("broken")

        # Whatever goes wrong ahead, the usual way is still there.
        monkeypatch.setattr("namesrv_core.protocol.registration_steps.decode_registration_steps", broken)
        assert (await peer.send_request(103, ext, many(1))).code == 0
        assert len(server.state.tables.placements_by_topic) == 4000
