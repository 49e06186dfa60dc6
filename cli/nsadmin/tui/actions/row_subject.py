"""The objects that a row of a view concerns, for which actions build their commands. Pure."""

from collections.abc import Sequence
from typing import NamedTuple


class RowSubject(NamedTuple):
    """The objects that a row concerns, as arguments for commands. None: the row has no such object.

    `remedy_words` is the command line that fixes the problem of the row. `holder_pid` is the process that
    holds the drain or the restart of the row. `restart_commands` are the commands with which a rolling
    restart stops and starts a broker. `queue_id` and `offset` are where a group continues to read.
    `letter_ids` are the offset ids of dead letters, and `letter_times` the store times (ms) of the first and
    the last of them.
    """

    broker_name: str | None = None
    broker_addr: str | None = None
    cluster: str | None = None
    topic: str | None = None
    group: str | None = None
    namespace: str | None = None
    key: str | None = None
    value: str | None = None
    name_server: str | None = None
    remedy_words: Sequence[str] = ()
    holder_pid: int | None = None
    restart_commands: tuple[str, str] | None = None
    queue_id: int | None = None
    offset: int | None = None
    letter_ids: tuple[str, ...] = ()
    letter_times: tuple[int, int] = (0, 0)
