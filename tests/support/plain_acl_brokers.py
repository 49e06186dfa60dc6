"""Brokers of 4.9 with a file of accounts, as a released 4.9.7 answers."""

from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import Server, answer_json


class PlainAclBroker(Server):
    """Its one account at first is operator-1, an admin."""

    def __init__(self) -> None:
        self.accounts: dict[str, dict[str, Any]] = {
            "operator-1": {"accessKey": "operator-1", "secretKey": "12345678", "admin": True}
        }
        self.white: list[str] = []
        self.counter = 0
        super().__init__()
        self.handlers = {
            RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: lambda asked: answer_json(
                asked, {"globalWhiteAddrs": self.white, "plainAccessConfigs": [*self.accounts.values()]}
            ),
            RequestCode.GET_BROKER_CLUSTER_ACL_INFO: self._info,
            RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: self._put,
            RequestCode.DELETE_ACL_CONFIG: self._delete,
            RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: self._whiten,
        }

    def _info(self, asked: RemotingCommand) -> RemotingCommand:
        version = {"counter": self.counter, "timestamp": 1_767_182_400_000}
        files = fastjson.encode_json({"/conf/plain_acl.yml": version}).decode()
        return build_reply(
            asked, ext={"allAclFileVersion": files, "version": fastjson.encode_json(version).decode()}
        )

    def _put(self, asked: RemotingCommand) -> RemotingCommand:
        ext = dict(asked.ext or {})
        if len(ext.get("secretKey") or "") <= 6:
            remark = f"The accessKey={ext['accessKey']} and secretKey={ext.get('secretKey')} cannot be null"
            return build_reply(asked, 209, remark=remark)
        lists = {
            key: text.split(",") for key, text in ext.items() if key in ("topicPerms", "groupPerms") and text
        }
        self.accounts[ext["accessKey"] or ""] = {
            **self.accounts.get(ext["accessKey"] or "", {}),
            **ext,
            **lists,
            "admin": ext.get("admin") == "true",
        }
        self.counter += 1
        return build_reply(asked)

    def _delete(self, asked: RemotingCommand) -> RemotingCommand:
        del self.accounts[(asked.ext or {})["accessKey"] or ""]
        return build_reply(asked)

    def _whiten(self, asked: RemotingCommand) -> RemotingCommand:
        self.white = ((asked.ext or {})["globalWhiteAddrs"] or "").split(",")
        return build_reply(asked)
