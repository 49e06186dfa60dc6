"""Removes secrets from the answers of a bundle: by the names of their fields, and wherever else they occur.

Rule: a value that a name gives away as a secret is hidden in every part of the bundle.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bundles.answer_table import AnswerTable, Outcome, RecordedAnswer, RequestKey
from nsadmin.client.redaction import HIDDEN_TEXT, hide_private_keys, hide_secrets, is_secret_name
from nsadmin.client.results import NotApplied

_MIN_SECRET_CHARACTERS = 6
"""Shorter values would also hide numbers and common words elsewhere."""
_MAX_ODD_SECRETS = 2000
"""Secrets with other characters than those of words: one pattern finds them, which is slow for many."""
_MAX_PLAIN_SEARCHES = 50
"""With more secrets than this, patterns are faster than a plain search for each."""
_WORD = re.compile(r"[\w-]+")
_LONE_WORDS_OF_SECRETS = (
    b"secret", b"passw", b"passphrase", b"pwd", b"token", b"credential", b"://", b"private key",
)  # fmt: skip
_KEYS_OF_SECRETS = re.compile(rb"(?:access|api|private)[-_.]?key")
_PUBLIC_FIELD = re.compile(r"(?:access[-_.]?key|user|name|type|status|id)$", re.I)
"""Fields whose values are also words elsewhere, such as access keys, which are names of users."""
_TABLE_FIELD = re.compile(r"(?:Table|Map)$")
_DEEPER_TABLES = {
    "topicQueueMappingByBroker": 1, "forbiddenTable": 2, "messageRequestModeMap": 2,
    "nameServers": 2, "broker": 1,
}  # fmt: skip
"""Tables of tables, and those in saved drains."""
_BARE_VALUE = re.compile(r"[\w.+$-]+")
_ENTRY_VALUE_FIELDS = ("value", "before", "after")
"""The fields of an event of the KV config that have the value of its `key`."""
_PLAIN_WORDS = frozenset(("true", "false", "null", "default", HIDDEN_TEXT))
_SETTINGS_CODES = frozenset(
    {RequestCode.GET_BROKER_CONFIG, RequestCode.GET_NAMESRV_CONFIG, RequestCode.GET_CONTROLLER_CONFIG}
)
"""Requests whose body has one setting in each line."""


class Redactor:
    """Hides secrets in tables and files. First learns all secrets, then hides them.

    The caller passes the secrets that it knows, such as its own secret key.
    """

    def __init__(self, known_secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._redacted_bodies: dict[tuple[bool, bytes], bytes] = {}
        self._odd_pattern: re.Pattern[str] | None = None
        self._secret_words: frozenset[str] = frozenset()
        self._encoded_forms: tuple[bytes, ...] | None = None
        for secret in known_secrets:
            self._learn_secret(secret)

    def redact_tables(self, tables: Mapping[str, AnswerTable]) -> dict[str, AnswerTable]:
        """Return the tables without secrets. Raises NotApplied for more secrets than can be found again."""
        answer_tables: dict[str, AnswerTable] = {
            server_addr: {key: self._redact_named(key, outcome) for key, outcome in table.items()}
            for server_addr, table in tables.items()
        }
        # Secrets also occur within JSON strings.
        secret_forms = {form for secret in self._secrets for form in (secret, json.dumps(secret)[1:-1])}
        if not secret_forms:
            return answer_tables
        self._secret_words = frozenset(form for form in secret_forms if _WORD.fullmatch(form))
        if odd_forms := secret_forms - self._secret_words:
            self._odd_pattern = _join_forms(odd_forms)
        encoded_forms = [_encode_form(form) for form in secret_forms]
        if len(secret_forms) <= _MAX_PLAIN_SEARCHES and None not in encoded_forms:
            self._encoded_forms = tuple(form for form in encoded_forms if form is not None)
        redacted_by_body: dict[bytes, bytes] = {}
        return {
            server_addr: {key: self._hide_values(outcome, redacted_by_body) for key, outcome in table.items()}
            for server_addr, table in answer_tables.items()
        }

    def redact_json(self, json_value: Any) -> Any:
        """Return a JSON value without secrets. Call it after `redact_tables`. Raises RecursionError."""
        return self._hide_in_json(json_value, _Place())

    def redact_text(self, text: str) -> str:
        lines = hide_private_keys(text).split("\n")
        return self._hide_text("\n".join(map(hide_secrets, lines)))

    def _hide_in_json(self, json_value: Any, place: "_Place") -> Any:
        if isinstance(json_value, dict):
            is_secret_entry = is_secret_name(str(json_value.get("key", "")))
            return {
                name: HIDDEN_TEXT
                if is_secret_entry and name in _ENTRY_VALUE_FIELDS and value is not None
                else self._hide_in_json(value, place.enter_field(name))
                for name, value in json_value.items()
            }
        if isinstance(json_value, list):
            return [self._hide_in_json(item, place.enter_list()) for item in json_value]
        if json_value is None or isinstance(json_value, bool) or json_value == "":
            return json_value
        if place.hides(is_text=isinstance(json_value, str)):
            return HIDDEN_TEXT
        return self._hide_text(self._redact_value(json_value)) if isinstance(json_value, str) else json_value

    def _learn_secret(self, value: str, name: str = "") -> None:
        if (
            len(value) >= _MIN_SECRET_CHARACTERS
            and value.lower() not in _PLAIN_WORDS
            and not value.isdigit()
            and not _PUBLIC_FIELD.search(name)
        ):
            self._secrets.add(value)

    def _redact_named(self, key: RequestKey, outcome: Outcome) -> Outcome:
        if not isinstance(outcome, RecordedAnswer):
            return outcome
        redacted_body = self._redact_body(outcome.body, key.code in _SETTINGS_CODES)
        if redacted_body is outcome.body and not outcome.ext and not outcome.remark:
            # Most answers: a copy of each would take long.
            return outcome
        return outcome._replace(
            body=redacted_body,
            ext=outcome.ext and self._redact_ext(outcome.ext, dict(key.ext)),
            remark=outcome.remark and hide_secrets(outcome.remark),
        )

    def _redact_ext(
        self, answer_ext: Mapping[str, str | None], request_ext: Mapping[str, str | None]
    ) -> dict[str, str | None]:
        """The `value` of the KV config has the name of its key, which is in the request."""
        is_secret_key = is_secret_name(request_ext.get("key") or "")
        return {
            name: self._hide_named(name, value, is_secret_key and name == "value")
            for name, value in answer_ext.items()
        }

    def _hide_named(self, name: str, value: str | None, is_secret: bool = False) -> str | None:
        if not value or value == "null":
            return value
        if is_secret or is_secret_name(name):
            if value[0] in "{[":
                self._redact_value(value, is_secret=True)
            else:
                self._learn_secret(value, name)
            return HIDDEN_TEXT
        return self._redact_value(value)

    def _redact_value(self, value: str, *, is_secret: bool = False) -> str:
        """Hide the secrets in a text, which may be JSON, such as the setting initAuthenticationUser."""
        if value[:1] in ("{", "["):
            try:
                json.loads(value)
            except RecursionError:
                pass
            except ValueError:
                return hide_secrets(value)
            return self._redact_json_text(value, is_secret=is_secret)
        return hide_secrets(value)

    def _redact_body(self, body: bytes, has_settings: bool) -> bytes:
        redacted_body = self._redacted_bodies.get((has_settings, body))
        if redacted_body is None:
            redacted_body = body
            if _may_name_secrets(body):
                text = body.decode("utf-8", "surrogateescape")
                redacted_text = self._redact_settings(text) if has_settings else self._redact_json_text(text)
                redacted_body = redacted_text.encode("utf-8", "surrogateescape")
            self._redacted_bodies[has_settings, body] = redacted_body
        return redacted_body

    def _redact_settings(self, text: str) -> str:
        """Hide the values of settings by their names, and assignments within other values."""
        lines = []
        for line in hide_private_keys(text).split("\n"):
            name, equals_sign, value = line.partition("=")
            is_setting = equals_sign and name[:1] not in ("{", "[")
            lines.append(
                f"{name}={self._hide_named(name, value) or ''}" if is_setting else self._redact_value(line)
            )
        return "\n".join(lines)

    def _redact_json_text(self, text: str, *, is_secret: bool = False) -> str:
        """Hide values by the names of the fields that they are in, at any depth.

        It works on tokens, because Fastjson also writes objects as names, and no depth ends it. All other
        values stay the same. A text that is no JSON is treated as text.
        """
        tokens = object_keys.split_tokens(text)
        if (
            tokens is None
            or tokens[:1] not in (["{"], ["["])
            or not all(token[0] in '"{}[]:,' or _BARE_VALUE.fullmatch(token) for token in tokens)
        ):
            return hide_secrets(text)
        scanner = _FieldScanner(_Place(is_secret=is_secret))
        next_tokens = [*tokens[1:], ""]
        return "".join(
            self._redact_token(scanner, token, t == ":") for token, t in zip(tokens, next_tokens, strict=True)
        )

    def _redact_token(self, scanner: "_FieldScanner", token: str, is_name: bool) -> str:
        if token[0] in "{}[]:,":
            scanner.take_mark(token)
            return token
        value = _decode_string(token) if token[0] == '"' else token
        if is_name:
            scanner.take_name(value)
            return token
        is_text = token[0] == '"'
        if scanner.place.hides(is_text=is_text) and value and (is_text or value not in _PLAIN_WORDS):
            self._learn_secret(value, scanner.place.field_name)
            return json.dumps(HIDDEN_TEXT)
        redacted_value = self._redact_value(value) if is_text else value
        return token if redacted_value == value else json.dumps(redacted_value, ensure_ascii=False)

    def _hide_values(self, outcome: Outcome, redacted_by_body: dict[bytes, bytes]) -> Outcome:
        if not isinstance(outcome, RecordedAnswer):
            return outcome
        if outcome.body not in redacted_by_body:
            redacted_by_body[outcome.body] = self._hide_in_body(outcome.body)
        redacted_body = redacted_by_body[outcome.body]
        if redacted_body is outcome.body and not outcome.ext and not outcome.remark:
            return outcome
        return outcome._replace(
            body=redacted_body,
            ext=outcome.ext
            and {name: value and self._hide_text(value) for name, value in outcome.ext.items()},
            remark=outcome.remark and self._hide_text(outcome.remark),
        )

    def _hide_in_body(self, body: bytes) -> bytes:
        if self._encoded_forms is not None and not any(form in body for form in self._encoded_forms):
            return body
        body_text = body.decode("utf-8", "surrogateescape")
        redacted_text = self._hide_text(body_text)
        return body if redacted_text == body_text else redacted_text.encode("utf-8", "surrogateescape")

    def _hide_text(self, text: str) -> str:
        if self._odd_pattern is not None:
            text = self._odd_pattern.sub(HIDDEN_TEXT, text)
        if not self._secret_words:
            return text
        return _WORD.sub(lambda word: HIDDEN_TEXT if word[0] in self._secret_words else word[0], text)


class _Place(NamedTuple):
    """Where a value is: `is_secret` in a field with the name of a secret.

    `table_depth` levels of names follow that users gave: a topic "tokens" makes no secret of its settings.
    `is_secret_entry` is the entry of a table, with the name of a secret. A text may be one.
    """

    field_name: str = ""
    is_secret: bool = False
    table_depth: int = 0
    is_secret_entry: bool = False

    def enter_field(self, name: str) -> "_Place":
        if self.is_secret:
            return _Place(name, True)
        if self.table_depth:
            return _Place(name, False, self.table_depth - 1, is_secret_name(name))
        if is_secret_name(name):
            return _Place(name, True)
        return _Place(name, False, _DEEPER_TABLES.get(name, int(_TABLE_FIELD.search(name) is not None)))

    def enter_list(self) -> "_Place":
        return self._replace(is_secret_entry=False)

    def hides(self, *, is_text: bool) -> bool:
        """Whether a text or a number here is a secret."""
        return self.is_secret or (is_text and self.is_secret_entry)


class _FieldScanner:
    """Follows the structure of a JSON text. `place` is that of the current value."""

    def __init__(self, place: _Place) -> None:
        self.place = place
        self._open_places: list[_Place] = []

    def take_name(self, name: str) -> None:
        self.place = self._open_places[-1].enter_field(name) if self._open_places else self.place

    def take_mark(self, mark: str) -> None:
        if mark in "{[":
            self.place = self.place.enter_list()
            self._open_places.append(self.place)
        elif mark in "}]" and self._open_places:
            self.place = self._open_places.pop()
        elif mark == "," and self._open_places:
            self.place = self._open_places[-1]


def _may_name_secrets(body: bytes) -> bool:
    """Return whether a word of secrets occurs. Searches for plain words are much faster than a pattern."""
    lower_body = body.lower()
    return any(word in lower_body for word in _LONE_WORDS_OF_SECRETS) or (
        b"key" in lower_body and _KEYS_OF_SECRETS.search(lower_body) is not None
    )


def _encode_form(form: str) -> bytes | None:
    """Return a secret as it occurs in a body; None if its bytes are unknown."""
    try:
        return form.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return None


def _join_forms(forms: set[str]) -> re.Pattern[str]:
    if len(forms) > _MAX_ODD_SECRETS:
        raise NotApplied(
            f"no bundle was written: the answers have {len(forms)} secrets, and at most {_MAX_ODD_SECRETS} "
            "can be hidden: connect as a user that may not list users"
        )
    longest_first = sorted(forms, key=lambda form: (-len(form), form))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")


def _decode_string(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]
