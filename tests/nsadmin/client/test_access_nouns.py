"""The nouns for access."""

from nsadmin import AdminClient
from nsadmin.client.access_nouns import AccessNouns


def test_each_noun_is_made_once() -> None:
    with AdminClient("h:1") as admin:
        assert isinstance(admin, AccessNouns)
        for name in ("users", "acls", "plain_acls", "controllers", "exposure", "certificates"):
            assert getattr(admin, name) is getattr(admin, name)
