"""Asking in the background."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nsadmin.command_line.completion import background_refresh as refresh_module
from nsadmin.command_line.completion.background_refresh import refresh_values
from nsadmin.command_line.completion.value_cache import CachedLines, ValueCache
from nsadmin.command_line.completion.value_question import ValueQuestion
from tests.support.fake_servers import FakeNameServer, closed_port

NOW = 1_800_000_000.0


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        running.routes = {"T": {"a": 6}}
        running.kv = {"N": {"k": "v"}, "M": {}}
        yield running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ValueCache:
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    for name in ("NAMESRV_ADDR", "NSADMIN_CONTEXT", "NSADMIN_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    return ValueCache(tmp_path / "cache")


def test_the_name_server_on_the_line_is_asked(server: FakeNameServer, cache: ValueCache) -> None:
    question = ValueQuestion("topics", "", {"namesrv_addr": [server.addr]})
    refresh_values(question, cache, NOW)
    assert cache.read_lines(question.cache_name()) == CachedLines(["T"], NOW)


def test_that_of_the_context_is_asked(server: FakeNameServer, cache: ValueCache, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"contexts: {{lab: {{namesrvAddr: '{server.addr}'}}}}")
    question = ValueQuestion("topics", "", {"context": "lab"})
    refresh_values(question, cache, NOW)
    assert cache.read_lines(question.cache_name()) == CachedLines(["T"], NOW)


def test_what_was_kept_stays_where_no_server_answers(
    cache: ValueCache, capfd: pytest.CaptureFixture[str]
) -> None:
    question = ValueQuestion("topics", "", {"namesrv_addr": [f"127.0.0.1:{closed_port()}"]})
    cache.write_lines(question.cache_name(), ["old"], NOW - 100)
    refresh_values(question, cache, NOW)
    assert cache.read_lines(question.cache_name()) == CachedLines(["old"], NOW - 100)
    assert capfd.readouterr() == ("", "")


def test_while_another_one_asks_nobody_is_asked(server: FakeNameServer, cache: ValueCache) -> None:
    question = ValueQuestion("topics", "", {"namesrv_addr": [server.addr]})
    with cache.lock_values(question.cache_name()):
        refresh_values(question, cache, NOW)
    assert (server.asked, cache.read_lines(question.cache_name())) == ([], None)


def test_a_namespace_with_keys_is_remembered(server: FakeNameServer, cache: ValueCache) -> None:
    before = {"namesrv_addr": [server.addr]}
    for namespace in ("N", "M", "unknown"):
        refresh_values(ValueQuestion("kv-keys", namespace, before), cache, NOW)
    assert cache.read_lines(ValueQuestion("kv-keys", "N", before).cache_name()) == CachedLines(["k"], NOW)
    assert cache.read_lines(ValueQuestion("kv-keys", "unknown", before).cache_name()) == CachedLines([], NOW)
    assert cache.read_lines(ValueQuestion("namespaces", "", before).cache_name()) == CachedLines(["N"], NOW)
    server.kv["M"] = {"k": "v"}
    refresh_values(ValueQuestion("kv-keys", "M", before), cache, NOW)
    assert cache.read_lines(ValueQuestion("namespaces", "", before).cache_name()) == CachedLines(
        ["M", "N"], NOW
    )


def test_it_starts_with_no_terminal_and_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def popen(words: list[str], **how: Any) -> SimpleNamespace:
        started.append((words, how))
        return SimpleNamespace()

    monkeypatch.setattr("subprocess.Popen", popen)
    refresh_module.start_refresh(ValueQuestion("topics", "", {"namesrv_addr": ["a:1"]}))
    [(words, how)] = started
    assert words[1:4] == ["-P", "-m", "nsadmin.command_line.completion.background_refresh"]
    assert json.loads(words[4]) == ["topics", "", {"namesrv_addr": ["a:1"]}]
    assert how["start_new_session"]
    assert {how[name] for name in ("stdin", "stdout", "stderr")} == {-3}
