"""Secrets by their names."""

from nsadmin.client.secrecy import is_secret


def test_what_may_be_a_secret() -> None:
    assert is_secret("aliyunSecretKey")
    assert is_secret("PASSWORD")
    assert not is_secret("listenPort")
