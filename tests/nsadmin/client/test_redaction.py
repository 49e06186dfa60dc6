"""Secrets by their names."""

import pytest

from nsadmin.client.redaction import hide_secrets, is_secret_name


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
    assert hide_secrets(text) == hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("jdbc:mysql://root:hunter2@db:3306/x", "jdbc:mysql://***@db:3306/x"),
        ("see http://u:a:b/c'd@e@h:1/p, then http://h:1/", "see http://***@h:1/p, then http://h:1/"),
        (f"x://u:{'p' * 200}@h", "x://***@h"),
        ("https://TOKEN@host", "https://***@host"),
        ("mail a@b to http://h", "mail a@b to http://h"),
        ("http://h/?to=@", "http://***@"),
        ("http://@h", "http://@h"),
        ("k=-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nz=1", "k=***\nz=1"),
        (r"k=-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nz=1", r"k=***\nz=1"),
        ("k=-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIE", "k=***"),
        ("-----BEGIN PGP PRIVATE KEY BLOCK-----\nx\n-----END PGP PRIVATE KEY BLOCK-----", "***"),
        ("-----BEGIN CERTIFICATE-----\nMIIE", "-----BEGIN CERTIFICATE-----\nMIIE"),
    ],
)
def test_passwords_of_urls_and_private_keys_are_hidden(text: str, hidden: str) -> None:
    assert hide_secrets(text) == hidden


def test_long_texts_take_no_long_time() -> None:
    for text in ("://" * 300_000, "://@" * 300_000, "-----BEGIN PRIVATE KEY-----" * 30_000, "a@" * 300_000):
        hide_secrets(text)
