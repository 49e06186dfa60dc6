"""JSON maps whose keys are objects: fastjson writes a map keyed by MessageQueue as `{{"queueId":0}:7}`.

Rule: read the text token by token, so that characters within a string never count as structure.
"""

import re
from collections.abc import Iterable
from typing import Any

from namesrv_core.protocol import fastjson

# The last alternative is a string without an end. It takes all that follows: otherwise the search for the
# end would start again at each later quote, and take quadratic time.
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_JSON_STRING = re.compile(_STRING, re.S)
_JSON_TOKEN = re.compile(rf'{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,"]+|".*', re.S)
_MARKS = frozenset("{}[]:,")
_OBJECT_KEY = re.compile(r"\{\s*[{\[]")


def decode_object_keys(data: bytes, *, errors: str = "strict") -> Any:
    """Like `fastjson.decode_json`, but a map with object keys becomes a list of [key, value] pairs.

    `errors` says how to treat bad UTF-8. Raises ValueError for text that is no JSON even with odd keys.
    """
    text = data.decode("utf-8", errors)
    pairs = _rewrite_as_pairs(text) if _OBJECT_KEY.search(text) else None
    if pairs is None:
        return fastjson.decode_json(data, errors=errors)
    return fastjson.decode_json(pairs.encode("utf-8", "surrogatepass"), errors="surrogatepass")


def _rewrite_as_pairs(text: str) -> str | None:
    """Rewrite `{key:value,key:value}` as `[[key,value],[key,value]]` if its first key is an object.

    Return None if there is no such map, or if brackets or quotes do not match.
    """
    tokens = split_tokens(text)
    if tokens is None:
        return None
    written: list[str] = []
    # The open structures: "{" and "[", or for a map that becomes pairs "key" or "value", the part being read.
    open_structures: list[str] = []
    has_object_keys = False
    for token_index, token in enumerate(tokens):
        following = tokens[token_index + 1] if token_index + 1 < len(tokens) else ""
        if token not in _MARKS:
            written.append(f'"{token}"' if following == ":" and token[0] != '"' else token)
            continue
        inner = open_structures[-1] if open_structures else ""
        if token == "{" and following in ("{", "["):
            has_object_keys = True
            open_structures.append("key")
            token = "[["
        elif token in "{[":
            open_structures.append(token)
        elif token in "}]":
            if {"{": "}", "[": "]", "value": "}"}.get(inner) != token:
                return None
            open_structures.pop()
            token = "]]" if inner == "value" else token
        elif (token, inner) in ((":", "key"), (",", "value")):
            open_structures[-1] = "value" if token == ":" else "key"
            token = "," if token == ":" else "],["
        elif token in ":," and inner in ("key", "value"):
            return None
        written.append(token)
    return "".join(written) if has_object_keys else None


def split_tokens(text: str) -> list[str] | None:
    """Split JSON into its tokens. Return None for a string without an end."""
    tokens = _JSON_TOKEN.findall(text)
    is_whole = not tokens or tokens[-1][0] != '"' or _JSON_STRING.fullmatch(tokens[-1])
    return tokens if is_whole else None


def encode_object_key_map(pairs: Iterable[tuple[object, object]]) -> bytes:
    return (
        b"{"
        + b",".join(fastjson.encode_json(key) + b":" + fastjson.encode_json(value) for key, value in pairs)
        + b"}"
    )
