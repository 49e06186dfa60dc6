"""`admin.controllers`: the leader of controllers, the broker replicas that it manages, and orders to it.

Every controller knows the leader. Only the leader knows the replicas and accepts orders.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.broker_configs import BrokerConfigs
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import NotFound, ServerResult

_OPEN_END_OFFSET = 2**63 - 1


class ControllerMeta(NamedTuple):
    """The metadata of a controller.

    Attributes:
        group: The name of the controller group.
        leader_id: The id of the leader; None without a leader.
        leader_addr: The address of the leader; None without a leader.
        is_leader: Whether this controller is the leader.
        peers: Id to address of all controllers.
    """

    group: str | None
    leader_id: str | None
    leader_addr: str | None
    is_leader: bool
    peers: dict[str, str]


class BrokerReplica(NamedTuple):
    """One broker process as the leading controller knows it."""

    broker_id: int
    broker_addr: str | None
    is_alive: bool
    is_in_sync: bool


class ReplicaSet(NamedTuple):
    """The replicas of one broker name.

    Attributes:
        broker_name: The broker name.
        master_broker_id: The id of the master; None without a master, like the next two.
        master_addr: The address of the master.
        master_epoch: The epoch of the master.
        sync_state_set_epoch: The epoch of the set of in-sync replicas.
        replicas: The replicas in the order of ids.
    """

    broker_name: str
    master_broker_id: int | None
    master_addr: str | None
    master_epoch: int | None
    sync_state_set_epoch: int | None
    replicas: tuple[BrokerReplica, ...]

    def find_replica(self, broker_id: int) -> BrokerReplica | None:
        """Return the replica with an id; None if it is missing.

        Args:
            broker_id: The broker id.
        """
        return next((replica for replica in self.replicas if replica.broker_id == broker_id), None)


class MasterEpoch(NamedTuple):
    """The epoch of one master, with its range of the commit log in bytes.

    Attributes:
        epoch: The number of the epoch.
        start_offset: The first byte.
        end_offset: The end; None for the current epoch.
    """

    epoch: int
    start_offset: int
    end_offset: int | None


class BrokerEpochs(NamedTuple):
    """The master epochs that a broker under a controller remembers.

    Attributes:
        broker_name: The broker name.
        broker_id: The id.
        max_offset: The end of its commit log in bytes.
        epochs: The epochs in order.
    """

    broker_name: str | None
    broker_id: int | None
    max_offset: int | None
    epochs: tuple[MasterEpoch, ...]


class ControllerAdmin:
    """`admin.controllers`: controllers. Each method takes the addresses of controllers or of their leader."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @cached_property
    def configs(self) -> BrokerConfigs:
        """The settings of controllers (GET_CONTROLLER_CONFIG, 1010; UPDATE_CONTROLLER_CONFIG, 1009)."""
        return BrokerConfigs(
            self._caller,
            RequestCode.GET_CONTROLLER_CONFIG,
            RequestCode.UPDATE_CONTROLLER_CONFIG,
            "controller",
        )

    def get_metadata(self, controller_addrs: Iterable[str]) -> list[ServerResult[ControllerMeta]]:
        """Return the metadata of each controller (CONTROLLER_GET_METADATA_INFO, 1005).

        Args:
            controller_addrs: The controller addresses.

        Returns:
            One ServerResult per address, in order.
        """
        return self._caller.read_each(
            controller_addrs, _parse_metadata, RequestCode.CONTROLLER_GET_METADATA_INFO
        )

    def find_leader(self, controller_addrs: Iterable[str]) -> str:
        """Return the address of the leader (CONTROLLER_GET_METADATA_INFO, 1005).

        This is the controller that declares itself the leader, else the leader according to most controllers.

        Args:
            controller_addrs: The controller addresses.

        Raises:
            NotFound: The controllers have no leader now.
            RocketMQError: No controller answered; this is the first failure.
        """
        results = self.get_metadata(controller_addrs)
        known_metadata = [result.result for result in results if result.result is not None]
        if not known_metadata and results and results[0].error is not None:
            raise results[0].error
        self_declared = [m.leader_addr for m in known_metadata if m.is_leader and m.leader_addr]
        votes_by_addr = Counter(m.leader_addr for m in known_metadata if m.leader_addr)
        if not votes_by_addr:
            raise NotFound("the controllers have no leader now")
        return self_declared[0] if len(set(self_declared)) == 1 else votes_by_addr.most_common(1)[0][0]

    def get_replica_sets(self, leader_addr: str, broker_names: Sequence[str]) -> dict[str, ReplicaSet]:
        """Return the replicas of brokers (CONTROLLER_GET_SYNC_STATE_DATA, 1006).

        Args:
            leader_addr: The address of the leading controller.
            broker_names: The broker names.

        Returns:
            Broker name to its replicas, without unknown brokers.

        Raises:
            RocketMQError: The leader refused or did not answer.
        """
        body = fastjson.encode_json(list(broker_names))
        request_code = RequestCode.CONTROLLER_GET_SYNC_STATE_DATA
        return self._caller.read_one(leader_addr, _parse_replica_sets, request_code, None, body).value()

    def get_replica_set(self, leader_addr: str, broker_name: str) -> ReplicaSet:
        """Return the replicas of one broker (CONTROLLER_GET_SYNC_STATE_DATA, 1006).

        Args:
            leader_addr: The address of the leading controller.
            broker_name: The broker name.

        Raises:
            NotFound: The controllers do not know the broker.
            RocketMQError: The leader refused or did not answer.
        """
        replica_set = self.get_replica_sets(leader_addr, [broker_name]).get(broker_name)
        if replica_set is None:
            raise NotFound(f'the controllers have no broker "{broker_name}"')
        return replica_set

    def elect_master(
        self, leader_addr: str, cluster_name: str, broker_name: str, broker_id: int, now_ms: int
    ) -> ServerResult[bool]:
        """Make a replica the master (CONTROLLER_ELECT_MASTER, 1002).

        Args:
            leader_addr: The address of the leading controller.
            cluster_name: The cluster.
            broker_name: The broker name.
            broker_id: The id of the replica.
            now_ms: The current time in ms since 1970 (UTC).

        Returns:
            A ServerResult: True if the leader accepted the order.
        """
        ext_fields = {
            "clusterName": cluster_name,
            "brokerName": broker_name,
            "brokerId": str(broker_id),
            "designateElect": "true",
            "invokeTime": str(now_ms),
        }
        return self._send_order(leader_addr, RequestCode.CONTROLLER_ELECT_MASTER, ext_fields)

    def forget_replicas(
        self,
        leader_addr: str,
        cluster_name: str,
        broker_name: str,
        broker_ids: Sequence[int],
        include_living: bool,
        now_ms: int,
    ) -> ServerResult[bool]:
        """Make the controllers forget replicas of a broker (CLEAN_BROKER_DATA, 1011).

        Args:
            leader_addr: The address of the leading controller.
            cluster_name: The cluster.
            broker_name: The broker name.
            broker_ids: The ids of the replicas; () for all.
            include_living: Also forget replicas that are alive.
            now_ms: The current time in ms since 1970 (UTC).

        Returns:
            A ServerResult: True if the leader accepted the order.
        """
        ext_fields = {
            "clusterName": cluster_name,
            "brokerName": broker_name,
            "brokerControllerIdsToClean": ";".join(map(str, broker_ids)),
            "isCleanLivingBroker": str(include_living).lower(),
            "invokeTime": str(now_ms),
        }
        return self._send_order(
            leader_addr, RequestCode.CLEAN_BROKER_DATA, {name: v for name, v in ext_fields.items() if v}
        )

    def get_epochs(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerEpochs]]:
        """Return the master epochs that brokers remember (GET_BROKER_EPOCH_CACHE, 1007).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order.
        """
        return self._caller.read_each(broker_addrs, _parse_epochs, RequestCode.GET_BROKER_EPOCH_CACHE)

    def _send_order(self, addr: str, request_code: RequestCode, fields: dict[str, str]) -> ServerResult[bool]:
        return self._caller.read_one(addr, lambda _: True, request_code, fields)


def _parse_metadata(response: RemotingCommand) -> ControllerMeta:
    ext_fields = response.ext or {}
    peer_parts = (part.partition(":") for part in (ext_fields.get("peers") or "").split(";") if part)
    return ControllerMeta(
        ext_fields.get("group"),
        ext_fields.get("controllerLeaderId") or None,
        ext_fields.get("controllerLeaderAddress") or None,
        ext_fields.get("isLeader") == "true",
        {peer_id: peer_addr for peer_id, _, peer_addr in peer_parts},
    )


def _parse_replica_sets(response: RemotingCommand) -> dict[str, ReplicaSet]:
    return {
        name: _parse_replica_set(name, replica_set)
        for name, replica_set in parse_json_object(response).child("replicasInfoTable").sorted_children()
    }


def _parse_replica_set(broker_name: str, replica_set: JsonObject) -> ReplicaSet:
    replicas = [
        BrokerReplica(r.integer("brokerId"), r.text("brokerAddress", None), r.flag("alive"), is_in_sync)
        for list_key, is_in_sync in (("inSyncReplicas", True), ("notInSyncReplicas", False))
        for r in replica_set.children(list_key)
    ]
    return ReplicaSet(
        broker_name,
        replica_set.integer("masterBrokerId", None),
        replica_set.text("masterAddress", None),
        replica_set.integer("masterEpoch", None),
        replica_set.integer("syncStateSetEpoch", None),
        tuple(sorted(replicas, key=lambda replica: replica.broker_id)),
    )


def _parse_epochs(response: RemotingCommand) -> BrokerEpochs:
    json_body = parse_json_object(response)
    entries = (
        MasterEpoch(
            epoch.integer("epoch"),
            epoch.integer("startOffset"),
            None if epoch.integer("endOffset") == _OPEN_END_OFFSET else epoch.integer("endOffset"),
        )
        for epoch in json_body.children("epochList")
    )
    return BrokerEpochs(
        json_body.text("brokerName", None),
        json_body.integer("brokerId", None),
        json_body.integer("maxOffset", None),
        tuple(entries),
    )
