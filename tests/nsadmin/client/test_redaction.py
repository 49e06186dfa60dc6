"""Secrets by their names."""

from nsadmin.client.redaction import is_secret_name


def test_what_may_be_a_secret() -> None:
    assert is_secret_name("aliyunSecretKey")
    assert is_secret_name("PASSWORD")
    assert not is_secret_name("listenPort")
