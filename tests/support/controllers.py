"""Controllers of which one leads, and brokers under them, as released ones of 5.5.0 answer."""

from typing import Any

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from tests.support.fake_servers import Server, answer_json


class FakeController(Server):
    """Knows broker-a with the replicas 1 (the master) and 2; it leads itself unless told of another."""

    def __init__(self, leader: str | None = None) -> None:
        self.items = {"scanNotActiveBrokerInterval": "5000"}
        self.master = 1
        self.replicas: dict[int, tuple[str, bool, bool]] = {1: ("h:1", True, True), 2: ("h:2", True, True)}
        super().__init__()
        self.leader = self.addr if leader is None else leader
        code = RequestCode
        self.handlers = {
            code.CONTROLLER_GET_METADATA_INFO: self._meta,
            code.CONTROLLER_GET_SYNC_STATE_DATA: self._sets,
            code.CONTROLLER_ELECT_MASTER: self._elect,
            code.CLEAN_BROKER_DATA: self._clean,
            code.GET_CONTROLLER_CONFIG: self._config,
            code.UPDATE_CONTROLLER_CONFIG: self._update,
        }

    def _meta(self, asked: RemotingCommand) -> RemotingCommand:
        ext = {
            "group": "g",
            "controllerLeaderId": "n0",
            "controllerLeaderAddress": self.leader,
            "isLeader": str(self.leader == self.addr).lower(),
            "peers": f"n0:{self.leader};",
        }
        return build_reply(asked, ext=ext)

    def _sets(self, asked: RemotingCommand) -> RemotingCommand:
        if self.leader != self.addr:
            return build_reply(asked, 2007, remark="The controller is not in leader state")
        known = "broker-a" in fastjson.decode_json(asked.body) and self.replicas
        return answer_json(asked, {"replicasInfoTable": {"broker-a": self._set()} if known else {}})

    def _set(self) -> dict[str, Any]:
        replicas_by_sync: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
        for number, (addr, alive, in_sync) in self.replicas.items():
            replicas_by_sync[in_sync].append(
                {"alive": alive, "brokerAddress": addr, "brokerId": number, "brokerName": "broker-a"}
            )
        return {
            "inSyncReplicas": replicas_by_sync[True],
            "notInSyncReplicas": replicas_by_sync[False],
            "masterAddress": self.replicas[self.master][0] if self.master in self.replicas else None,
            "masterBrokerId": self.master,
            "masterEpoch": 1,
            "syncStateSetEpoch": 2,
        }

    def _elect(self, asked: RemotingCommand) -> RemotingCommand:
        self.master = int((asked.ext or {})["brokerId"] or 0)
        return build_reply(asked, ext={"masterBrokerId": str(self.master)})

    def _clean(self, asked: RemotingCommand) -> RemotingCommand:
        ids = [
            int(text)
            for text in ((asked.ext or {}).get("brokerControllerIdsToClean") or "").split(";")
            if text
        ]
        self.replicas = {number: item for number, item in self.replicas.items() if ids and number not in ids}
        return build_reply(asked)

    def _config(self, asked: RemotingCommand) -> RemotingCommand:
        return build_reply(
            asked, body="".join(f"{key}={value}\n" for key, value in self.items.items()).encode()
        )

    def _update(self, asked: RemotingCommand) -> RemotingCommand:
        key, _, value = asked.body.decode().rstrip("\n").partition("=")
        self.items[key] = value
        return build_reply(asked)
