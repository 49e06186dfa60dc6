"""The language that a reader prefers, and advice in it: advice.zh.json has the Chinese of each text."""

import json
import os
import re
from pathlib import Path

CHINESE_FILE = Path(__file__).with_name("advice.zh.json")
_VARIABLES = ("NSADMIN_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def preferred_language() -> str:
    """The language of NSADMIN_LANG or of the locale, such as zh for zh_CN.UTF-8."""
    value = next(filter(None, map(os.environ.get, _VARIABLES)), "")
    return re.split("[_.@-]", value.lower())[0]


def translate_advice(text: str) -> str:
    """Return advice in the language of the reader, or as it is."""
    if preferred_language() != "zh":
        return text
    translated: str = json.loads(CHINESE_FILE.read_text("utf-8")).get(text, text)
    return translated
