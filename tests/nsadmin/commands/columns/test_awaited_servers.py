"""A name server that a broker waits for is named with the rows of the change."""

from namesrv_core.errors import RocketMQError
from nsadmin.client import AdminClient, NotApplied
from nsadmin.commands.columns.awaited_servers import report_awaited_servers
from nsadmin.console.exit_codes import ExitCode, exit_code_of_outcomes
from nsadmin.console.output import ResultRows
from tests.support.fake_servers import FakeNameServer, closed_port
from tests.support.topic_brokers import TopicBroker


def test_a_silent_name_server_makes_a_success_a_partial_one() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    with FakeNameServer() as server, TopicBroker() as broker, AdminClient(server.addr, timeout=5) as admin:
        broker.items["namesrvAddr"] = f"{server.addr};{dead}"
        rows = report_awaited_servers(admin, ResultRows(("key",), [{"key": "k"}], [None]), [broker.addr])
        assert report_awaited_servers(admin, rows, []) == rows
    assert exit_code_of_outcomes(rows.errors) == ExitCode.PARTLY
    [note] = rows.notes
    assert note.startswith(f"name server {dead}: connection refused")
    assert note.endswith(f"{broker.addr} made the change but cannot register it here yet")


def test_a_failure_beside_it_is_still_counted() -> None:
    dead = f"127.0.0.1:{closed_port()}"
    errors: list[RocketMQError | None] = [None, NotApplied("ignored")]
    with TopicBroker() as broker, AdminClient(dead, timeout=5) as admin:
        rows = report_awaited_servers(admin, ResultRows(("key",), [], errors), [broker.addr])
    assert rows.notes[0] == "failed on 1 of 2 servers: ignored"
    assert len(rows.notes) == 2
