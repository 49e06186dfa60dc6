"""The stages in which the queues of one topic move. Pure.

Rule: at every stage, also while only some brokers have carried it out, producers find a writable queue and
every stored message is in a readable queue. A queue that will be written is readable before, and a queue that
stops being readable was not written for a while and is consumed.
"""

from collections.abc import Iterable, Mapping

from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.run_folder import SavedRecord

OPEN_READS, OPEN_WRITES, CLOSE_WRITES = "openReads", "openWrites", "closeWrites"
CLOSE_READS, DELETE_TOPIC = "closeReads", "deleteTopic"
PIN_ORDER, ADD_QUEUES, SWITCH_ORDER = "pinOrder", "addQueues", "switchOrder"
READ_ON, UNPIN_ORDER = "readOn", "unpinOrder"
STAGE_KINDS = (
    OPEN_READS, OPEN_WRITES, CLOSE_WRITES, CLOSE_READS, DELETE_TOPIC, PIN_ORDER, ADD_QUEUES, SWITCH_ORDER,
    READ_ON, UNPIN_ORDER,
)  # fmt: skip

QueuesByBroker = Mapping[str, QueuePair]


class MoveStage(SavedRecord, frozen=True):
    """One stage: what every server must have, and what must be true before the next stage.

    Attributes:
        kind: One of STAGE_KINDS.
        counts: The queues on every broker that has or gets the topic.
        order_conf: The order configuration in force; "" for none, None if the move does not change it.
        opens_from: Broker to the first new queue: groups start to consume it where it begins.
        drains_from: Broker to the first queue that goes away: it and the ones after it must be consumed.
        deletes_on: The brokers that the topic is deleted from.
    """

    kind: str
    counts: QueuesByBroker
    order_conf: str | None = None
    opens_from: Mapping[str, int] = {}
    drains_from: Mapping[str, int] = {}
    deletes_on: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in STAGE_KINDS:
            raise ValueError(f"unknown stage {self.kind}")

    @property
    def opening_queues(self) -> dict[str, range]:
        """The new queues, by broker."""
        return {b: range(first_id, max(self.counts[b])) for b, first_id in self.opens_from.items()}

    @property
    def closing_queues(self) -> dict[str, range]:
        """The queues that go away after this stage, by broker."""
        return {b: range(first_id, self.counts[b].read) for b, first_id in self.drains_from.items()}

    @property
    def has_settle_time(self) -> bool:
        """Whether the settle time must pass before the next stage: clients refresh their routes meanwhile.

        In the settle time of CLOSE_READS, POP consumers acknowledge or return the messages that they have
        fetched, before the topic is deleted.
        """
        return self.kind in (OPEN_WRITES, CLOSE_WRITES, CLOSE_READS, PIN_ORDER, SWITCH_ORDER)


def list_move_stages(before: QueuesByBroker, after: QueuesByBroker) -> tuple[MoveStage, ...]:
    """Return the stages from one state of an unordered topic to another; () if nothing changes."""
    brokers = sorted({*before, *after})
    old_pairs = {broker: before.get(broker, NO_QUEUES) for broker in brokers}
    new_pairs = {broker: after.get(broker, NO_QUEUES) for broker in brokers}
    all_reads = {broker: max(old_pairs[broker].read, new_pairs[broker].read) for broker in brokers}
    shrinking_reads = {b: new_pairs[b].read for b in brokers if new_pairs[b].read < old_pairs[b].read}
    stages: list[MoveStage] = []
    growing_reads = {b: old_pairs[b].read for b in brokers if new_pairs[b].read > old_pairs[b].read}
    if growing_reads:
        opened_pairs = {broker: QueuePair(all_reads[broker], old_pairs[broker].write) for broker in brokers}
        stages.append(MoveStage(OPEN_READS, opened_pairs, opens_from=growing_reads))
    if any(new_pairs[broker].write > old_pairs[broker].write for broker in brokers):
        all_writes = {
            broker: QueuePair(all_reads[broker], max(old_pairs[broker].write, new_pairs[broker].write))
            for broker in brokers
        }
        stages.append(MoveStage(OPEN_WRITES, all_writes))
    if shrinking_reads or any(new_pairs[broker].write < old_pairs[broker].write for broker in brokers):
        closed_pairs = {broker: QueuePair(all_reads[broker], new_pairs[broker].write) for broker in brokers}
        stages.append(MoveStage(CLOSE_WRITES, closed_pairs, drains_from=shrinking_reads))
    if shrinking_reads:
        stages.append(MoveStage(CLOSE_READS, new_pairs))
    return (*stages, *list_deletions(before, after, new_pairs))


def list_deletions(
    before: Iterable[str], after: QueuesByBroker, counts: QueuesByBroker, order_conf: str | None = None
) -> tuple[MoveStage, ...]:
    """Return the stage that deletes the topic from the brokers in `before` that are not in `after`."""
    emptied_brokers = tuple(sorted({*before} - {*after}))
    return (
        (MoveStage(DELETE_TOPIC, counts, order_conf, deletes_on=emptied_brokers),) if emptied_brokers else ()
    )
