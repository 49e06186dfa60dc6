"""Every difference from Java 5.5.0 that a differential run accepts, in one table, each with its reason.

An entry applies only where its condition holds, and settles only the parts it names: everything else of the
same answer is still compared. An entry that ends the sequence leaves different states behind on purpose.
"""

import re
import time

from tests.interop import wire
from tests.interop.differential.cases import Case, Tolerance
from tests.interop.differential.loose_json import Pairs
from tests.interop.differential.operations import Kind
from tests.interop.differential.tolerated_addresses import SHARED_ADDRESSES
from tests.interop.differential.tolerated_oddities import ODDITIES
from tests.interop.differential.views import View, is_binary


def _answered_in_binary(case: Case) -> bool:
    encodings = case.java_view.get("encoding"), case.our_view.get("encoding")
    return is_binary(case.op) and encodings == (wire.JSON, wire.BINARY)


def _settle_encoding(case: Case) -> None:
    """Binary headers have no empty texts, no empty ext table and no order of members."""
    case.forget("encoding", "members")
    for view in (case.java_view, case.our_view):
        filled = {key: value for key, value in (view.get("ext") or {}).items() if value}
        view["ext"] = filled or None
        view["remark"] = view.get("remark") or None


EXCEPTION = re.compile(r"(java|org|com|io)\.[\w.$]+(Exception|Error)\b")


def _exception_text(case: Case) -> bool:
    remark = case.java_view.get("remark")
    return case.codes == (1, 1) and isinstance(remark, str) and EXCEPTION.match(remark) is not None


def _settle_exception(case: Case) -> None:
    case.forget("remark")


def _clock_answers(case: Case) -> bool:
    bodies = case.java_view.get("body"), case.our_view.get("body")
    return case.op.code == 322 and all(_is_now(body) for body in bodies)


def _is_now(body: object) -> bool:
    stamp = body.get("timestamp") if isinstance(body, Pairs) else None
    if not (isinstance(stamp, tuple) and stamp[0] == "number"):
        return False
    return abs(int(stamp[1]) / 1000 - time.time()) < 3600


def _settle_clock(case: Case) -> None:
    """Two stamps of one clock may or may not be the same millisecond, so `changed` goes with them."""
    case.forget("body characters", "ext")
    for view in (case.java_view, case.our_view):
        view["body"] = Pairs((key, "now" if key == "timestamp" else value) for key, value in view["body"])


def _lenient_header(case: Case) -> bool:
    refused = case.ours.closed and not case.java.closed
    return case.op.kind is Kind.RAW and "malformed JSON" in case.op.marks and refused


def _lenient_body(case: Case) -> bool:
    return case.op.kind is Kind.REQUEST and "malformed JSON" in case.op.marks and case.codes == (0, 1)


def _half_applied(case: Case) -> bool:
    return case.op.code == 103 and "Java throws inside" in case.op.marks and case.codes == (0, 1)


def _no_table(case: Case) -> bool:
    return "no table" in case.op.marks and case.codes == (0, 0)


def _settle_no_table(case: Case) -> None:
    case.forget("ext")


def _refused_single(case: Case) -> bool:
    return case.ledger.left_traces


def _settle_nothing(case: Case) -> None:
    """The answers must agree; only the state behind them does not."""


def _stale_mapping(case: Case) -> bool:
    return case.op.code == 105 and bool(case.ledger.removals) and case.codes == (0, 0)


def _settle_mapping(case: Case) -> None:
    java, ours = (_mappings(view) for view in (case.java_view, case.our_view))
    if all(pair in java for pair in ours):
        case.forget("body characters")
        for view in (case.java_view, case.our_view):
            view["body"] = _without_mappings(view["body"])


def _mappings(view: View) -> Pairs:
    body = view.get("body")
    return (body.get("topicQueueMappingByBroker") if isinstance(body, Pairs) else None) or Pairs()


def _without_mappings(body: object) -> object:
    if not isinstance(body, Pairs):
        return body
    return Pairs((key, value) for key, value in body if key != "topicQueueMappingByBroker")


def _shared_channel(case: Case) -> bool:
    return case.ledger.shared_at_close


def _astray_channel(case: Case) -> bool:
    return case.ledger.astray_at_close


def _live_without_broker(case: Case) -> bool:
    ext = case.op.ext or {}
    entry = str(ext.get("clusterName")), str(ext.get("brokerAddr"))
    bodies = case.java_view.get("body"), case.our_view.get("body")
    return (
        case.op.code == 322
        and entry in case.ledger.disconnected
        and bodies[0] is not None
        and bodies[1] is None
    )


def _settle_live(case: Case) -> None:
    case.forget("ext", "body", "body characters")


def _dangling_name(case: Case) -> bool:
    bodies = case.java_view.get("body"), case.our_view.get("body")
    return case.op.code in (106, 304) and bool(case.ledger.loosely_clustered) and bodies[0] != bodies[1]


def _settle_dangling(case: Case) -> None:
    for view in (case.java_view, case.our_view):
        view["body"] = _without_names(view["body"], case.ledger.loosely_clustered)


def _without_names(body: object, names: set[str]) -> object:
    """The answer of 106 or 304 without these names in its lists; all else stays."""
    if not isinstance(body, Pairs):
        return body
    kept = Pairs()
    for key, value in body:
        if key == "topicList":
            value = [name for name in value if name not in names]
        elif key == "clusterAddrTable":
            lists = ((cluster, [name for name in members if name not in names]) for cluster, members in value)
            value = [(cluster, members) for cluster, members in lists if members]
        kept.append((key, value))
    return kept


def _emptied_namespace(case: Case) -> bool:
    body = case.java_view.get("body")
    is_empty = isinstance(body, Pairs) and body.get("table") == Pairs()
    return case.op.code == 219 and is_empty and case.codes == (0, 22)


def _own_opaque(case: Case) -> bool:
    return "no opaque" in case.op.marks and case.codes[0] == case.codes[1]


def _settle_opaque(case: Case) -> None:
    case.forget("opaque")


TABLE = (
    Tolerance(
        "encoding of answers",
        "ours answers a binary request in binary, as 4.9 does; Java 5.5.0 answers everything in JSON",
        _answered_in_binary,
        _settle_encoding,
    ),
    Tolerance(
        "text of exceptions",
        "Java puts an exception's name and a line of its source into the remark of code 1; nobody parses it",
        _exception_text,
        _settle_exception,
    ),
    Tolerance(
        "time of arrival",
        "a DataVersion without a time stamp gets the server's own clock",
        _clock_answers,
        _settle_clock,
    ),
    Tolerance(
        "opaque of its own",
        "a header without an opaque is answered with the next number of Java's own counter",
        _own_opaque,
        _settle_opaque,
    ),
    Tolerance(
        "lenient JSON header",
        "fastjson 2 reads comments, single quotes, spare commas, raw control characters and odd escapes; "
        "ours closes the connection, as Java does for other malformed headers",
        _lenient_header,
        Case.forget_answers,
    ),
    Tolerance(
        "lenient JSON body",
        "the same in the body of a registration, which ours answers with code 1 and ignores",
        _lenient_body,
        Case.forget_answers,
        ends_sequence=True,
    ),
    Tolerance(
        "half-applied registration",
        "Java swallows an exception half-way and says SUCCESS; ours says code 1 and changes nothing",
        _half_applied,
        Case.forget_answers,
        ends_sequence=True,
    ),
    Tolerance(
        "registration without a table",
        "Java throws half-way, having said SUCCESS, when the broker's id is new or its address another; "
        "ours takes it as a registration of no topics",
        _no_table,
        _settle_no_table,
        ends_sequence=True,
    ),
    Tolerance(
        "traces of a refused registration",
        "Java keeps the cluster and broker names, zone and role change of a first single-topic registration "
        "that it refuses; ours leaves everything as it was",
        _refused_single,
        _settle_nothing,
        ends_sequence=True,
    ),
    Tolerance(
        "stale static-topic mapping",
        "Java never cleans its mapping table; ours drops a mapping with the queue data it belongs to",
        _stale_mapping,
        _settle_mapping,
    ),
    Tolerance(
        "several brokers on one connection",
        "when it closes Java takes out one broker of one address; ours all that came over it",
        _shared_channel,
        _settle_nothing,
        ends_sequence=True,
    ),
    Tolerance(
        "broker of two clusters at its connection's end",
        "Java does not find a broker whose group is filed under another cluster and keeps it; ours does not",
        _astray_channel,
        _settle_nothing,
        ends_sequence=True,
    ),
    Tolerance(
        "live entry without a broker",
        "Java keeps an address's live entry for ever when its connection closes after the broker group has "
        "lost that address; ours drops it with the connection",
        _live_without_broker,
        _settle_live,
    ),
    Tolerance(
        "dangling broker name",
        "a broker that came or went under two clusters' names stays in the list of one of them when the "
        "group is gone; ours takes it out of both",
        _dangling_name,
        _settle_dangling,
        ends_sequence=True,
    ),
    Tolerance(
        "emptied KV namespace",
        "Java keeps a namespace without keys for ever and lists it as an empty table; ours drops it and says "
        "that there is none",
        _emptied_namespace,
        Case.forget_answers,
    ),
    *ODDITIES,
    *SHARED_ADDRESSES,
)
# What differs between two servers of Java's: clocks, counters, and which brokers go with a shared connection.
JAVA_ITSELF = tuple(
    entry
    for entry in TABLE
    if entry.name
    in (
        "time of arrival",
        "opaque of its own",
        "several brokers on one connection",
        "frame before a bad one",
    )
)
OURS_ITSELF = tuple(entry for entry in TABLE if entry.name == "time of arrival")
# What would break one server for all later sequences, or needs its own start: test_edges.py shows it.
ELSEWHERE = {
    "test_an_unregistration_with_a_null_field_is_refused_by_ours_and_spoils_javas_batch": (
        "Java says SUCCESS and loses the rest of the batch; ours answers code 1 and keeps the others"
    ),
    "test_a_registration_without_a_name_is_refused_by_ours_and_breaks_javas_304": (
        "Java keeps a null in its cluster table; ours answers code 1 and changes nothing"
    ),
    "test_a_value_with_blanks_is_trimmed_by_ours_and_ignored_by_java": (
        "Java binds no number or boolean that has blanks around it; ours trims"
    ),
    "test_a_value_with_a_line_break_is_one_line_of_ours_and_two_of_javas": (
        "Java writes the line break of a value into the answer to 319; ours escapes it as properties do"
    ),
    "test_an_empty_object_as_kv_file_stops_java_only": (
        "Java does not start with a KV file without a table; ours takes it as empty"
    ),
    "test_brokers_that_share_a_connection_all_go_with_it_on_ours_only": (
        "Java takes out one broker of a closed connection and leaves the others to expiry"
    ),
    "test_an_unregistration_that_a_newer_registration_has_overtaken_is_carried_out_by_java_only": (
        "on a connection that the broker has left for a newer one, Java takes the broker out; ours leaves it"
    ),
}
