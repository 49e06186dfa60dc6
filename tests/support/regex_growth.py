"""Finds regular expressions that can take more than linear time, by their structure: nothing is run or timed.

A repetition without a bound is safe if it is possessive, or if what it repeats begins with other characters
than what may follow it: then it has one place to stop, and a failure after it is final. A pattern that is
searched for starts anew at each character, so an attempt may not run across places where the next one begins.
"""

import re
from collections.abc import Iterator
from re import _constants as nodes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

Chars = frozenset[str]

_SAMPLE = [chr(number) for number in range(0x180)] + ["\u2028", "中"]
_ALL: Chars = frozenset(_SAMPLE)
_END: Chars = frozenset({"end"})
_WORD: Chars = frozenset(char for char in _SAMPLE if re.match(r"\w", char))
_CATEGORIES = {
    nodes.CATEGORY_DIGIT: r"\d", nodes.CATEGORY_NOT_DIGIT: r"\D", nodes.CATEGORY_SPACE: r"\s",
    nodes.CATEGORY_NOT_SPACE: r"\S", nodes.CATEGORY_WORD: r"\w", nodes.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip
_REPEATS = (nodes.MAX_REPEAT, nodes.MIN_REPEAT, nodes.POSSESSIVE_REPEAT)
_MANY = 255
"""A repetition with a greater bound counts as one without a bound."""


def find_slow_parts(pattern: str, *, is_searched: bool) -> list[str]:
    """Why a pattern can take more than linear time; [] if it cannot. Java's named groups are accepted."""
    tree = parser.parse(re.sub(r"\(\?<(\w)", r"(?P<\1", pattern))
    problems = list(_check_top(tree))
    if is_searched:
        problems += _check_starts(tree)
    return problems


def _check_top(sequence: Any) -> Iterator[str]:
    """Like `_check`; one repetition may stop anywhere, as what follows it is searched for in its text."""
    items = list(sequence)
    may_stop_anywhere = True
    for at, node in enumerate(items):
        problems = list(_check_node(node, _first(items[at + 1 :], frozenset()), in_loop=False))
        is_search = may_stop_anywhere and _is_simple_loop(node) and not [*_check_starts(items[at + 1 :])]
        if problems and is_search:
            may_stop_anywhere = False
        else:
            yield from problems


def _is_simple_loop(node: tuple[Any, Any]) -> bool:
    """Whether a node repeats one character, such as `.*` or `(.*?)`."""
    if node[0] is nodes.SUBPATTERN:
        inner = list(node[1][3])
        return len(inner) == 1 and _is_simple_loop(inner[0])
    return node[0] in _REPEATS and not [child for item in node[1][2] for child in _children(item)]


def _chars(node: tuple[Any, Any]) -> Chars:
    """The characters that a node of one character matches."""
    kind, value = node
    if kind is nodes.LITERAL:
        return frozenset({chr(value)})
    if kind is nodes.NOT_LITERAL:
        return _ALL - {chr(value)}
    if kind is nodes.RANGE:
        return frozenset(char for char in _SAMPLE if value[0] <= ord(char) <= value[1])
    if kind is nodes.CATEGORY:
        return frozenset(char for char in _SAMPLE if re.match(_CATEGORIES[value], char))
    if kind is nodes.IN:
        items = [item for item in value if item[0] is not nodes.NEGATE]
        within = frozenset[str]().union(*map(_chars, items))
        return within if len(items) == len(value) else _ALL - within
    assert kind is nodes.ANY, kind
    return _ALL


def _children(node: tuple[Any, Any]) -> list[Any]:
    """The sequences within a node that consume text."""
    kind, value = node
    if kind in _REPEATS:
        return [value[2]]
    if kind is nodes.SUBPATTERN:
        return [value[3]]
    if kind is nodes.ATOMIC_GROUP:
        return [value]
    return list(value[1]) if kind is nodes.BRANCH else []


def _first(sequence: Any, follow: Chars) -> Chars:
    """The characters with which a sequence and what follows it can begin."""
    for node in reversed(list(sequence)):
        follow = _first_of(node, follow)
    return follow


def _first_of(node: tuple[Any, Any], follow: Chars) -> Chars:
    kind, value = node
    if kind is nodes.AT:
        return _END if value in (nodes.AT_END, nodes.AT_END_STRING) else follow
    if kind in (nodes.ASSERT, nodes.ASSERT_NOT):
        return follow
    if kind is nodes.GROUPREF:
        return _ALL
    children = _children(node)
    if not children:
        return _chars(node)
    may_be_missing = kind in _REPEATS and value[0] == 0
    firsts = frozenset[str]().union(*(_first(child, follow) for child in children))
    return firsts | follow if may_be_missing else firsts


def _check(sequence: Any, follow: Chars, *, in_loop: bool) -> Iterator[str]:
    items = list(sequence)
    for at, node in enumerate(items):
        yield from _check_node(node, _first(items[at + 1 :], follow), in_loop=in_loop)


def _check_node(node: tuple[Any, Any], follow: Chars, *, in_loop: bool) -> Iterator[str]:
    kind, value = node
    if kind in (nodes.ASSERT, nodes.ASSERT_NOT):
        yield from _check(value[1], frozenset(), in_loop=False)
        if in_loop:
            yield from _check_starts(value[1])
    elif kind is nodes.ATOMIC_GROUP:
        yield from _check(value, frozenset(), in_loop=in_loop)
    elif kind in _REPEATS and value[1] > _MANY:
        body = value[2]
        body_first = _first(body, frozenset())
        if body.getwidth()[0] == 0:
            yield "repeats what may be empty"
        if kind is not nodes.POSSESSIVE_REPEAT and body_first & follow:
            example = min(body_first & follow)
            yield f"a repetition and what follows it both match {example!r}"
        inner_follow = frozenset() if kind is nodes.POSSESSIVE_REPEAT else follow
        yield from _check(body, body_first | inner_follow, in_loop=True)
    elif kind is nodes.BRANCH and in_loop:
        seen: Chars = frozenset()
        for branch in value[1]:
            branch_first = _first(branch, follow)
            if branch_first & seen:
                yield f"two repeated alternatives both match {min(branch_first & seen)!r}"
            seen |= branch_first
            yield from _check(branch, follow, in_loop=True)
    else:
        for child in _children(node):
            yield from _check(child, follow, in_loop=in_loop)


def _check_starts(sequence: Any) -> Iterator[str]:
    """Whether attempts that begin at each character can run over the same text again and again."""
    items = list(sequence)
    while len(items) == 1 and items[0][0] is nodes.SUBPATTERN:
        items = list(items[0][1][3])
    if len(items) == 1 and items[0][0] is nodes.BRANCH:
        for branch in items[0][1][1]:
            yield from _check_starts(branch)
        return
    if not items:
        return
    kind, value = items[0]
    if kind is nodes.AT and value in (nodes.AT_BEGINNING, nodes.AT_BEGINNING_STRING):
        return
    # After the last repetition nothing can fail, so that its text is not read again.
    crossed = _repeated_chars(items[:-1] if _is_repetition(items[-1]) else items)
    if kind is nodes.AT and value is nodes.AT_BOUNDARY:
        # Within a word there is one start.
        if not crossed <= _WORD:
            yield "an attempt runs beyond the word that it begins with"
        return
    if _always_succeeds(items):
        return
    is_lookbehind = kind is nodes.ASSERT and value[0] < 0
    starts = _first(value[1], frozenset()) if is_lookbehind else _first(items, frozenset())
    if starts & crossed:
        yield f"an attempt runs across {min(starts & crossed)!r}, where another one begins"


def _is_repetition(node: tuple[Any, Any]) -> bool:
    if node[0] is nodes.SUBPATTERN:
        inner = list(node[1][3])
        return len(inner) == 1 and _is_repetition(inner[0])
    return node[0] in _REPEATS and node[1][0] <= 1


def _repeated_chars(sequence: Any) -> Chars:
    """All characters that repetitions without a bound can consume."""
    consumed: Chars = frozenset()
    for node in sequence:
        is_unbounded = node[0] in _REPEATS and node[1][1] > _MANY
        for child in _children(node):
            consumed |= _all_chars(child) if is_unbounded else _repeated_chars(child)
    return consumed


def _all_chars(sequence: Any) -> Chars:
    consumed: Chars = frozenset()
    for node in sequence:
        children = _children(node)
        if children:
            consumed |= frozenset[str]().union(*map(_all_chars, children))
        elif node[0] not in (nodes.AT, nodes.ASSERT, nodes.ASSERT_NOT):
            consumed |= _chars(node)
    return consumed


def _always_succeeds(items: list[Any]) -> bool:
    """Whether a match is certain after the first character: what it consumes is not looked at again."""
    width = sum(
        node[1][0] * node[1][2].getwidth()[0] if node[0] in _REPEATS else 1
        for node in items
        if node[0] is not nodes.SUBPATTERN
    ) + sum(node[1][3].getwidth()[0] for node in items if node[0] is nodes.SUBPATTERN)
    begins_with_character = items[0][0] not in _REPEATS
    return (
        begins_with_character
        and width <= 1
        and all(node[0] not in (nodes.AT, nodes.ASSERT, nodes.ASSERT_NOT) for node in items)
    )
