"""QueueComparison: the messages of one source queue beside their copies, in the order of the target. Pure."""

from array import array
from bisect import bisect_left
from hashlib import blake2b
from typing import NamedTuple

from nsadmin.client.messages.offset_ranges import OffsetRanges


class ComparedQueue(NamedTuple):
    """The outcome of one queue.

    Attributes:
        source_count: The source messages that were compared.
        copy_count: The copies in the target, also repeated ones.
        missing: The source offsets without a copy.
        duplicate_count: The copies of messages that the target has already.
        changed_count: The copies with another content.
        misplaced_count: The copies that come after the copy of a later message.
        unmatched_count: The copies whose source message is not among the compared ones, as it expired.
        source_hash: A hash of the source messages in their order.
        target_hash: The same hash of their first copies, in the order of the target.
    """

    source_count: int
    copy_count: int
    missing: OffsetRanges
    duplicate_count: int
    changed_count: int
    misplaced_count: int
    unmatched_count: int
    source_hash: str
    target_hash: str

    @property
    def is_equal(self) -> bool:
        """Whether the target has every message, unchanged and in order. It may have some repeatedly."""
        return self.source_hash == self.target_hash and not len(self.missing)


class QueueComparison:
    """Takes the source messages first, in order, then the copies. It keeps 17 bytes per message."""

    def __init__(self) -> None:
        self._offsets, self._hashes = array("q"), array("Q")
        self._is_copied = bytearray()
        self._source_digest, self._target_digest = blake2b(digest_size=8), blake2b(digest_size=8)
        self._highest_index, self._copy_count = -1, 0
        self._duplicates, self._changed, self._misplaced, self._unmatched = 0, 0, 0, 0

    def add_source(self, offset: int, content_hash: int) -> None:
        """Add the next source message."""
        self._offsets.append(offset)
        self._hashes.append(content_hash)
        self._is_copied.append(0)
        self._source_digest.update(content_hash.to_bytes(8, "big"))

    def add_copy(self, offset: int, content_hash: int) -> None:
        """Add the next copy: the source offset that it names, and the hash of its content."""
        self._copy_count += 1
        index = bisect_left(self._offsets, offset)
        if index == len(self._offsets) or self._offsets[index] != offset:
            self._unmatched += 1
            return
        self._changed += self._hashes[index] != content_hash
        if self._is_copied[index]:
            self._duplicates += 1
            return
        self._is_copied[index] = 1
        self._misplaced += index < self._highest_index
        self._highest_index = max(self._highest_index, index)
        self._target_digest.update(content_hash.to_bytes(8, "big"))

    def compare(self) -> ComparedQueue:
        """Return the outcome."""
        missing = OffsetRanges()
        missing.add_offsets(
            offset for offset, copied in zip(self._offsets, self._is_copied, strict=True) if not copied
        )
        return ComparedQueue(
            len(self._offsets),
            self._copy_count,
            missing,
            self._duplicates,
            self._changed,
            self._misplaced,
            self._unmatched,
            self._source_digest.hexdigest(),
            self._target_digest.hexdigest(),
        )
