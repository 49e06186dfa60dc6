"""Conversations: the frames that one connection sends to two servers, and the reactions of both.

Names begin with the number of the conversation, so conversations do not affect each other and can run
together.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from namesrv_core.protocol import codec
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from tests.fuzz.frames import MUTATIONS, command, cut, flip, in_parts, lengths, reframed

_WRITTEN = "written and never read"
_MOST = 6


class Said(NamedTuple):
    """One answer. It has a `remark` only if every server sends the same text."""

    code: int
    opaque: int
    remark: str | None = None


class Heard(NamedTuple):
    """What came of one frame: answers, and whether the connection is closed, or waits for the rest of it.

    `why` is the last remark, for whoever has to explain it.
    """

    answers: tuple[Said, ...] = ()
    is_closed: bool = False
    is_unfinished: bool = False
    why: str = ""

    @property
    def is_silent(self) -> bool:
        return not self.answers and not self.is_closed

    def __str__(self) -> str:
        words = [f"{answer.code} #{answer.opaque} {answer.remark or ''}".strip() for answer in self.answers]
        return ", ".join(words + ["closed"] * self.is_closed) or "silent"


class Talk(NamedTuple):
    """Frames of one connection, and what our server made of each."""

    number: int
    frames: list[bytes]
    heard: list[Heard]


def agree(ours: Heard, theirs: Heard) -> bool:
    """Whether a peer could tell no difference; what was answered just before a close may be lost with it."""
    if ours.is_closed and theirs.is_closed:
        return not Counter(theirs.answers) - Counter(ours.answers)
    return ours.is_closed == theirs.is_closed and Counter(ours.answers) == Counter(theirs.answers)


def asked(rng: Random, own: str) -> RemotingCommand:
    """A request that keeps to itself."""
    request = command(rng, own)
    if request.code in (RequestCode.PUT_KV_CONFIG, RequestCode.DELETE_KV_CONFIG):
        request.ext = {**(request.ext or {}), "namespace": _WRITTEN}
    return request


def frames(rng: Random, own: str, corpus: Sequence[bytes]) -> list[bytes]:
    """A talk: frames that are whole, the last one likely not."""
    requests = []
    for _ in range(rng.randrange(1, _MOST)):
        kind = rng.random()
        if kind < 0.2:
            requests.append(codec.encode_command(asked(rng, own)))
        elif kind < 0.88:
            requests.append(in_parts(rng, asked(rng, own)))
        else:
            if kind < 0.92 and corpus:
                requests.append(reframed(rng.choice(MUTATIONS)(rng, rng.choice(corpus))))
            else:
                requests.append(rng.choice((lengths, flip, cut))(rng, codec.encode_command(asked(rng, own))))
            break
    return requests
