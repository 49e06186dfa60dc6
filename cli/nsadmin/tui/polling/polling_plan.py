"""What a poller polls and how it connects: the plan of a cluster, and the types of its functions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.polling.poll_records import AnyPoll, EventDescriber
from nsadmin.tui.polling.server_polls import RequestStopwatch

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_tools import MessageTools

ClientFactory = Callable[[Sequence[str], float | None, RequestStopwatch], AdminClient]
"""Creates a client: name server addresses, timeout in seconds (None: the usual one), request observer."""
PollHandler = Callable[[Sequence[AnyPoll]], object]


class PollingPlan(NamedTuple):
    """The servers and journals to poll, the interval (seconds), and the limit of requests per second.

    `inventory` has the brokers that should be there; None for no inventory. `tls` is the client's TLS, whose
    certificates are checked. `load_message_tools` imports the functions that decode bodies.
    """

    addrs: Sequence[str]
    namespaces: Sequence[str] = ("ORDER_TOPIC_CONFIG",)
    interval: float = 5.0
    requests_per_second: int = 250
    journal_folders: Sequence[str] = ()
    describe_event: EventDescriber = lambda event_type, event_fields: None
    inventory: InventoryKeeper | None = None
    tls: Tls | None = None
    load_message_tools: "Callable[[], MessageTools] | None" = None
