"""addBroker and removeBroker."""

import json
from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import Server, refuse_with


@pytest.fixture
def container() -> Iterator[Server]:
    config = b"brokerContainerIP=127.0.0.1\n"
    with Server(
        {26: lambda asked: build_reply(asked, body=config), 902: build_reply, 903: build_reply}
    ) as running:
        yield running


@pytest.mark.parametrize(
    ("words", "code"),
    [(("addBroker", "-b", "/b.conf"), 902), (("removeBroker", "-b", "C:broker-b:0"), 903)],
)
def test_the_flags_of_mqadmin(run: Run, container: Server, words: tuple[str, ...], code: int) -> None:
    planned = run(*words, "-c", container.addr, "--dry-run", "--json")
    assert (json.loads(planned.out)[0]["result"], container.asked_codes()) == ("dry-run", [26])
    result = run(*words, "-c", container.addr, "--yes", "--json")
    [row] = json.loads(result.out)
    assert (result.code, row["broker"], row["result"]) == (0, words[2], "done")
    assert container.asked_codes() == [26, code]


@pytest.mark.parametrize("identity", ["broker-b", "C:broker-b", "C:broker-b:one", "C::0"])
def test_what_names_no_broker(run: Run, container: Server, identity: str) -> None:
    result = run("removeBroker", container.addr, identity, "--yes")
    assert (
        result.code,
        f'invalid broker "{identity}": write CLUSTER:BROKER:ID, for example cluster-a:broker-a:0'
        in result.err,
        container.asked,
    ) == (2, True, [])


def test_what_is_refused(run: Run, container: Server) -> None:
    container.handlers |= {
        902: refuse_with(1, "addBroker properties empty"),
        903: refuse_with(211, "Broker not exist"),
    }
    result = run("addBroker", container.addr, "/b.conf", "--json")
    assert (result.code, json.loads(result.out)[0]["error"]) == (
        1,
        "SYSTEM_ERROR (1): addBroker properties empty",
    )
    assert run("removeBroker", container.addr, "C:b:0", "--yes").code == 5
    assert run("removeBroker", container.addr, "C:b:0").code == 2
