"""The rows of produce: one for each broker, and which columns a table shows."""

from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.client.messages.message_sender import SendQueue, SentMessage
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.commands.messages.produce_totals import ProduceOptions, SendTotals, count_drafts

OPTIONS = ProduceOptions("T", None, None, None, None, None, False)


def sent_to(broker_name: str, error: NotApplied | None = None) -> SentDraft:
    queue = SendQueue("T", broker_name, "h:1", 0)
    message = None if error else SentMessage(queue, "ID", None, None)
    return SentDraft(MessageDraft(b"12345"), queue, ServerResult("h:1", message, error))


def test_each_broker_has_a_row() -> None:
    totals = SendTotals()
    totals.add_batch([sent_to("b"), sent_to("a"), sent_to("b"), sent_to("a", NotApplied("no"))], False)
    assert [
        (t.broker_name, t.message_count, t.body_bytes, t.failed, t.result) for t in totals.list_totals()
    ] == [("a", 1, 5, 1, "failed"), ("b", 2, 10, 0, "done")]
    assert (totals.sent_count, totals.sendings) == (3, [])


def test_a_batch_without_traces_is_remembered() -> None:
    totals = SendTotals()
    totals.add_batch([sent_to("a")._replace(trace_error=NotApplied("no trace"))], True)
    assert (str(totals.trace_error), totals.errors, len(totals.sendings)) == ("no trace", {}, 1)


def test_a_preview_counts_the_drafts() -> None:
    drafts = iter([MessageDraft(b"1"), None, MessageDraft(b"23")])
    preview = count_drafts(OPTIONS._replace(transaction="commit"), drafts)
    [row] = preview.rows
    assert (row["messageCount"], row["bodyBytes"], row["transaction"]) == (2, 3, "commit")
    assert "transaction" in (preview.table_columns or ())
    assert "transaction" not in (count_drafts(OPTIONS, iter([])).table_columns or ())
