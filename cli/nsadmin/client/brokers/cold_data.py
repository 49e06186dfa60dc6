"""Cold data: how brokers slow down groups that read what is not in memory any more. Since 5.1.2."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_json_object
from nsadmin.client.name_servers.name_server_configs import format_properties_line
from nsadmin.client.results import NotApplied, NotFound, ServerResult


class ColdReads(NamedTuple):
    """What a group has read of cold data in the present second or so: bytes, and times in ms since 1970."""

    read_bytes: int
    created_ms: int | None
    last_read_ms: int | None


class ColdData(NamedTuple):
    """A broker's control of cold reads; thresholds and `global_acc` are bytes that are read in a second.

    `thresholds` are those set for groups, others have `group_threshold`. `reads` has the groups that were
    seen to read cold data; brokers that do not control it (coldDataFlowControlEnable) see none.
    """

    thresholds_by_group: dict[str, int]
    reads_by_group: dict[str, ColdReads]
    group_threshold: int | None
    global_threshold: int | None
    global_read_bytes: int | None


class ThresholdChange(NamedTuple):
    """A group's threshold on one broker, None where it has none of its own."""

    before: int | None
    after: int | None


class ColdDataControl:
    """`admin.cold_data`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[ColdData]]:
        """What each broker tells (GET_COLD_DATA_FLOW_CTR_INFO)."""
        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        return [decode_answer(answer, _parse_cold_data) for answer in answers]

    def plan_change(
        self, broker_addrs: Iterable[str], group: str, threshold: int | None
    ) -> list[ServerResult[ThresholdChange]]:
        """What `update` (with a threshold) or `remove` (with None) would do.

        NotFound where there is none to remove.
        """

        def plan_threshold(cold_data: ColdData) -> ThresholdChange:
            current_threshold = cold_data.thresholds_by_group.get(group)
            if current_threshold is None and threshold is None:
                raise NotFound(f"{group!r} has no threshold of its own here")
            return ThresholdChange(current_threshold, threshold)

        return [cold_data_result.then(plan_threshold) for cold_data_result in self.get_each(broker_addrs)]

    def update_threshold(
        self, broker_addrs: Iterable[str], group: str, threshold: int
    ) -> list[ServerResult[ThresholdChange]]:
        """Let the group read so many bytes of cold data in a second, and look again."""
        request_body = format_properties_line(group, str(threshold)).encode("ascii")
        return self._change_threshold(
            broker_addrs, RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, request_body, group, threshold
        )

    def remove_threshold(
        self, broker_addrs: Iterable[str], group: str
    ) -> list[ServerResult[ThresholdChange]]:
        """Let the group have the threshold of all again, and look again."""
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
        """Brokers say yes to all, so what counts is what they have afterwards."""
        planned_changes = self.plan_change(broker_addrs, group, threshold)
        changing_addrs = [
            addr_result.addr
            for addr_result in planned_changes
            if addr_result.result and addr_result.result.before != addr_result.result.after
        ]
        answers_by_addr = {
            answer.addr: answer
            for answer in self._caller.send_to_each(changing_addrs, request_code, None, request_body)
        }
        cold_data_by_addr = {
            addr_result.addr: addr_result
            for addr_result in self.get_each(
                broker_addr for broker_addr in changing_addrs if answers_by_addr[broker_addr].error is None
            )
        }

        def verify_threshold(planned_change: ServerResult[ThresholdChange]) -> ServerResult[ThresholdChange]:
            if planned_change.addr not in answers_by_addr:
                return planned_change
            error = answers_by_addr[planned_change.addr].error or cold_data_by_addr[planned_change.addr].error
            cold_data = cold_data_by_addr[planned_change.addr].result if error is None else None
            if cold_data is not None and cold_data.thresholds_by_group.get(group) != threshold:
                error = NotApplied(f"ignored: it is still {cold_data.thresholds_by_group.get(group)}")
            return planned_change if error is None else ServerResult(planned_change.addr, None, error)

        return [verify_threshold(planned_change) for planned_change in planned_changes]


def _parse_cold_data(response: RemotingCommand) -> ColdData:
    json_body = parse_json_object(response)
    return ColdData(
        {
            group: int(threshold_value)
            for group, threshold_value in sorted((json_body.get("configTable") or {}).items())
        },
        {
            group: _parse_cold_reads(reads_record)
            for group, reads_record in sorted((json_body.get("runtimeTable") or {}).items())
        },
        json_body.get("cgColdReadThreshold"),
        json_body.get("globalColdReadThreshold"),
        json_body.get("globalAcc"),
    )


def _parse_cold_reads(reads_record: Mapping[str, Any]) -> ColdReads:
    return ColdReads(
        int(reads_record.get("coldAcc") or 0),
        reads_record.get("createTimeMills") or None,
        reads_record.get("lastColdReadTimeMills") or None,
    )
