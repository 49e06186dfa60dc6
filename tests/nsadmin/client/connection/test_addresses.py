"""Address lists as people write them."""

import pytest

from nsadmin.client.connection.addresses import (
    BadAddress,
    NameServerList,
    choose_name_servers,
    parse_addr,
    parse_addrs,
)


@pytest.mark.parametrize(
    ("text", "addr"),
    [
        ("127.0.0.1:19876", "127.0.0.1:19876"),
        ("127.0.0.1", "127.0.0.1:9876"),
        ("mq-1.example.com", "mq-1.example.com:9876"),
        (" mq:1 ", "mq:1"),
        ("[::1]:1", "[::1]:1"),
        ("[::1]", "[::1]:9876"),
        ("::1", "[::1]:9876"),
        ("fe80::1%eth0", "[fe80::1%eth0]:9876"),
    ],
)
def test_one_address(text: str, addr: str) -> None:
    assert parse_addr(text) == addr


def test_a_port_left_out_is_the_one_of_its_kind() -> None:
    assert parse_addr("broker", 10911) == "broker:10911"


@pytest.mark.parametrize("text", ["", ":1", "a:b", "[]:1", "http://a:1", "a/b", "[::1", "a@b:1"])
def test_what_is_no_address_is_refused_and_named(text: str) -> None:
    with pytest.raises(BadAddress, match="use HOST:PORT") as caught:
        parse_addr(text)
    assert f'invalid address "{text}": ' in str(caught.value)


@pytest.mark.parametrize(("text", "port"), [("a:0", "0"), ("[::1]:70000", "70000")])
def test_a_port_out_of_range_is_named(text: str, port: str) -> None:
    with pytest.raises(BadAddress) as caught:
        parse_addr(text)
    assert str(caught.value) == f'invalid port {port} in "{text}": use 1 to 65535'


@pytest.mark.parametrize(
    "lists",
    [
        "a:1;b:2",
        "a:1,b:2",
        "a:1 b:2",
        " a:1;\n b:2; ",
        ["a:1", "b:2"],
        ["a:1;b:2", "b:2"],
        ["a:1;a:1", "b:2"],
    ],
)
def test_lists_in_all_their_forms(lists: str | list[str]) -> None:
    assert parse_addrs(lists) == ("a:1", "b:2")


def test_what_is_given_comes_before_the_environment_and_that_before_this_machine() -> None:
    environ = {"NAMESRV_ADDR": "e:1;f:2"}
    assert choose_name_servers("a:1", environ) == NameServerList(("a:1",), "given")
    assert choose_name_servers(None, environ) == NameServerList(("e:1", "f:2"), "environment")
    assert choose_name_servers((), environ) == NameServerList(("e:1", "f:2"), "environment")
    assert choose_name_servers(None, {"NAMESRV_ADDR": " "}) == NameServerList(("127.0.0.1:9876",), "default")
    assert choose_name_servers(None, {}) == NameServerList(("127.0.0.1:9876",), "default")


@pytest.mark.parametrize("given", ["", " ; ", [""]])
def test_an_empty_list_that_was_given_never_means_this_machine(given: str | list[str]) -> None:
    with pytest.raises(BadAddress, match="empty"):
        choose_name_servers(given, {"NAMESRV_ADDR": "e:1"})


def test_an_empty_list_in_the_environment_never_means_this_machine() -> None:
    with pytest.raises(BadAddress, match="the list of name servers is empty"):
        choose_name_servers(None, {"NAMESRV_ADDR": " ; "})
    assert choose_name_servers(None, {"NAMESRV_ADDR": " "}).source == "default"
