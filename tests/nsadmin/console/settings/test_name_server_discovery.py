"""How name servers are found."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin.client.connection.addresses import BadAddress, NameServerList
from nsadmin.console.contexts import Context
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from nsadmin.console.settings.name_server_discovery import cache_folder, choose_discovery
from tests.support.endpoint import FakeEndpoint

LAB = ChosenContext("lab", Context("lab:1"), False, Path("/etc/nsadmin"))


@pytest.fixture(autouse=True)
def environment(config: Path) -> None:
    pass


def find(chosen: ChosenContext = NO_CONTEXT, **values: Any) -> NameServerList:
    return choose_discovery(values, chosen, 3).find_name_servers()


def test_each_way_says_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = tmp_path / "broker.conf"
    conf.write_text("namesrvAddr=file:1\n")
    assert find() == NameServerList(("127.0.0.1:9876",), "default")
    assert find(namesrv_addr=["a;b:1"]) == NameServerList(("a:9876", "b:1"), "given", "-n")
    assert find(config_file=str(conf)) == NameServerList(("file:1",), "file", str(conf))
    assert find(LAB) == NameServerList(("lab:1",), "context", "lab")
    of_file = LAB._replace(context=Context(config_file="broker.conf"), config_folder=tmp_path)
    assert find(of_file) == NameServerList(("file:1",), "file", str(conf))
    monkeypatch.setenv("NAMESRV_ADDR", "env:1")
    assert find() == NameServerList(("env:1",), "environment", "NAMESRV_ADDR")


def test_an_endpoint_is_asked_when_it_is_looked_for() -> None:
    with FakeEndpoint("a:1") as endpoint:
        chosen = LAB._replace(context=Context(endpoint=endpoint.url))
        way = choose_discovery({}, chosen, 3)
        assert endpoint.asked == []
        assert way.find_name_servers() == NameServerList(("a:1",), "endpoint", endpoint.url)
        assert find(endpoint=endpoint.domain).addrs == ("a:1",)
        endpoint.status = 500
        assert "using its answer of" in str(find(endpoint=endpoint.url).note)
    assert [*cache_folder().iterdir()] != []


def test_what_was_overruled_is_in_the_order_in_which_it_would_have_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "env:1")
    assert choose_discovery({"namesrv_addr": ["a"]}, LAB, 3).overruled_sources == (
        "NAMESRV_ADDR env:1",
        "context lab (lab:1)",
    )
    assert choose_discovery({}, LAB, 3).overruled_sources == ("context lab (lab:1)",)
    assert choose_discovery({}, LAB._replace(is_named=True), 3).overruled_sources == ("NAMESRV_ADDR env:1",)
    assert choose_discovery({}, NO_CONTEXT, 3).overruled_sources == ()


def test_two_ways_at_once_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^-n and --endpoint exclude each other: pass only one of them"):
        find(namesrv_addr=["a"], endpoint="b")


def test_a_bad_address_is_told_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadAddress, match=r'^context lab: invalid address "a:b"'):
        find(LAB._replace(context=Context("a:b")))
    monkeypatch.setenv("NAMESRV_ADDR", "a:b")
    with pytest.raises(BadAddress, match=r'^NAMESRV_ADDR: invalid address "a:b"'):
        find()
    assert find(namesrv_addr=["a"]).addrs == ("a:9876",)


def test_where_what_endpoints_said_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert cache_folder() == Path("/c/nsadmin")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "nsadmin"
