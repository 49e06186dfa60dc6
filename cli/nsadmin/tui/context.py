"""The context of the screen: the observed cluster, the connection to it, and whether changes are allowed."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Tls
from nsadmin.operations.inventory.keeper import InventoryKeeper
from nsadmin.tui.polling.poll_records import EventDescriber
from nsadmin.tui.polling.server_polls import RequestStopwatch

if TYPE_CHECKING:
    from nsadmin.tui.messages.message_query import MessageTools


ClientFactory = Callable[[Sequence[str], float | None, RequestStopwatch], AdminClient]
"""Creates a client: name server addresses, timeout in seconds (None: the usual one), request observer."""


class ClusterContext(NamedTuple):
    """A cluster that the screen can show.

    `words` are the options that make a command line use the same cluster. Name servers or collectors write
    `journal_folders`, and `describe_event` puts their events into words. `read_only` forbids changes.
    `inventory` has the brokers that should be there. `find_target` returns the object that a command line
    changes, such as a broker or a topic; None if it names none. `complete_line` returns the candidates for
    the word after the words before, each with a description; it may wait for servers.
    `tls` is the client's TLS, whose certificates are checked. `load_message_tools` imports the functions that
    parse queries of messages and decode bodies.
    """

    label: str
    addrs: Sequence[str]
    create_client: ClientFactory
    words: Sequence[str] = ()
    color: str | None = None
    read_only: bool = False
    journal_folders: Sequence[str] = ()
    namespaces: Sequence[str] = ("ORDER_TOPIC_CONFIG",)
    describe_event: EventDescriber = lambda event_type, event_fields: None
    inventory: InventoryKeeper | None = None
    tls: Tls | None = None
    find_target: Callable[[Sequence[str]], str | None] = lambda words: None
    complete_line: Callable[[Sequence[str], str], Sequence[tuple[str, str]]] = lambda words, typed_word: ()
    load_message_tools: "Callable[[], MessageTools] | None" = None


class AvailableContexts(NamedTuple):
    """The context at the start, the names of all contexts, and a function that opens one of them.

    `open_context` raises the errors of a command line. Their text says what is wrong with the context.
    """

    first_context: ClusterContext
    list_names: Callable[[], Sequence[str]] = lambda: ()
    open_context: Callable[[str], ClusterContext] | None = None
