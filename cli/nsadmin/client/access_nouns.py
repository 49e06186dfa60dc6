"""AccessNouns: the nouns of AdminClient for access to servers, and for controllers."""

from functools import cached_property
from typing import TYPE_CHECKING

from nsadmin.client.connection.blocking_client import BlockingClient

if TYPE_CHECKING:
    from nsadmin.client.access.acls import AclAdmin
    from nsadmin.client.access.certificates import ServerCertificates
    from nsadmin.client.access.exposure import ServerExposure
    from nsadmin.client.access.plain_acls import PlainAclAdmin
    from nsadmin.client.access.users import UserAdmin
    from nsadmin.client.brokers.controllers import ControllerAdmin


class AccessNouns(BlockingClient):
    """Has the nouns for users, permissions, certificates and controllers. `AdminClient` adds the others."""

    @cached_property
    def users(self) -> "UserAdmin":
        """The users of brokers (since 5.3)."""
        from nsadmin.client.access.users import UserAdmin

        return UserAdmin(self._caller)

    @cached_property
    def acls(self) -> "AclAdmin":
        """The ACL entries of users (since 5.3)."""
        from nsadmin.client.access.acls import AclAdmin

        return AclAdmin(self._caller)

    @cached_property
    def plain_acls(self) -> "PlainAclAdmin":
        """The plain ACL accounts of 4.x brokers."""
        from nsadmin.client.access.plain_acls import PlainAclAdmin

        return PlainAclAdmin(self._caller)

    @cached_property
    def controllers(self) -> "ControllerAdmin":
        """Controllers and the broker replicas that they manage."""
        from nsadmin.client.brokers.controllers import ControllerAdmin

        return ControllerAdmin(self._caller)

    @cached_property
    def exposure(self) -> "ServerExposure":
        """Checks of the data that servers reveal to any client."""
        from nsadmin.client.access.exposure import ServerExposure

        return ServerExposure(self._caller)

    @cached_property
    def certificates(self) -> "ServerCertificates":
        """The TLS certificates of servers."""
        from nsadmin.client.access.certificates import ServerCertificates

        return ServerCertificates(self._caller)
