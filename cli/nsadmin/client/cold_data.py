"""Cold data: how brokers slow down groups that read what is not in memory any more. Since 5.1.2."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object
from nsadmin.client.caller import Caller
from nsadmin.client.name_servers import properties_line
from nsadmin.client.results import NotApplied, NotFound, ServerResult
from nsadmin.client.retry import decoded


class ColdReads(NamedTuple):
    """What a group has read of cold data in the present second or so: bytes, and times in ms since 1970."""

    acc: int
    created: int | None
    last_read: int | None


class ColdData(NamedTuple):
    """A broker's control of cold reads; thresholds and `global_acc` are bytes that are read in a second.

    `thresholds` are those set for groups, others have `group_threshold`. `reads` has the groups that were
    seen to read cold data; brokers that do not control it (coldDataFlowControlEnable) see none.
    """

    thresholds: dict[str, int]
    reads: dict[str, ColdReads]
    group_threshold: int | None
    global_threshold: int | None
    global_acc: int | None


class ThresholdChange(NamedTuple):
    """A group's threshold on one broker, None where it has none of its own."""

    before: int | None
    after: int | None


class ColdDataControl:
    """`admin.cold_data`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def each(self, addrs: Iterable[str]) -> list[ServerResult[ColdData]]:
        """What each broker tells (GET_COLD_DATA_FLOW_CTR_INFO)."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_COLD_DATA_FLOW_CTR_INFO)
        return [decoded(answer, _cold_data) for answer in answers]

    def plan(
        self, addrs: Iterable[str], group: str, threshold: int | None
    ) -> list[ServerResult[ThresholdChange]]:
        """What `update` (with a threshold) or `remove` (with None) would do.

        NotFound where there is none to remove.
        """

        def change(found: ColdData) -> ThresholdChange:
            before = found.thresholds.get(group)
            if before is None and threshold is None:
                raise NotFound(f"{group!r} has no threshold of its own here")
            return ThresholdChange(before, threshold)

        return [found.then(change) for found in self.each(addrs)]

    def update(self, addrs: Iterable[str], group: str, threshold: int) -> list[ServerResult[ThresholdChange]]:
        """Let the group read so many bytes of cold data in a second, and look again."""
        body = properties_line(group, str(threshold)).encode("ascii")
        return self._change(addrs, RequestCode.UPDATE_COLD_DATA_FLOW_CTR_CONFIG, body, group, threshold)

    def remove(self, addrs: Iterable[str], group: str) -> list[ServerResult[ThresholdChange]]:
        """Let the group have the threshold of all again, and look again."""
        code = RequestCode.REMOVE_COLD_DATA_FLOW_CTR_CONFIG
        return self._change(addrs, code, group.encode(), group, None)

    def _change(
        self, addrs: Iterable[str], code: RequestCode, body: bytes, group: str, threshold: int | None
    ) -> list[ServerResult[ThresholdChange]]:
        """Brokers say yes to all, so what counts is what they have afterwards."""
        plans = self.plan(addrs, group, threshold)
        due = [found.addr for found in plans if found.result and found.result.before != found.result.after]
        told = {answer.addr: answer for answer in self._caller.ask_each(due, code, None, body)}
        now = {found.addr: found for found in self.each(addr for addr in due if told[addr].error is None)}

        def checked(planned: ServerResult[ThresholdChange]) -> ServerResult[ThresholdChange]:
            if planned.addr not in told:
                return planned
            error = told[planned.addr].error or now[planned.addr].error
            found = now[planned.addr].result if error is None else None
            if found is not None and found.thresholds.get(group) != threshold:
                error = NotApplied(f"ignored: it is still {found.thresholds.get(group)}")
            return planned if error is None else ServerResult(planned.addr, None, error)

        return [checked(planned) for planned in plans]


def _cold_data(command: Command) -> ColdData:
    body = json_object(command)
    return ColdData(
        {group: int(value) for group, value in sorted((body.get("configTable") or {}).items())},
        {group: _reads(item) for group, item in sorted((body.get("runtimeTable") or {}).items())},
        body.get("cgColdReadThreshold"),
        body.get("globalColdReadThreshold"),
        body.get("globalAcc"),
    )


def _reads(item: Mapping[str, Any]) -> ColdReads:
    return ColdReads(
        int(item.get("coldAcc") or 0),
        item.get("createTimeMills") or None,
        item.get("lastColdReadTimeMills") or None,
    )
