"""The rules that recognize secrets by their names; files, screens and the audit use them."""

import re

HIDDEN_TEXT = "***"
_SECRET_WORDS = r"secret|passw|passphrase|pwd|token|credential|access[-_.]?key|api[-_.]?key|private[-_.]?key"
_SECRET_PATTERN = re.compile(_SECRET_WORDS, re.I)
# A name, possibly in quotes, with the separator of an argument, a properties file or JSON, but no HOST:PORT.
_ASSIGNMENT_PATTERN = re.compile(
    rf"(?:{_SECRET_WORDS})[\w.-]{{0,64}}[\"']?[ \t]{{0,8}}(?:=|:(?!\d{{1,5}}\b))[ \t]{{0,8}}(?=\S)", re.I
)

_URL_TEXT = re.compile(r"[^\s\"<>]+")
_PEM_BEGIN = re.compile(r"-----BEGIN [^-]{0,40}PRIVATE KEY[^-]{0,20}-----")
_PEM_END = re.compile(r"-----END [^-]{0,60}-----")


def is_secret_name(setting_name: str) -> bool:
    """Return whether a setting with this name may hold a secret. Upper and lower case are equal."""
    return _SECRET_PATTERN.search(setting_name) is not None


def hide_secrets(text: str) -> str:
    """Hide private keys in PEM, what precedes the @ of URLs, and all after a `name=value` of a secret name.

    A secret may contain any character, so its end is unknown.
    """
    text = hide_private_keys(text)
    assignment = _ASSIGNMENT_PATTERN.search(text)
    if assignment is not None:
        text = text[: assignment.end()] + HIDDEN_TEXT
    return _URL_TEXT.sub(_hide_before_at, text) if "://" in text and "@" in text else text


def hide_private_keys(text: str) -> str:
    """Hide private keys in PEM, which may have many lines."""
    shown_parts, position = [], 0
    for begin in _PEM_BEGIN.finditer(text) if "PRIVATE KEY" in text else ():
        if begin.start() >= position:
            end = _PEM_END.search(text, begin.end())
            shown_parts += [text[position : begin.start()], HIDDEN_TEXT]
            position = len(text) if end is None else end.end()
    return "".join([*shown_parts, text[position:]]) if shown_parts else text


def _hide_before_at(url_text: re.Match[str]) -> str:
    """A password in a URL may contain each character of a URL, so the last @ counts."""
    scheme, separator, address = url_text[0].partition("://")
    hidden_part, _, place = address.rpartition("@")
    return f"{scheme}{separator}{HIDDEN_TEXT}@{place}" if hidden_part else url_text[0]
