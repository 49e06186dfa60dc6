"""One simulated replay of the dead letters of a group, while faults happen."""

from collections import Counter
from contextlib import ExitStack
from typing import ClassVar
from unittest.mock import patch

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.topics import make_topic_config
from nsadmin.client.brokers import brokers
from nsadmin.client.messages import dead_letter_replay, message_sender
from nsadmin.client.messages.dead_letter_selection import EVERY_LETTER
from nsadmin.client.results import NotApplied
from nsadmin.operations.dead_letters.replay_store import SavedReplayMemory, open_replays
from tests.simulation.cluster import FAULT_KINDS
from tests.simulation.letter_broker import DEAD_TOPIC, GROUP, RETRY_TOPIC, LetterBroker
from tests.simulation.operated_run import STATE_HOME, OperatedRun
from tests.simulation.world import Fault, InvariantBroken

_KILLS = ("kill nsadmin", "lose power")


class ReplayRun(OperatedRun):
    """A run of one seed. Each dead letter comes to its group once, and at most once more for each kill."""

    # A request that arrives after its client has given up is sent twice; nobody can know.
    fault_kinds: ClassVar = tuple(
        kind
        for kind in FAULT_KINDS
        if kind
        not in (
            "deliver late",
            "freeze broker",
            "delete topic",
            "wipe by other",
            "undrain by other",
            "stale slave",
        )
    )
    step_count: ClassVar = 80
    master_class: ClassVar = LetterBroker
    # Slaves of the simulation have no messages.
    plan_changes: ClassVar = {"has_slave": False}
    shared_topics: ClassVar = (make_topic_config(DEAD_TOPIC, 2), make_topic_config(RETRY_TOPIC, 1))

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self._rounds = self.random.choice((1, 1, 2))

    def run(self) -> None:
        for broker in self.cluster.masters:
            assert isinstance(broker, LetterBroker)
            broker.add_letters(self.random.randrange(24))
        self.start_cluster()
        self.begin_faults()
        world = self.world
        with ExitStack() as patches:
            for module in (dead_letter_replay, message_sender, brokers):
                patches.enter_context(patch.object(module, "sleep", world.pause_seconds))
            patches.enter_context(patch.object(dead_letter_replay, "monotonic", lambda: world.true_ms / 1000))
            for _ in range(self._rounds):
                self.repeat_command(f"dlq replay {GROUP}", self._replay, lambda error: False)
        self._require_replayed()

    def _replay(self) -> bool:
        admin = self.make_admin()
        spans, errors = admin.dead_letters.list_spans(GROUP)
        memory = SavedReplayMemory(open_replays(STATE_HOME, (span.cluster_name for span in spans), GROUP))
        progress = {}
        with memory.open(lambda holder: NotApplied(f"{holder} replays")):
            for broker_replay in admin.dead_letters.replay(GROUP, spans, EVERY_LETTER, memory=memory):
                progress[broker_replay.broker_name] = broker_replay
        for replayed in progress.values():
            self.world.tell(
                f"nsadmin: {replayed.broker_name}: {replayed.replayed} replayed, {replayed.known} known, "
                f"{replayed.failed} failed, {replayed.error or 'no error'}"
            )
        # The operator knows that both brokers have dead letters.
        broker_names = {span.queue_span.broker_name for span in spans}
        if errors or len(broker_names) < 2 or any(r.error or r.failed for r in progress.values()):
            raise RocketMQError(f"not everything was replayed: {errors or sorted(broker_names)}")
        return True

    def _require_replayed(self) -> None:
        """Each dead letter was sent, and none again except for one of a queue at each kill."""
        kills = sum(kind in _KILLS for kind, _ in self.world.steps_with_faults)
        letters: Counter[bytes] = Counter()
        sent: Counter[bytes] = Counter()
        for broker in self.cluster.masters:
            assert isinstance(broker, LetterBroker)
            letters.update(message.body for message in broker.records.list_stored(DEAD_TOPIC))
            sent.update(message.body for message in broker.records.list_stored(RETRY_TOPIC))
        if missing := letters.keys() - sent.keys():
            raise InvariantBroken(f"the replay succeeded, and {len(missing)} dead letters were not sent")
        repeated = sum(times - 1 for times in sent.values())
        if repeated > kills * 4:
            raise InvariantBroken(f"{repeated} dead letters were sent again, after {kills} kills")
