"""The keys of a context: read, refused, written, left out again."""

import pytest

from nsadmin.client.connection.access_options import Credentials
from nsadmin.console.contexts.context_fields import (
    CONTEXT_KEYS,
    InvalidContextValue,
    context_to_map,
    parse_context,
    reset_context_key,
)
from nsadmin.console.contexts.context_records import Context, ContextTls


def test_what_is_written_is_as_short_as_can_be() -> None:
    assert context_to_map(Context("a:1")) == {"namesrvAddr": "a:1"}
    assert context_to_map(Context(endpoint="h", tls=ContextTls())) == {"endpoint": "h", "tls": {}}
    assert context_to_map(Context("a", credentials=Credentials("k", "s"), tls=ContextTls(verify=False))) == {
        "namesrvAddr": "a",
        "accessKey": "k",
        "secretKey": "s",
        "tls": {"verify": False},
    }


@pytest.mark.parametrize(
    "item",
    [
        {"namesrvAddr": "a", "credentials": "keyring:prod"},
        {"namesrvAddr": "a", "accessKey": "k", "secretKey": "s", "securityToken": "t"},
        {"configFile": "b.conf", "tls": {"caFile": "ca", "keyPasswordFrom": "env:PW"}},
        {"namesrvAddr": "a", "addressMap": {"10.0.0.0/8": "gw", "h:1": "i:2"}, "color": "red"},
        {"namesrvAddr": "a", "timeout": 2.0, "retries": 0, "concurrency": 1, "output": "csv"},
    ],
)
def test_what_is_read_is_written_the_same(item: dict[str, object]) -> None:
    assert context_to_map(parse_context(item)) == item


def test_addresses_may_be_a_list_and_null_is_left_out() -> None:
    assert parse_context({"namesrvAddr": ["a:1", "b:2"], "timeout": None}) == Context("a:1;b:2")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        (1, "must be a map"),
        (
            {"nope": 1},
            "nope is unknown: use namesrvAddr, configFile, endpoint, bundle, credentials, tls, timeout, "
            "retries, concurrency, output, addressMap, proxies, kube, ssh, journals, readOnly, color, "
            "accessKey, secretKey, securityToken",
        ),
        ({5: 1}, "5 is unknown"),
        ({"namesrvAddr": 1}, "namesrvAddr must be text: put it in quotes"),
        ({"namesrvAddr": [1]}, "namesrvAddr must be text: put it in quotes"),
        ({"endpoint": " "}, "endpoint is empty: remove it, or set a value"),
        ({"namesrvAddr": "a", "endpoint": "b"}, "namesrvAddr and endpoint exclude each other: keep one"),
        ({"timeout": "soon"}, "timeout must be a number of seconds above 0, at most 3600"),
        ({"timeout": 0}, "timeout must be a number of seconds above 0, at most 3600"),
        ({"timeout": True}, "timeout must be a number of seconds above 0, at most 3600"),
        ({"retries": -1}, "retries must be a whole number, 0 or more"),
        ({"retries": 1.5}, "retries must be a whole number, 0 or more"),
        ({"concurrency": 0}, "concurrency must be a whole number, 1 or more"),
        ({"readOnly": "perhaps"}, "readOnly must be true or false"),
        ({"color": "pink"}, "color must be one of red, green, yellow, blue, magenta, cyan"),
        ({"accessKey": "a", "secretKey": 12345678}, "secretKey must be text: put it in quotes"),
        ({"accessKey": "a"}, "accessKey and secretKey belong together"),
        ({"securityToken": "a"}, "accessKey and secretKey belong together"),
        ({"credentials": "env", "accessKey": "a", "secretKey": "b"}, "credentials and accessKey exclude"),
        ({"tls": True}, "tls must be a map"),
        (
            {"tls": {"nope": 1}},
            "tls.nope is unknown: use caFile, certFile, keyFile, keyPassword, keyPasswordFrom, "
            "serverName, verify",
        ),
        ({"tls": {"verify": "no"}}, "tls.verify must be true or false"),
        ({"addressMap": ["a"]}, "addressMap must be a map, such as"),
        (
            {"addressMap": {"10.0.0.1/8": "a"}},
            'addressMap is invalid: invalid network "10.0.0.1/8": 10.0.0.1/8 has host bits set',
        ),
        ({"addressMap": {"h": 1}}, "addressMap must be text: put it in quotes"),
        ({"journals": [1]}, "journals must be text: put it in quotes"),
        ({"kube": "A"}, 'kube is invalid: invalid Kubernetes namespace "A": use NAMESPACE'),
        ({"ssh": "-x"}, 'ssh is invalid: invalid SSH host "-x": use USER@HOST'),
        ({"kube": "mq", "ssh": "jump"}, "kube and ssh exclude each other: keep one"),
    ],
)
def test_what_cannot_be_is_one_line_that_begins_with_its_key(item: object, said: str) -> None:
    with pytest.raises(InvalidContextValue) as failed:
        parse_context(item)
    assert str(failed.value).startswith(said)


def test_a_secret_that_is_no_text_is_not_shown() -> None:
    with pytest.raises(InvalidContextValue) as failed:
        parse_context({"accessKey": "a", "secretKey": 12345678})
    assert "12345678" not in str(failed.value)


FULL = Context(
    "a",
    credentials=Credentials("k", "s", "t"),
    tls=ContextTls("ca", "cert", "key", "pw", None, "mq", False),
    timeout=1,
    retries=1,
    concurrency=1,
    output="csv",
    address_map=(("a", "b"),),
    journals=("/j", "k"),
    read_only=True,
    color="red",
)


@pytest.mark.parametrize("key", CONTEXT_KEYS)
def test_every_key_can_be_left_out_again(key: str) -> None:
    assert key not in context_to_map(reset_context_key(FULL, key))
    assert reset_context_key(Context(), key) == Context()


def test_leaving_out_one_key_leaves_the_others() -> None:
    assert reset_context_key(FULL, "tls.verify").tls == ContextTls(
        "ca", "cert", "key", "pw", None, "mq", True
    )
    assert reset_context_key(FULL, "securityToken").credentials == Credentials("k", "s")
    assert reset_context_key(FULL, "timeout")._replace(timeout=1) == FULL
    assert reset_context_key(Context(credentials="env"), "securityToken").credentials == "env"


@pytest.mark.parametrize("key", ["nope", "tls.nope", "tls.", "timeout.x", ""])
def test_what_is_no_key_cannot_be_left_out(key: str) -> None:
    with pytest.raises(KeyError):
        reset_context_key(FULL, key)
