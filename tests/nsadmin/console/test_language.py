"""The language of a reader, and the Chinese advice."""

import json

import pytest

from nsadmin.console import advice
from nsadmin.console.error_meanings import ERROR_MEANINGS
from nsadmin.console.language import CHINESE_FILE, preferred_language, translate_advice


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({"NSADMIN_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "C.UTF-8", "LANG": "zh_TW"}, "c"),
        ({}, ""),
    ],
)
def test_the_language_is_that_of_the_locale(
    variables: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NSADMIN_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert preferred_language() == language


def test_each_advice_has_a_translation_and_no_other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {m.advice for m in ERROR_MEANINGS if m.advice} | {
        text for name, text in vars(advice).items() if name.endswith("_ADVICE")
    }
    texts |= {*advice._ADVICE_BY_SOURCE.values()}
    assert (
        texts | {"use --timeout SECONDS to wait longer"} == json.loads(CHINESE_FILE.read_text("utf-8")).keys()
    )
    monkeypatch.setenv("NSADMIN_LANG", "zh_CN")
    assert translate_advice("run nsadmin topicList to list the topics") == "运行 nsadmin topicList 列出主题"
    assert translate_advice("another text") == "another text"
    monkeypatch.setenv("NSADMIN_LANG", "en")
    assert translate_advice("run nsadmin topicList to list the topics").startswith("run ")
