"""The controller of messages: opens the messages of a row or of a search, and one message."""

from collections.abc import Sequence

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.tui.base_app import BaseTui
from nsadmin.tui.messages.message_query import (
    BrowsedMessage,
    InvalidMessageQueryError,
    MessageQuery,
    MessageTools,
    query_topic,
)
from nsadmin.tui.messages.message_table import MessagesView


class MessageController:
    def __init__(self, app: BaseTui) -> None:
        self._app = app

    @property
    def tools(self) -> MessageTools:
        return (self._app.cluster_context.load_message_tools or MessageTools)()

    def open_messages(self) -> None:
        """Open the messages of the row at the cursor. In a list of messages, open the search."""
        app, query = self._app, self._app.current_view.message_query
        if app.player is not None:
            app.show_message("a recording contains no messages", "warn")
            return
        if query is not None:
            self._open_search(query)
            return
        subject = self._app.row_actions.find_current_subject()
        if subject.topic is not None:
            place = (subject.broker_name, subject.queue_id, subject.offset)
            self._show_query(query_topic(subject.topic, *place))
        elif subject.group is not None:
            self._show_query(query_topic(DLQ_PREFIX + subject.group))
        else:
            app.show_message("this row has no messages: press v on a topic, a queue or a group", "warn")

    def open_words(self, query_words: Sequence[str]) -> None:
        """Open the messages of a topic with conditions, as typed after `:messages`."""
        topic = self._app.row_actions.find_current_subject().topic
        if not query_words and topic is None:
            self._app.show_message("name a topic: `:messages TOPIC`", "warn")
            return
        try:
            query = self.tools.parse_query(query_words or [topic or ""])
        except InvalidMessageQueryError as error:
            self._app.show_message(str(error), "bad")
            return
        self._show_query(query)

    def _open_search(self, query: MessageQuery) -> None:
        from nsadmin.tui.screens.message_search_screen import MessageSearchScreen

        self._app.push_screen(MessageSearchScreen(query, self.tools), self._show_query)

    def _show_query(self, query: MessageQuery | None) -> None:
        """Show a query instead of an earlier one. Going back returns to the tab of the topic."""
        if query is None:
            return
        app, view = self._app, MessagesView(query._replace(opened_ms=self._app.clock()))
        if isinstance(app.current_view, MessagesView) and not app.current_view.list_tabs():
            app.replace_view(view)
        else:
            app.push_view(view)

    def read_more(self) -> None:
        """Read as many messages again, after the reading of old messages stopped."""
        app, view = self._app, self._app.current_view
        if not isinstance(view, MessagesView):
            app.show_message("this view shows no messages", "warn")
            return
        view.read_more()
        app.redraw_screen()

    def open_message(self, message: BrowsedMessage) -> None:
        """Show one message. Its screen goes on to the next messages in the order of the table."""
        from nsadmin.tui.screens.message_screen import MessageScreen

        app, query = self._app, self._app.current_view.message_query
        decoders = query.decoders if query is not None else ()
        app.push_screen(MessageScreen(app.filtered_rows, message, self.tools, decoders), self._leave_message)

    def _leave_message(self, last_message: tuple[BrowsedMessage, str | None] | None) -> None:
        """Put the cursor on the last shown message, and start the action that the operator chose."""
        if last_message is None:
            return
        message, action_id = last_message
        grid = self._app.row_grid
        if message in grid.rows:
            grid.move_cursor_to(list(grid.rows).index(message))
            if action_id is not None:
                # Marks would replay other dead letters than the shown one.
                self._app.view_state.marked_keys.clear()
                self._app.row_actions.start_action(action_id)
        elif action_id is not None:
            self._app.show_message("the message is not in the list any more", "warn")
