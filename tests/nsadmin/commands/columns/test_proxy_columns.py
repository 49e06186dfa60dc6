"""Meanings of columns about proxies and clients."""

from nsadmin.commands.columns.proxy_columns import PROXY_MEANINGS
from nsadmin.commands.proxies.client_list import CLIENT_COLUMNS
from nsadmin.commands.proxies.proxy_list import PROXY_COLUMNS


def test_meanings_are_those_of_columns_that_exist() -> None:
    assert {*PROXY_MEANINGS["proxyList"]} == {*PROXY_COLUMNS}
    assert {*PROXY_MEANINGS["clientList"]} <= {*CLIENT_COLUMNS}
