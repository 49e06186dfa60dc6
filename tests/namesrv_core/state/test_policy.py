"""Grants: where they hold, and for whom."""

from ipaddress import ip_network

import pytest

from namesrv_core.state.policy import Account, Grant, Policy, Role, Somebody, is_inside, subject_of

NET = (ip_network("10.0.0.0/8"), ip_network("2001:db8::/32"))


def test_each_role_may_what_those_before_it_may() -> None:
    assert list(Role) == sorted([Role.ADMIN, Role.NONE, Role.READ, Role.OBSERVER, Role.BROKER])


@pytest.mark.parametrize("host", ["10.0.0.1", "10.255.255.255", "::ffff:10.1.2.3", "2001:db8::1"])
def test_an_address_is_inside_its_network_however_it_is_written(host: str) -> None:
    assert is_inside(host, NET)


@pytest.mark.parametrize(
    "host", ["11.0.0.1", "::1", "::ffff:11.0.0.1", "", "10.0.0", "broker-a", "fe80::1%eth0"]
)
def test_what_is_another_address_or_none_is_outside(host: str) -> None:
    assert not is_inside(host, NET)


def test_a_peer_without_an_address_is_not_even_in_the_network_of_all() -> None:
    assert not is_inside("", (ip_network("0.0.0.0/0"), ip_network("::/0")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CN=ops, O=Example", "cn=ops,o=Example"),
        (" CN = ops ,O=a\\,b", "CN=ops,O=a\\,b"),
        ("CN=a\\\\,O=b", "CN=a\\\\, O=b"),
    ],
)
def test_a_subject_is_the_same_however_it_is_spaced(one: str, other: str) -> None:
    assert subject_of(one) == subject_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("CN=ops", "CN=Ops"),
        ("CN=ops,O=Example", "CN=ops"),
        ("CN=ops,O=Example", "O=Example,CN=ops"),
        ("CN=ops\\,O=Example", "CN=ops,O=Example"),
    ],
)
def test_other_subjects_are_others(one: str, other: str) -> None:
    assert subject_of(one) != subject_of(other)


def test_without_a_key_the_strongest_grant_that_covers_the_peer_comes_first() -> None:
    everybody, near = Grant(Role.READ), Grant(Role.BROKER, NET)
    ops = Grant(Role.ADMIN, NET, "CN=ops")
    policy = Policy([everybody, near, ops])
    assert policy.without_key(Somebody("11.0.0.1")) == (everybody,)
    assert policy.without_key(Somebody("10.0.0.1")) == (near, everybody)
    assert policy.without_key(Somebody("10.0.0.1", "cn=ops")) == (ops, near, everybody)
    assert policy.without_key(Somebody("11.0.0.1", "CN=ops")) == (everybody,)
    assert policy.without_key(Somebody("10.0.0.1", "CN=other")) == (near, everybody)
    assert policy.without_key(Somebody("10.0.0.1")) == (near, everybody)


def test_peers_without_end_are_not_remembered_without_end() -> None:
    policy = Policy([Grant(Role.READ, NET)])
    for number in range(10_000):
        policy.without_key(Somebody(f"10.0.{number // 256}.{number % 256}"))
    assert len(policy._known) <= 4096


def test_a_policy_of_nothing_allows_all() -> None:
    assert [grant.role for grant in Policy().without_key(Somebody())] == [Role.ADMIN]


def test_all_may_read_where_a_grant_without_conditions_says_so() -> None:
    assert Policy(read_only=True).lets_all_read
    assert Policy([Grant(Role.READ)]).lets_all_read
    for grants in ([Grant(Role.NONE)], [Grant(Role.READ, NET)], [Grant(Role.ADMIN, subject="CN=ops")]):
        assert not Policy(grants).lets_all_read


def test_no_secret_is_shown() -> None:
    assert "hush" not in repr(Account("hush-hush", Grant(Role.READ)))
