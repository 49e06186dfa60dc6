"""A source of answers in place of the servers."""

from collections.abc import Sequence

import pytest

from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.connection.access_options import Access
from nsadmin.client.connection.addresses import make_finder
from nsadmin.client.connection.answer_source import SendLive
from nsadmin.client.connection.caller import Caller
from nsadmin.client.results import ClientClosed
from tests.support.fake_servers import closed_port


class CannedAnswers:
    """Answers requests itself, except those of one code, which it passes on."""

    is_static = False
    clock_ms = 1_700_000_000_500

    def __init__(self, live_code: int) -> None:
        self.live_code = live_code
        self.seen: list[tuple[str, str, int]] = []

    def answer_calls(
        self, identity: str, calls: Sequence[tuple[str, RemotingCommand]], send_live: SendLive
    ) -> list[RemotingCommand | CallError]:
        self.seen += [(identity, server_addr, command.code) for server_addr, command in calls]
        live_indexes = [index for index, (_, command) in enumerate(calls) if command.code == self.live_code]
        live_answers = dict(zip(live_indexes, send_live(live_indexes), strict=True))
        return [live_answers.get(index, RemotingCommand(0, body=b"canned")) for index in range(len(calls))]

    def answer_probe(self, probe_name: str, server_addr: str, probe_live: object) -> str:
        return f"{probe_name} of {server_addr}"


def test_an_answer_source_answers_in_place_of_the_servers_and_passes_on_what_it_wants() -> None:
    answers, dead_addr = CannedAnswers(live_code=26), f"127.0.0.1:{closed_port()}"
    caller = Caller(make_finder(dead_addr), Access(timeout=0.2, answers=answers))
    canned, live = caller.send_requests([(dead_addr, build_request(105)), (dead_addr, build_request(26))])
    assert canned.value().body == b"canned"
    assert isinstance(live.error, CallError)
    assert answers.seen == [("unsigned plain", dead_addr, 105), ("unsigned plain", dead_addr, 26)]
    assert caller.run_probe("certificates", "h:1", lambda: "") == "certificates of h:1"
    assert caller.clock_ms == 1_700_000_000_500
    caller.close()
    with pytest.raises(ClientClosed):
        caller.send_requests([(dead_addr, build_request(105))])
