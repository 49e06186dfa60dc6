"""Controllers: who leads them, what they know of brokers' replicas, and what they are told to do.

Any controller says who leads; only that one knows replicas and takes orders.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, request
from nsadmin.client.bodies import json_object
from nsadmin.client.broker_configs import BrokerConfigs
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import decoded

_OPEN_END = 2**63 - 1


class ControllerMeta(NamedTuple):
    """What one controller says: who leads (None for nobody), and the addresses of all by id."""

    group: str | None
    leader_id: str | None
    leader_addr: str | None
    is_leader: bool
    peers: dict[str, str]


class Replica(NamedTuple):
    """One broker process as the leader knows it."""

    broker_id: int
    broker_addr: str | None
    alive: bool
    in_sync: bool


class ReplicaSet(NamedTuple):
    """The replicas of one broker name, in the order of ids."""

    broker_name: str
    master_broker_id: int | None
    master_addr: str | None
    master_epoch: int | None
    sync_state_set_epoch: int | None
    replicas: tuple[Replica, ...]

    def replica(self, broker_id: int) -> Replica | None:
        """The one of that id, None if there is none."""
        return next((item for item in self.replicas if item.broker_id == broker_id), None)


class Epoch(NamedTuple):
    """The time of one master: its part of the commit log in bytes; None for an end that is not yet."""

    epoch: int
    start_offset: int
    end_offset: int | None


class BrokerEpochs(NamedTuple):
    """What a broker under a controller remembers of its masters."""

    broker_name: str | None
    broker_id: int | None
    max_offset: int | None
    epochs: tuple[Epoch, ...]


class Controllers:
    """`admin.controllers`; their addresses are named with each call."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @cached_property
    def configs(self) -> BrokerConfigs:
        """Settings of controllers, which each has for itself."""
        code = RequestCode
        return BrokerConfigs(
            self._caller, code.GET_CONTROLLER_CONFIG, code.UPDATE_CONTROLLER_CONFIG, "controller"
        )

    def meta(self, addrs: Iterable[str]) -> list[ServerResult[ControllerMeta]]:
        """What each controller says of itself and the others."""
        answers = self._caller.ask_each(addrs, RequestCode.CONTROLLER_GET_METADATA_INFO)
        return [decoded(answer, _meta) for answer in answers]

    def leader(self, addrs: Iterable[str]) -> str:
        """The address of the one that leads: who says so of himself, else whom most of them name.

        NotFound where nobody knows of one; the first failure where none of them answers.
        """
        found = self.meta(addrs)
        told = [item.result for item in found if item.result is not None]
        if not told and found and found[0].error is not None:
            raise found[0].error
        own = [item.leader_addr for item in told if item.is_leader and item.leader_addr]
        named = Counter(item.leader_addr for item in told if item.leader_addr)
        if not named:
            raise NotFound("the controllers have no leader now")
        return own[0] if len(set(own)) == 1 else named.most_common(1)[0][0]

    def replica_sets(self, leader: str, broker_names: Sequence[str]) -> dict[str, ReplicaSet]:
        """The replicas of those of these brokers that the controllers know."""
        body = fastjson.dumps(list(broker_names))
        asked = request(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, None, body)
        return _value(decoded(self._caller.ask([(leader, asked)])[0], _replica_sets))

    def replica_set(self, leader: str, broker_name: str) -> ReplicaSet:
        """NotFound for a broker that the controllers do not know."""
        found = self.replica_sets(leader, [broker_name]).get(broker_name)
        if found is None:
            raise NotFound(f"the controllers know no broker {broker_name!r}")
        return found

    def elect(
        self, leader: str, cluster: str, broker_name: str, broker_id: int, now: int
    ) -> ServerResult[bool]:
        """Make this replica the master; `now` is in ms since 1970."""
        ext = {
            "clusterName": cluster,
            "brokerName": broker_name,
            "brokerId": str(broker_id),
            "designateElect": "true",
            "invokeTime": str(now),
        }
        return self._order(leader, RequestCode.CONTROLLER_ELECT_MASTER, ext)

    def clean(
        self, leader: str, cluster: str, broker_name: str, ids: Sequence[int], living: bool, now: int
    ) -> ServerResult[bool]:
        """Have the controllers forget these replicas, or all for none; those that live only if told."""
        ext = {
            "clusterName": cluster,
            "brokerName": broker_name,
            "brokerControllerIdsToClean": ";".join(map(str, ids)),
            "isCleanLivingBroker": str(living).lower(),
            "invokeTime": str(now),
        }
        return self._order(leader, RequestCode.CLEAN_BROKER_DATA, {k: v for k, v in ext.items() if v})

    def epochs(self, addrs: Iterable[str]) -> list[ServerResult[BrokerEpochs]]:
        """What these brokers remember of their masters."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_EPOCH_CACHE)
        return [decoded(answer, _epochs) for answer in answers]

    def _order(self, leader: str, code: RequestCode, ext: dict[str, str]) -> ServerResult[bool]:
        return self._caller.ask([(leader, request(code, ext))])[0].then(lambda _: True)


def _value(found: ServerResult[dict[str, ReplicaSet]]) -> dict[str, ReplicaSet]:
    if found.error is not None:
        raise found.error
    return found.result or {}


def _meta(command: Command) -> ControllerMeta:
    ext = command.ext or {}
    peers = (part.partition(":") for part in (ext.get("peers") or "").split(";") if part)
    return ControllerMeta(
        ext.get("group"),
        ext.get("controllerLeaderId") or None,
        ext.get("controllerLeaderAddress") or None,
        ext.get("isLeader") == "true",
        {name: addr for name, _, addr in peers},
    )


def _replica_sets(command: Command) -> dict[str, ReplicaSet]:
    table: dict[str, Any] = json_object(command).get("replicasInfoTable") or {}
    return {name: _replica_set(name, item) for name, item in sorted(table.items())}


def _replica_set(name: str, item: dict[str, Any]) -> ReplicaSet:
    replicas = [
        Replica(int(found["brokerId"]), found.get("brokerAddress"), bool(found.get("alive")), in_sync)
        for key, in_sync in (("inSyncReplicas", True), ("notInSyncReplicas", False))
        for found in item.get(key) or ()
    ]
    return ReplicaSet(
        name,
        item.get("masterBrokerId"),
        item.get("masterAddress"),
        item.get("masterEpoch"),
        item.get("syncStateSetEpoch"),
        tuple(sorted(replicas)),
    )


def _epochs(command: Command) -> BrokerEpochs:
    found = json_object(command)
    entries = (
        Epoch(
            item["epoch"], item["startOffset"], None if item["endOffset"] == _OPEN_END else item["endOffset"]
        )
        for item in found.get("epochList") or ()
    )
    return BrokerEpochs(
        found.get("brokerName"), found.get("brokerId"), found.get("maxOffset"), tuple(entries)
    )
