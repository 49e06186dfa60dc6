"""Removes secrets from the answers of a bundle: by the names of their fields, and wherever else they occur.

Rule: a value that a name gives away as a secret is hidden in every part of the bundle.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from namesrv_core.protocol import object_keys
from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bundles.answer_table import AnswerTable, Outcome, RecordedAnswer, RequestKey
from nsadmin.client.redaction import HIDDEN_TEXT, hide_assigned_secrets, is_secret_name

_MIN_SECRET_CHARACTERS = 6
"""Shorter values would also hide numbers and common words elsewhere."""
_MAX_SECRETS = 2000
_MAX_PLAIN_SEARCHES = 50
"""With more secrets than this, one pattern is faster than a plain search for each."""
_URL_CREDENTIALS = re.compile(r"(://)[^/\s:@\"']{0,64}:[^/\s:@\"']{1,64}(?=@)")
_LONE_WORDS_OF_SECRETS = (
    b"secret", b"passw", b"passphrase", b"pwd", b"token", b"credential", b"://",
)  # fmt: skip
_KEYS_OF_SECRETS = re.compile(rb"(?:access|api|private)[-_.]?key")
_ACCESS_KEY = re.compile(r"access[-_.]?key$", re.I)
"""Access keys are names of users, so only their fields are hidden."""
_ENTRY_VALUE_FIELDS = ("value", "before", "after")
"""The fields of an event of the KV config that have the value of its `key`."""
_PLAIN_WORDS = frozenset(("true", "false", "null", "default", HIDDEN_TEXT))
_SETTINGS_CODES = frozenset(
    {
        RequestCode.GET_BROKER_CONFIG,
        RequestCode.GET_NAMESRV_CONFIG,
        RequestCode.GET_CONTROLLER_CONFIG,
    }
)
"""Requests whose body has one setting in each line."""


class Redactor:
    """Hides secrets in tables and files. First learns all secrets, then hides them.

    Args:
        known_secrets: Secrets that the caller knows, such as its own secret key.
    """

    def __init__(self, known_secrets: Iterable[str] = ()) -> None:
        self._secrets: set[str] = set()
        self._redacted_bodies: dict[tuple[bool, bytes], bytes] = {}
        self._hidden_pattern: re.Pattern[str] | None = None
        self._encoded_forms: tuple[bytes, ...] | None = None
        for secret in known_secrets:
            self._learn_secret(secret)

    def redact_tables(self, tables: Mapping[str, AnswerTable]) -> dict[str, AnswerTable]:
        """Return the tables without secrets."""
        answer_tables: dict[str, AnswerTable] = {
            server_addr: {key: self._redact_named(key, outcome) for key, outcome in table.items()}
            for server_addr, table in tables.items()
        }
        secret_forms = _list_forms(self._secrets)
        if not secret_forms:
            return answer_tables
        self._hidden_pattern = _join_forms(secret_forms)
        encoded_forms = [_encode_form(form) for form in secret_forms]
        if len(secret_forms) <= _MAX_PLAIN_SEARCHES and None not in encoded_forms:
            self._encoded_forms = tuple(form for form in encoded_forms if form is not None)
        redacted_by_body: dict[bytes, bytes] = {}
        return {
            server_addr: {key: self._hide_values(outcome, redacted_by_body) for key, outcome in table.items()}
            for server_addr, table in answer_tables.items()
        }

    def redact_json(self, json_value: Any) -> Any:
        """Return a JSON value without secrets. Call it after `redact_tables`."""
        return self._hide_in_json(json_value, None)

    def redact_text(self, text: str) -> str:
        """Return the lines of a file without secrets. Call it after `redact_tables`."""
        return self._hide_text("\n".join(map(_hide_in_value, text.split("\n"))))

    def _hide_in_json(self, json_value: Any, field_name: str | None) -> Any:
        if isinstance(json_value, dict):
            is_secret_entry = is_secret_name(str(json_value.get("key", "")))
            return {
                name: HIDDEN_TEXT
                if is_secret_entry and name in _ENTRY_VALUE_FIELDS and value is not None
                else self._hide_in_json(value, name)
                for name, value in json_value.items()
            }
        if isinstance(json_value, list):
            return [self._hide_in_json(item, field_name) for item in json_value]
        if not isinstance(json_value, str):
            return json_value
        if field_name is not None and is_secret_name(field_name) and json_value:
            return HIDDEN_TEXT
        return self._hide_text(_hide_in_value(json_value))

    def _learn_secret(self, value: str, name: str = "") -> None:
        if value.startswith("{"):
            self._learn_members(value)
        elif (
            len(value) >= _MIN_SECRET_CHARACTERS
            and value.lower() not in _PLAIN_WORDS
            and not value.isdigit()
            and not _ACCESS_KEY.search(name)
        ):
            self._secrets.add(value)

    def _learn_members(self, json_text: str) -> None:
        """Learn the secrets of a setting such as innerClientAuthenticationCredentials."""
        try:
            members = json.loads(json_text)
        except ValueError:
            return
        for member_name, member in members.items():
            if isinstance(member, str) and is_secret_name(member_name):
                self._learn_secret(member, member_name)

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
            remark=outcome.remark and _hide_in_value(outcome.remark),
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
            self._learn_secret(value, name)
            return HIDDEN_TEXT
        if value.startswith("{"):
            self._learn_members(value)
        return _hide_in_value(value)

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
        for line in text.split("\n"):
            name, equals_sign, value = line.partition("=")
            lines.append(f"{name}{equals_sign}{self._hide_named(name, value) or ''}")
        return "\n".join(lines)

    def _redact_json_text(self, text: str) -> str:
        """Hide strings by the names of the fields that they are in, at any depth.

        It works on tokens, because Fastjson also writes objects as names. All other values stay the same.
        """
        tokens = object_keys.split_tokens(text)
        if tokens is None:
            return _hide_in_value(text)
        scanner = _FieldScanner()
        next_tokens = [*tokens[1:], ""]
        return "".join(
            self._redact_token(scanner, token, next_token == ":")
            for token, next_token in zip(tokens, next_tokens, strict=True)
        )

    def _redact_token(self, scanner: "_FieldScanner", token: str, is_name: bool) -> str:
        if token[0] != '"':
            scanner.take_mark(token)
            return token
        string_value = _decode_string(token)
        if is_name:
            scanner.take_name(string_value)
            return token
        if scanner.is_in_secret_field and string_value:
            self._learn_secret(string_value, scanner.field_name)
            return json.dumps(HIDDEN_TEXT)
        redacted_value = _hide_in_value(string_value)
        return token if redacted_value == string_value else json.dumps(redacted_value, ensure_ascii=False)

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
        return text if self._hidden_pattern is None else self._hidden_pattern.sub(HIDDEN_TEXT, text)


class _FieldScanner:
    """Follows the structure of a JSON text, and knows whether the current value is in a secret field."""

    def __init__(self) -> None:
        self.field_name = ""
        self._depth = 0
        self._secret_depth: int | None = None
        self._is_value_secret = False

    @property
    def is_in_secret_field(self) -> bool:
        return self._is_value_secret or self._secret_depth is not None

    def take_name(self, name: str) -> None:
        self.field_name = name
        self._is_value_secret = is_secret_name(name)

    def take_mark(self, mark: str) -> None:
        if mark in "{[":
            self._depth += 1
            # The entries of a table are named by users: a topic "tokens" makes no secret of its settings.
            if self._is_value_secret and mark == "[":
                self._secret_depth = self._secret_depth or self._depth
            self._is_value_secret = False
        elif mark in "}]":
            if self._secret_depth == self._depth:
                self._secret_depth = None
            self._depth -= 1
        elif mark == "," and self._secret_depth is None:
            self._is_value_secret = False


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


def _list_forms(secrets: Iterable[str]) -> list[str]:
    """Return all secrets, the longest first; also as they occur within JSON strings."""
    secret_forms = {form for secret in secrets for form in (secret, json.dumps(secret)[1:-1])}
    return sorted(secret_forms, key=lambda form: (-len(form), form))[:_MAX_SECRETS]


def _join_forms(longest_first: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w-])")


def _decode_string(token: str) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]


def _hide_in_value(value: str) -> str:
    """Hide assignments of secrets, and passwords in URLs."""
    return _URL_CREDENTIALS.sub(rf"\1{HIDDEN_TEXT}", hide_assigned_secrets(value))
