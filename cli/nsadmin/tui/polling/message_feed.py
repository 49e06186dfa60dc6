"""The thread that reads the messages of the current view. It sleeps while no view shows messages."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from threading import Event, Lock

from nsadmin.tui.messages.message_query import MessageQuery, MessageTools
from nsadmin.tui.polling.poll_records import MessagesPolled
from nsadmin.tui.polling.server_polls import ServerProbe


class MessageFeed:
    """`wait_if_paused` returns when polling is not paused. A view that comes back continues where it was."""

    def __init__(
        self,
        open_probe: Callable[[], AbstractContextManager[ServerProbe]],
        post_polls: Callable[[Sequence[MessagesPolled]], object],
        wait_if_paused: Callable[[], object],
        load_tools: Callable[[], MessageTools] | None,
    ) -> None:
        self._open_probe, self._post_polls = open_probe, post_polls
        self._wait_if_paused, self._load_tools = wait_if_paused, load_tools or MessageTools
        self._lock, self._query_changed = Lock(), Event()
        self._wanted_query: MessageQuery | None = None
        self._is_stopped = False
        self._run_count = 0

    def follow(self, query: MessageQuery | None) -> None:
        """Read the messages of this query from now on; None reads nothing."""
        with self._lock:
            if query == self._wanted_query:
                return
            self._wanted_query = query
        self._query_changed.set()

    def stop(self) -> None:
        self._is_stopped = True
        self._query_changed.set()

    def run(self) -> None:
        """The body of the thread."""
        # Wait before connecting: most sessions show no message.
        if self._wait_for_query() is None:
            return
        from nsadmin.tui.polling.message_reader import MessageReader

        reader: MessageReader | None = None
        tools = self._load_tools()
        with self._open_probe() as probe:
            while (query := self._wait_for_query()) is not None:
                if reader is not None and query.is_same_search(reader.query):
                    reader.raise_limit(query.read_limit)
                else:
                    self._run_count += 1
                    reader = MessageReader(probe, query, self._run_count, tools)
                poll = reader.read_step()
                if poll is not None and self._is_wanted(query):
                    self._post_polls([poll])
                self._query_changed.wait(reader.pause_seconds)
                self._wait_if_paused()

    def _is_wanted(self, query: MessageQuery) -> bool:
        """Whether the view still shows this query, or was closed and may come back."""
        with self._lock:
            return self._wanted_query is None or self._wanted_query.is_same_search(query)

    def _wait_for_query(self) -> MessageQuery | None:
        """Wait until a view shows messages. None if the thread stops."""
        while not self._is_stopped:
            # Clear the event first: a query that comes after it is read here, or wakes the next wait.
            self._query_changed.clear()
            with self._lock:
                query = self._wanted_query
            if query is not None:
                return query
            self._query_changed.wait()
        return None
