"""JSON maps whose keys are objects: fastjson writes a map keyed by MessageQueue as `{{"queueId":0}:7}`.

Rule: read the text token by token, so that characters within a string never count as structure.
"""

import re
from collections.abc import Iterable
from typing import Any

from namesrv_core.protocol import fastjson

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.S)


def loads(body: bytes, *, errors: str = "strict") -> Any:
    """Like `fastjson.decode_json`, but a map with object keys becomes a list of [key, value] pairs.

    `errors` says how to treat bad UTF-8. Raises ValueError for text that is no JSON even with odd keys.
    """
    try:
        return fastjson.loads(body, errors=errors)
    except ValueError:
        text = _with_pairs(body.decode("utf-8", errors))
        if text is None:
            raise
        return fastjson.loads(text.encode("utf-8", "surrogatepass"), errors="surrogatepass")


def _with_pairs(text: str) -> str | None:
    """Rewrite `{key:value,key:value}` as `[[key,value],[key,value]]` if its first key is an object.

    Return None if there is no such map, or if the brackets do not match.
    """
    tokens = _TOKEN.findall(text)
    written: list[str] = []
    # The open structures: "{" and "[", or for a map that becomes pairs "key" or "value", the part being read.
    within: list[str] = []
    found = False
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        inner = within[-1] if within else ""
        if token == "{" and following in ("{", "["):
            found = True
            within.append("key")
            token = "[["
        elif token in "{[":
            within.append(token)
        elif token in "}]":
            if {"{": "}", "[": "]", "value": "}"}.get(inner) != token:
                return None
            within.pop()
            token = "]]" if inner == "value" else token
        elif (token, inner) in ((":", "key"), (",", "value")):
            within[-1] = "value" if token == ":" else "key"
            token = "," if token == ":" else "],["
        elif token in ":," and inner in ("key", "value"):
            return None
        elif following == ":" and token[0] not in '":,':
            token = f'"{token}"'
        written.append(token)
    return "".join(written) if found else None


def dumps_table(pairs: Iterable[tuple[object, object]]) -> bytes:
    """Encode a map whose keys are any values, in the given order."""
    return b"{" + b",".join(fastjson.dumps(key) + b":" + fastjson.dumps(value) for key, value in pairs) + b"}"
