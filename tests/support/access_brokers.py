"""Brokers that know users and ACLs, over the tables of the simulated ones."""

from collections.abc import Callable

from namesrv_core.errors import RequestError
from namesrv_core.fleet.users import UserTable
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import Handler, Server

Act = Callable[[RemotingCommand], bytes | None]


class AccessBroker(Server):
    """Its one user at first is operator-1, of type Super."""

    def __init__(self) -> None:
        self.users = users = UserTable()
        super().__init__()
        code = RequestCode
        self.handlers = {
            code.AUTH_CREATE_USER: _handler(lambda asked: users.create_user(asked.ext or {}, asked.body)),
            code.AUTH_UPDATE_USER: _handler(lambda asked: users.update_user(asked.ext or {}, asked.body)),
            code.AUTH_DELETE_USER: _handler(lambda asked: users.delete_user(asked.ext or {})),
            code.AUTH_GET_USER: _handler(lambda asked: users.get_user(asked.ext or {})),
            code.AUTH_LIST_USER: _handler(lambda asked: users.list_users(asked.ext or {})),
            code.AUTH_CREATE_ACL: _handler(lambda asked: users.put_acl(asked.body)),
            code.AUTH_UPDATE_ACL: _handler(lambda asked: users.put_acl(asked.body)),
            code.AUTH_DELETE_ACL: _handler(lambda asked: users.delete_acl(asked.ext or {})),
            code.AUTH_GET_ACL: _handler(lambda asked: users.get_acl(asked.ext or {})),
            code.AUTH_LIST_ACL: _handler(lambda asked: users.list_acls(asked.ext or {})),
        }


def _handler(act: Act) -> Handler:
    def handle(asked: RemotingCommand) -> RemotingCommand:
        try:
            return build_reply(asked, body=act(asked) or b"", remark="not set any response code")
        except RequestError as error:
            return build_reply(asked, error.code, remark=error.remark)

    return handle
