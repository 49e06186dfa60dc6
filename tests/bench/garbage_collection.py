"""Benchmark of garbage collection (`python -m tests.bench.garbage_collection`): a full collection of a fleet.

The tables of this process have 64 brokers with 10,000 topics each, and its collector has the settings of the
server, which freezes all objects of the start. Prints the longest of five collections in ms of CPU time.
"""

import gc
import time

from namesrv_core.__main__ import reduce_garbage_collection
from namesrv_core.handlers import registration_precompute
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import codec
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.state.access_policy import ANONYMOUS_PEER
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.bench.requests import register

BROKERS, TOPICS, LOOKS = 64, 10_000, 5


def prepared(state: NameServerState, request: RemotingCommand) -> RemotingCommand:
    """The precomputed request."""
    steps = registration_precompute.precompute_steps(state, request, 1, ANONYMOUS_PEER)
    assert steps is not None
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            asked: RemotingCommand = ended.value
            return asked


def pauses() -> list[float]:
    """Milliseconds of the processor that each look took."""
    reduce_garbage_collection()
    state, pauses_seen = NameServerState(NameServerSettings(), KvConfig(), 0), []
    for broker in range(BROKERS):
        request = codec.decode_command(register(broker, TOPICS)[4:])
        answer, _ = handle_request(state, prepared(state, request), broker, 1)
        assert answer.code == 0
    for _ in range(LOOKS):
        begun = time.thread_time()
        gc.collect()
        pauses_seen.append((time.thread_time() - begun) * 1000)
    return pauses_seen


if __name__ == "__main__":
    print(f"{max(pauses()):.1f}")
