"""Addresses, taken apart and put together."""

import pytest

from namesrv_core.transport.address import join_addr, split_addr, split_listen_text

ADDRS = [
    ("a:1", ("a", 1)),
    ("host.name:10911", ("host.name", 10911)),
    ("127.0.0.1:65535", ("127.0.0.1", 65535)),
    ("[::1]:9876", ("::1", 9876)),
]


@pytest.mark.parametrize(("addr", "parts"), ADDRS)
def test_an_address_is_split_and_put_together_again(addr: str, parts: tuple[str, int]) -> None:
    assert split_addr(addr) == parts
    assert join_addr(*parts) == addr


def test_an_ipv6_address_without_brackets_is_split_at_its_last_colon() -> None:
    assert split_addr("::1:5") == ("::1", 5)


@pytest.mark.parametrize(
    "addr",
    ["", "a", "a:", ":1", "a:x", "a:0", "a:65536", "a:-1", "a:1x", "a:1 ", "a:\N{SUPERSCRIPT TWO}", "null"],
)
def test_what_is_no_address_is_a_value_error(addr: str) -> None:
    with pytest.raises(ValueError, match=r"invalid address .*: write HOST:PORT"):
        split_addr(addr)


@pytest.mark.parametrize(
    ("text", "parts"),
    [("9877", ("127.0.0.1", 9877)), ("0", ("127.0.0.1", 0)), ("h:1", ("h", 1)), ("[::]:0", ("::", 0))],
)
def test_where_to_listen_is_a_port_of_this_machine_or_an_address(text: str, parts: tuple[str, int]) -> None:
    assert split_listen_text(text) == parts


@pytest.mark.parametrize("text", ["", "x", ":1", "h:", "h:x", "65536", "-1", "h:65536"])
def test_where_nobody_can_listen_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"invalid address .*: write PORT or HOST:PORT"):
        split_listen_text(text)
