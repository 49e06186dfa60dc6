"""Secrets by their names."""

import pytest

from nsadmin.client.redaction import hide_assigned_secrets, is_secret_name


def test_what_may_be_a_secret() -> None:
    assert is_secret_name("aliyunSecretKey")
    assert is_secret_name("PASSWORD")
    for setting_name in ("db.pwd", "api_key", "apiKey", "api-key", "access.key", "PRIVATE_KEY", "passphrase"):
        assert is_secret_name(setting_name)
    for setting_name in ("listenPort", "tls.server.keyPath", "keySplit", "apiVersion"):
        assert not is_secret_name(setting_name)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a=1;db.pwd=x;y=2", "a=1;db.pwd=***"),
        ("jdbc:h2?user=a&password=b", "jdbc:h2?user=a&password=***"),
        ("token: t\nother: u", "token: ***"),
        ("{'api_key': 'x'}", "{'api_key': ***"),
        ("password=", "password="),
        ("token-broker:10911", "token-broker:10911"),
        ("token-broker:10911;pwd=x", "token-broker:10911;pwd=***"),
        ("passwords are not shown", "passwords are not shown"),
    ],
)
def test_what_is_assigned_to_a_secret_name_is_hidden_to_the_end_of_the_text(text: str, hidden: str) -> None:
    assert hide_assigned_secrets(text) == hidden
