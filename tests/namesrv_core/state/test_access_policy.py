"""Grants: where they hold, and for whom."""

from ipaddress import ip_network

import pytest

from namesrv_core.state.access_policy import (
    AccessGrant,
    AccessPolicy,
    AccessRole,
    PeerIdentity,
    SignerAccount,
    is_in_networks,
    normalize_subject,
)
from tests.support.memory import kept_megabytes

NET = (ip_network("10.0.0.0/8"), ip_network("2001:db8::/32"))


def test_each_role_may_what_those_before_it_may() -> None:
    assert list(AccessRole) == sorted(
        [AccessRole.ADMIN, AccessRole.NONE, AccessRole.READ, AccessRole.OBSERVER, AccessRole.BROKER]
    )


@pytest.mark.parametrize("host", ["10.0.0.1", "10.255.255.255", "::ffff:10.1.2.3", "2001:db8::1"])
def test_an_address_is_inside_its_network_however_it_is_written(host: str) -> None:
    assert is_in_networks(host, NET)


@pytest.mark.parametrize(
    "host", ["11.0.0.1", "::1", "::ffff:11.0.0.1", "", "10.0.0", "broker-a", "fe80::1%eth0"]
)
def test_what_is_another_address_or_none_is_outside(host: str) -> None:
    assert not is_in_networks(host, NET)


def test_a_peer_without_an_address_is_not_even_in_the_network_of_all() -> None:
    assert not is_in_networks("", (ip_network("0.0.0.0/0"), ip_network("::/0")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CN=ops, O=Example", "cn=ops,o=Example"),
        (" CN = ops ,O=a\\,b", "CN=ops,O=a\\,b"),
        ("CN=a\\\\,O=b", "CN=a\\\\, O=b"),
        ("CN=a\\\\ ,O=b", "CN=a\\\\,O=b"),
        ("CN=a\\   ,O=b", "CN=a\\ ,O=b"),
    ],
)
def test_a_subject_is_the_same_however_it_is_spaced(one: str, other: str) -> None:
    assert normalize_subject(one) == normalize_subject(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CN=ops", "CN=Ops"),
        ("CN=ops", "CN=opsX"),
        ("XCN=ops", "CN=ops"),
        ("CN=ops,O=Example", "CN=ops"),
        ("CN=ops,O=Example", "O=Example,CN=ops"),
        ("CN=ops\\,O=Example", "CN=ops,O=Example"),
        ("CN=ops\\ ", "CN=ops"),
        ("CN=ops\n", "CN=ops"),
        ("CN=ops\t", "CN=ops"),
        ("CN=ops\u00a0", "CN=ops"),
        ("CN=ops\u2028", "CN=ops"),
        ("\x1fCN=ops", "CN=ops"),
        ("CN=\x85ops", "CN=ops"),
    ],
)
def test_other_subjects_are_others(one: str, other: str) -> None:
    assert normalize_subject(one) != normalize_subject(other)


def test_an_escaped_comma_belongs_to_its_value() -> None:
    assert normalize_subject("cn=ops\\, of us , o=Example") == "CN=ops\\, of us,O=Example"
    assert normalize_subject("cn=ops\\\\, o=Example") == "CN=ops\\\\,O=Example"


def test_without_a_key_the_strongest_grant_that_covers_the_peer_comes_first() -> None:
    everybody, near = AccessGrant(AccessRole.READ), AccessGrant(AccessRole.BROKER, NET)
    ops = AccessGrant(AccessRole.ADMIN, NET, "CN=ops")
    policy = AccessPolicy([everybody, near, ops])
    assert policy.grants_without_key(PeerIdentity("11.0.0.1")) == (everybody,)
    assert policy.grants_without_key(PeerIdentity("10.0.0.1")) == (near, everybody)
    assert policy.grants_without_key(PeerIdentity("10.0.0.1", "cn=ops")) == (ops, near, everybody)
    assert policy.grants_without_key(PeerIdentity("11.0.0.1", "CN=ops")) == (everybody,)
    assert policy.grants_without_key(PeerIdentity("10.0.0.1", "CN=other")) == (near, everybody)
    remembered = policy.grants_without_key(PeerIdentity("10.0.0.1"))
    assert policy.grants_without_key(PeerIdentity("10.0.0.1")) is remembered == (near, everybody)


def test_peers_without_end_are_not_remembered_without_end() -> None:
    policy = AccessPolicy([AccessGrant(AccessRole.READ, NET)])
    for number in range(10_000):
        policy.grants_without_key(PeerIdentity(f"10.0.{number // 256}.{number % 256}"))
    assert len(policy._grants) <= 4096


def test_peers_whose_certificates_have_long_subjects_are_not_remembered() -> None:
    policy = AccessPolicy([AccessGrant(AccessRole.READ, subject="CN=a")])
    subjects = (f"CN={number}{'x' * 20_000}" for number in range(100))
    assert (
        kept_megabytes(lambda: [policy.grants_without_key(PeerIdentity("10.0.0.1", s)) for s in subjects]) < 1
    )
    assert policy.grants_without_key(PeerIdentity("10.0.0.1", "CN=a"))


def test_texts_that_are_no_addresses_are_not_remembered() -> None:
    def look_up_long_texts() -> None:
        for number in range(300):
            assert not is_in_networks(f"10.0.0.{number}" + "x" * 100_000, NET)

    assert kept_megabytes(look_up_long_texts) < 1


def test_a_policy_of_nothing_allows_all() -> None:
    assert [grant.role for grant in AccessPolicy().grants_without_key(PeerIdentity())] == [AccessRole.ADMIN]


def test_all_may_read_where_a_grant_without_conditions_says_so() -> None:
    assert AccessPolicy(read_only=True).lets_all_read
    assert AccessPolicy([AccessGrant(AccessRole.READ)]).lets_all_read
    for grants in (
        [AccessGrant(AccessRole.NONE)],
        [AccessGrant(AccessRole.READ, NET)],
        [AccessGrant(AccessRole.ADMIN, subject="CN=ops")],
    ):
        assert not AccessPolicy(grants).lets_all_read


def test_no_secret_is_shown() -> None:
    assert "hush" not in repr(SignerAccount("hush-hush", AccessGrant(AccessRole.READ)))
