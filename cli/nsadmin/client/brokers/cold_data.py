"""`admin.cold_data`: limits for groups that read cold data from disk (since 5.1.2)."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.json_object import JsonObject
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.results import NotFound, ServerResult, confirm_plans, ignored_change
from nsadmin.client.server_settings import format_properties_line


class ColdReads(NamedTuple):
    """The cold reads of a group.

    Attributes:
        read_bytes: The bytes of cold data read in the current second.
        created_ms: The start of the count, in ms since 1970; None if not reported.
        last_read_ms: The last cold read, in ms since 1970; None if not reported.
    """

    read_bytes: int
    created_ms: int | None
    last_read_ms: int | None


class ColdData(NamedTuple):
    """The cold read control of a broker. Thresholds are bytes per second.

    Attributes:
        thresholds_by_group: The thresholds that were set for groups.
        reads_by_group: The groups that read cold data; empty with coldDataFlowControlEnable=false.
        group_threshold: The threshold of groups without their own threshold.
        global_threshold: The threshold of all groups together.
        global_read_bytes: The bytes of cold data that all groups read in the current second.
    """

    thresholds_by_group: dict[str, int]
    reads_by_group: dict[str, ColdReads]
    group_threshold: int | None
    global_threshold: int | None
    global_read_bytes: int | None


class ThresholdChange(NamedTuple):
    """A change of a group's threshold (bytes per second). None stands for the default."""

    before: int | None
    after: int | None


class ColdDataControl:
    """`admin.cold_data`: limits for cold reads. Each method returns one ServerResult per address."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[ColdData]]:
        """Return the cold read control of brokers (GET_COLD_DATA_FLOW_CTR_INFO, 2003).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._caller.read_each(broker_addrs, _parse_cold_data, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)

    def plan_change(
        self, broker_addrs: Iterable[str], group: str, threshold: int | None
    ) -> list[ServerResult[ThresholdChange]]:
        """Plan `update_threshold`, or `remove_threshold` for the threshold None. Change nothing.

        Args:
            broker_addrs: The broker addresses.
            group: The consumer group.
            threshold: The limit in bytes per second; None to remove it.

        Returns:
            One ServerResult per address, in order: the planned change. The error is NotFound if there is no
            threshold to remove.
        """

        def plan_threshold(cold_data: ColdData) -> ThresholdChange:
            current_threshold = cold_data.thresholds_by_group.get(group)
            if current_threshold is None and threshold is None:
                raise NotFound(f'the group "{group}" has no cold-data limit')
            return ThresholdChange(current_threshold, threshold)

        return [cold_data_result.then(plan_threshold) for cold_data_result in self.get_each(broker_addrs)]

    def update_threshold(
        self, broker_addrs: Iterable[str], group: str, threshold: int
    ) -> list[ServerResult[ThresholdChange]]:
        """Set the cold read limit of a group, and read it back (UPDATE_COLD_DATA_FLOW_CTR_CONFIG, 2001).

        Args:
            broker_addrs: The broker addresses.
            group: The consumer group.
            threshold: The limit in bytes per second.

        Returns:
            One ServerResult per address, in order: the change. The error is NotApplied if the broker has
            another limit afterwards.
        """
        request_body = format_properties_line(group, str(threshold)).encode("ascii")
        return self._change_threshold(
            broker_addrs, RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, request_body, group, threshold
        )

    def remove_threshold(
        self, broker_addrs: Iterable[str], group: str
    ) -> list[ServerResult[ThresholdChange]]:
        """Remove the cold read limit of a group, and verify it (REMOVE_COLD_DATA_FLOW_CTR_CONFIG, 2002).

        The group then has the default limit.

        Args:
            broker_addrs: The broker addresses.
            group: The consumer group.

        Returns:
            One ServerResult per address, in order: the change. The error is NotFound if the broker
            has no limit for the group, NotApplied if the broker still has it afterwards.
        """
        request_code = RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG
        return self._change_threshold(broker_addrs, request_code, group.encode(), group, None)

    def _change_threshold(
        self,
        broker_addrs: Iterable[str],
        request_code: RequestCode,
        request_body: bytes,
        group: str,
        threshold: int | None,
    ) -> list[ServerResult[ThresholdChange]]:
        """Send a change and read it back, because brokers always answer success."""
        plans = self.plan_change(broker_addrs, group, threshold)
        changing_addrs = [p.addr for p in plans if p.result and p.result.before != p.result.after]
        answers = self._caller.send_to_each(changing_addrs, request_code, None, request_body)

        def confirm(addr: str, change: ThresholdChange, cold_data: ColdData) -> ThresholdChange:
            threshold_now = cold_data.thresholds_by_group.get(group)
            if threshold_now != threshold:
                raise ignored_change(
                    addr,
                    f"the threshold of {group} is {threshold_now}",
                    "getColdDataFlowCtrInfo",
                    addr,
                )
            return change

        return confirm_plans(plans, answers, self.get_each, confirm)


def _parse_cold_data(response: RemotingCommand) -> ColdData:
    json_body = parse_json_object(response)
    thresholds = json_body.child("configTable")
    return ColdData(
        {group: thresholds.integer(group) for group in sorted(thresholds.members)},
        {group: _parse_cold_reads(r) for group, r in json_body.child("runtimeTable").sorted_children()},
        json_body.integer("cgColdReadThreshold", None),
        json_body.integer("globalColdReadThreshold", None),
        json_body.integer("globalAcc", None),
    )


def _parse_cold_reads(reads: JsonObject) -> ColdReads:
    return ColdReads(
        reads.integer("coldAcc", 0),
        reads.integer("createTimeMills", 0) or None,
        reads.integer("lastColdReadTimeMills", 0) or None,
    )
