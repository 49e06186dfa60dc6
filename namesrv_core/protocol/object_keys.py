"""Bodies whose map keys are objects, as fastjson writes a map keyed by MessageQueue: `{{"queueId":0}:7}`.

Law: a text is looked at token by token, so that nothing within a string is ever taken for structure.
"""

import re
from collections.abc import Iterable
from typing import Any

from namesrv_core.protocol import fastjson

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.S)


def loads(body: bytes, *, errors: str = "strict") -> Any:
    """As `fastjson.loads`, but a map with object keys comes back as a list of [key, value] pairs.

    Raises ValueError for what is no JSON, however odd its keys; `errors` is what to do with bad UTF-8.
    """
    try:
        return fastjson.loads(body, errors=errors)
    except ValueError:
        text = _with_pairs(body.decode("utf-8", errors))
        if text is None:
            raise
        return fastjson.loads(text.encode("utf-8", "surrogatepass"), errors="surrogatepass")


def _with_pairs(text: str) -> str | None:
    """The text with `{key:value,key:value}` as `[[key,value],[key,value]]` if its first key is an object."""
    tokens = _TOKEN.findall(text)
    written: list[str] = []
    # "{" and "[" as they stand, and for maps that become pairs: "key" or "value", whichever is being read.
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
    """A map with these keys, whatever they are, in the order given."""
    return b"{" + b",".join(fastjson.dumps(key) + b":" + fastjson.dumps(value) for key, value in pairs) + b"}"
