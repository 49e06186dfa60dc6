"""Accepted differences in what only the scenarios of `scenarios.py` and raw frames send."""

from tests.interop.differential.cases import Case, Tolerance
from tests.interop.differential.operations import Kind


def _marked(mark: str, *codes: tuple[int, int]) -> Tolerance:
    """A registration with this mark leaves different states; `codes` are Java's answer and ours."""
    return Tolerance(
        mark,
        _REASONS[mark],
        lambda case: mark in case.op.marks and case.codes in codes,
        Case.forget_answers,
        ends_sequence=True,
    )


_REASONS = {
    "compressed without its end": (
        "Java inflates only as far as it reads; ours wants the whole stream with its checksum"
    ),
    "compressed without saying so": "ours reads a zlib body without compressed=true; Java does not",
    "lenient filter list": (
        "a filter list with single quotes, comments or spare commas is a list to Java and none to ours"
    ),
    "odd mapping": (
        "Java keeps a null currIdMap, takes keys such as 0x1 and true, and cannot answer 105 any more when a "
        "mapping has no broker name"
    ),
    "null mappings": (
        "Java throws at a null table of queue mappings when it has half applied the rest; to ours it is empty"
    ),
    "null data version in a takeover": (
        "Java throws when it compares a data version that is null, having said SUCCESS; ours takes it as 0"
    ),
}


def _is_read_before_a_bad_frame(case: Case) -> bool:
    return "good and bad" in case.op.marks and case.java.closed and case.ours.closed


def _is_replaced_otherwise(case: Case) -> bool:
    return case.op.kind is Kind.RAW and "odd UTF-8" in case.op.marks


def _is_text_of_settings(case: Case) -> bool:
    return case.op.code == 319 and case.codes == (0, 0)


def _settle_settings(case: Case) -> None:
    """Java reads the bytes of UTF-8 as Latin-1; written as Latin-1 its lines are UTF-8 again."""
    lines = case.java_view.get("body")
    if isinstance(lines, list):
        case.java_view["body"] = [_read_as_utf8(line) for line in lines]


def _read_as_utf8(line: str) -> str:
    try:
        return line.encode("latin-1").decode()
    except UnicodeError:
        return line


ODDITIES = (
    _marked("compressed without its end", (0, 1)),
    _marked("compressed without saying so", (1, 0)),
    _marked("lenient filter list", (0, 0)),
    _marked("odd mapping", (0, 0), (0, 1)),
    _marked("null mappings", (0, 0)),
    _marked("null data version in a takeover", (0, 0)),
    Tolerance(
        "frame before a bad one",
        "Java answers nothing of a write that ends with an impossible length; ours answers what is before it",
        _is_read_before_a_bad_frame,
        Case.forget_answers,
    ),
    Tolerance(
        "odd UTF-8",
        "fastjson 2 refuses more invalid UTF-8 in names of members than in values, none in members that it "
        "passes over, and takes it for other characters beside an escape; ours treats all texts alike",
        _is_replaced_otherwise,
        Case.forget_answers,
    ),
    Tolerance(
        "settings that are no ASCII",
        "Java reads the UTF-8 of an update as Latin-1; ours keeps the text",
        _is_text_of_settings,
        _settle_settings,
    ),
)
