"""The targets of rows: the objects whose views Enter opens. Pure.

Rule: a view returns a target, and `view_links` finds the view. So views do not import one another.
"""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_query import BrowsedMessage


class BrokerProcessTarget(NamedTuple):
    """A broker process."""

    broker_name: str
    broker_id: int
    broker_addr: str
    cluster_name: str


class TopicTarget(NamedTuple):
    """A topic."""

    topic: str


class GroupTarget(NamedTuple):
    """A consumer group."""

    group: str


class NameServerTarget(NamedTuple):
    """The settings of a name server."""

    addr: str


class DifferenceTarget(NamedTuple):
    """An object that name servers report differently."""

    aspect_name: str
    object_name: str


class FindingTarget(NamedTuple):
    """A finding of the command `divergence`."""

    aspect_name: str
    object_name: str
    cause_text: str


class ObjectEventsTarget(NamedTuple):
    """The notices that concern one object."""

    object_name: str


class StormTarget(NamedTuple):
    """The events of one kind between two times (ms since 1970)."""

    event_kind: str
    begin_ms: int
    end_ms: int


class DrainTarget(NamedTuple):
    """The log of a drain, or of the rolling restart of a cluster if `broker_name` is None."""

    cluster_name: str
    broker_name: str | None


class RebalanceTarget(NamedTuple):
    """The topics of a rebalance."""

    cluster_name: str
    digest: str


class MessagesTarget(NamedTuple):
    """The messages of a topic, or of one of its brokers."""

    topic: str
    broker_name: str | None = None


class MessageTarget(NamedTuple):
    """One message. A separate screen shows it, not a view."""

    browsed_message: "BrowsedMessage"


class CommandTarget(NamedTuple):
    """The output of a command of nsadmin that only reads. A separate screen shows it, not a view."""

    command_words: tuple[str, ...]


ViewTarget: TypeAlias = (
    BrokerProcessTarget
    | TopicTarget
    | GroupTarget
    | NameServerTarget
    | DifferenceTarget
    | FindingTarget
    | ObjectEventsTarget
    | StormTarget
    | DrainTarget
    | RebalanceTarget
    | MessagesTarget
)
