"""The credentials file: what it makes, and what each mistake in it is called."""

from ipaddress import ip_network
from typing import Any

import jsonschema
import pytest

from namesrv_core.errors import BadSettings
from namesrv_core.state.access_policy import AccessGrant, AccessRole, RegistrationFence, SignerAccount
from namesrv_core.state.credentials_schema import build_credentials_schema, build_policy

OPS = {"accessKey": "ops", "secretKey": "a secret of ours", "role": "admin"}
BROKERS = {"accessKey": "brokers", "secretKey": "a secret of theirs", "role": "broker"}
NET = ip_network("10.0.0.0/8")


def test_each_kind_of_entry_becomes_what_it_says() -> None:
    policy = build_policy(
        {
            "everybody": "read",
            "accounts": [
                {**OPS, "from": ["10.0.0.0/8"]},
                {**BROKERS, "clusters": ["A", "B"], "addresses": ["10.0.0.0/8"]},
            ],
            "certificates": [{"subject": "cn=ops, O=Example", "role": "admin"}],
            "networks": [{"network": "10.0.0.0/8", "role": "broker", "staticTopics": []}],
        },
        read_only=True,
    )
    assert policy.accounts_by_key == {
        "ops": SignerAccount("a secret of ours", AccessGrant(AccessRole.ADMIN, (NET,))),
        "brokers": SignerAccount(
            "a secret of theirs",
            AccessGrant(AccessRole.BROKER, fence=RegistrationFence(frozenset({"A", "B"}), (NET,))),
        ),
    }
    assert policy.keyless_grants == (
        AccessGrant(AccessRole.ADMIN, subject="CN=ops,O=Example"),
        AccessGrant(AccessRole.BROKER, (NET,), fence=RegistrationFence(static_topics=frozenset())),
        AccessGrant(AccessRole.READ),
    )
    assert (policy.read_only, policy.no_remote_config) == (True, False)


def test_what_is_not_allowed_is_not() -> None:
    assert [grant.role for grant in build_policy({"accounts": [OPS]}).keyless_grants] == [AccessRole.NONE]


def account(**fields: object) -> dict[str, Any]:
    return {"accounts": [OPS, {**BROKERS, **fields}]}


MISTAKES: list[tuple[object, str]] = [
    (None, "empty file: add accounts, certificates, networks or everybody"),
    ({}, "no rule allows anything: add accounts, certificates, networks or everybody"),
    ([], "Expected `object`, got `array`"),
    ({"acounts": []}, "Object contains unknown field `acounts`"),
    ({"everybody": "all"}, "everybody: Invalid enum value 'all'"),
    (account(role="root"), "accounts[1].role: Invalid enum value 'root'"),
    (account(secretKey=12345678), "accounts[1].secretKey: Expected `str`, got `int`: put it in quotes"),
    (account(secretKey="short"), "accounts[1].secretKey: Expected `str` of length >= 8"),
    (account(accessKey="ops"), 'accounts[1].accessKey: duplicate key "ops"'),
    (account(accessKey=""), "accounts[1].accessKey: Expected `str` of length >= 1"),
    (account(clusters=[]), "accounts[1].clusters: Expected `array` of length >= 1"),
    (account(clusters="A"), "accounts[1].clusters: Expected `array | null`, got `str`"),
    (account(**{"from": ["10.0.0.1/8"]}), "accounts[1].from: 10.0.0.1/8 has host bits set"),
    (account(addresses=["broker-a"]), "accounts[1].addresses: 'broker-a' does not appear to be"),
    (account(role="read", clusters=["A"]), 'accounts[1]: role "read" with clusters, addresses or'),
    (account(role="admin", staticTopics=[]), 'accounts[1]: role "admin" with clusters, addresses or'),
    (account(staticTopics=[""]), "accounts[1].staticTopics[0]: Expected `str` of length >= 1"),
    ({"accounts": [{"accessKey": "a", "role": "read"}]}, "accounts[0]: Object missing required field"),
    ({"certificates": [{"subject": "ops", "role": "read"}]}, 'certificates[0].subject: invalid subject "o'),
    (
        {"certificates": [{"subject": "CN=ops-1\n", "role": "admin"}]},
        'certificates[0].subject: control character in "CN=ops-1\\n"',
    ),
    ({"networks": [{"network": "10/8", "role": "read"}]}, "networks[0].network: '10/8' does not appear"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "said"), MISTAKES)
def test_a_mistake_is_named_with_its_place(value: object, said: str) -> None:
    with pytest.raises(BadSettings) as wrong:
        build_policy(value)
    assert str(wrong.value).startswith(said)


def test_a_fence_of_another_role_is_refused_with_what_to_do() -> None:
    with pytest.raises(BadSettings) as wrong:
        build_policy(account(role="read", clusters=["A"]))
    assert str(wrong.value) == (
        'accounts[1]: role "read" with clusters, addresses or staticTopics: use them only with the role '
        "broker"
    )


@pytest.mark.parametrize(("value", "said"), MISTAKES)
def test_no_mistake_shows_a_secret(value: object, said: str) -> None:
    with pytest.raises(BadSettings) as wrong:
        build_policy(value)
    assert "secret of" not in str(wrong.value)
    assert "12345678" not in str(wrong.value)


def test_the_schema_takes_what_is_taken_and_nothing_else() -> None:
    checker = jsonschema.Draft202012Validator(build_credentials_schema())
    checker.check_schema(build_credentials_schema())
    assert checker.is_valid(account(clusters=["A"], **{"from": ["10.0.0.0/8"]}))
    wrong: list[dict[str, Any]] = [account(role="root"), account(secretKey="short"), account(clusters=[])]
    for value in [*wrong, {"acounts": []}]:
        assert not checker.is_valid(value)
