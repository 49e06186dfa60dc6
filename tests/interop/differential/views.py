"""What of an answer is compared: every header field, and the body as a value.

Answers about the whole server are cut down to the names of the sequence: sequences do not see each other.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from tests.interop import wire
from tests.interop.differential import loose_json
from tests.interop.differential.loose_json import Pairs
from tests.interop.differential.operations import Op, Outcome
from tests.interop.wire import Answer

View = dict[str, Any]
# The two servers run with different values of these.
PLACES = {"bindAddress", "configStorePath", "fastPath", "kvConfigPath", "listenPort", "rocketmqHome"}


def view(op: Op, outcome: Outcome, prefix: str) -> View:
    """The outcome as named parts, ready to be compared and printed."""
    parts: View = {"closed": outcome.closed, "fault": outcome.fault, "answers": len(outcome.answers)}
    for number, answer in enumerate(outcome.answers):
        name = f"answer {number + 1} " if number else ""
        parts |= {name + key: value for key, value in _answer(op, answer, prefix).items()}
    return parts


def _answer(op: Op, answer: Answer, prefix: str) -> View:
    fields: View = {
        field.name: getattr(answer, field.name)
        for field in dataclasses.fields(Answer)
        if field.name not in ("body", "members")
    }
    fields["ext"] = None if answer.ext is None else dict(sorted(answer.ext.items()))
    fields["members"] = answer.members
    return fields | _body(op, answer, prefix)


def _body(op: Op, answer: Answer, prefix: str) -> View:
    if not answer.body:
        return {"body": None}
    if op.code == 319 and answer.code == 0:
        return {"body": _settings(answer.body)}
    try:
        value = loose_json.parse(answer.body)
    except ValueError as error:
        return {"body": answer.body, "body fault": str(error)}
    project = PROJECTIONS.get(op.code)
    if project is None:
        # The same characters in another order: pins escapes, number forms and blanks as well.
        return {"body": loose_json.canonical(value), "body characters": sorted(answer.body.decode())}
    return {"body": loose_json.canonical(project(value, prefix))}


def _settings(body: bytes) -> list[str]:
    return [line for line in body.decode().split("\n") if line.partition("=")[0] not in PLACES]


def _own_members(pairs: Any, prefix: str) -> Any:
    return (
        Pairs((key, value) for key, value in pairs if prefix in str(key))
        if isinstance(pairs, Pairs)
        else pairs
    )


def _table(value: Pairs, prefix: str) -> Pairs:
    return Pairs((key, _own_members(member, prefix)) for key, member in value)


def _topics(value: Pairs, prefix: str) -> Pairs:
    """The sequence's topics; 304's broker address is any broker's, so only its presence is kept."""
    kept = Pairs()
    for key, member in value:
        names = [name for name in member if prefix in name] if key == "topicList" else "some"
        kept.append((key, names))
    return kept


PROJECTIONS: dict[int, Callable[[Pairs, str], Pairs]] = {
    103: _table,
    106: _table,
    206: _topics,
    219: _table,
    304: _topics,
    311: _topics,
    312: _topics,
    313: _topics,
}


def differences(java: View, ours: View) -> list[str]:
    """The names of the parts that differ."""
    return [key for key in {**java, **ours} if java.get(key) != ours.get(key)]


def is_binary(op: Op) -> bool:
    return op.encoding == wire.BINARY
