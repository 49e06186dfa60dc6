"""Asking in the background."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nsadmin.complete import refresh as refresh_module
from nsadmin.complete.cache import Cache, Kept
from nsadmin.complete.question import Question
from nsadmin.complete.refresh import refresh
from tests.support.servers import FakeNameServer, closed_port

NOW = 1_800_000_000.0


@pytest.fixture
def server() -> Iterator[FakeNameServer]:
    with FakeNameServer() as running:
        running.routes = {"T": {"a": 6}}
        running.kv = {"N": {"k": "v"}, "M": {}}
        yield running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setenv("NSADMIN_CONFIG", str(tmp_path / "config.yaml"))
    for name in ("NAMESRV_ADDR", "NSADMIN_CONTEXT", "NSADMIN_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    return Cache(tmp_path / "cache")


def test_the_name_server_on_the_line_is_asked(server: FakeNameServer, cache: Cache) -> None:
    question = Question("topics", "", ("topicRoute", "-n", server.addr))
    refresh(question, cache, NOW)
    assert cache.read(question.name()) == Kept(["T"], NOW)


def test_that_of_the_context_is_asked(server: FakeNameServer, cache: Cache, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(f"contexts: {{lab: {{namesrvAddr: '{server.addr}'}}}}")
    question = Question("topics", "", ("--context", "lab", "topicRoute"))
    refresh(question, cache, NOW)
    assert cache.read(question.name()) == Kept(["T"], NOW)


def test_what_was_kept_stays_where_no_server_answers(cache: Cache, capfd: pytest.CaptureFixture[str]) -> None:
    question = Question("topics", "", ("-n", f"127.0.0.1:{closed_port()}"))
    cache.write(question.name(), ["old"], NOW - 100)
    refresh(question, cache, NOW)
    assert cache.read(question.name()) == Kept(["old"], NOW - 100)
    assert capfd.readouterr() == ("", "")


def test_while_another_one_asks_nobody_is_asked(server: FakeNameServer, cache: Cache) -> None:
    question = Question("topics", "", ("-n", server.addr))
    with cache.alone(question.name()):
        refresh(question, cache, NOW)
    assert (server.asked, cache.read(question.name())) == ([], None)


def test_a_namespace_with_keys_is_remembered(server: FakeNameServer, cache: Cache) -> None:
    before = ("kvGet", "-n", server.addr)
    for namespace in ("N", "M", "unknown"):
        refresh(Question("kv-keys", namespace, before), cache, NOW)
    assert cache.read(Question("kv-keys", "N", before).name()) == Kept(["k"], NOW)
    assert cache.read(Question("kv-keys", "unknown", before).name()) == Kept([], NOW)
    assert cache.read(Question("namespaces", "", before).name()) == Kept(["N"], NOW)
    server.kv["M"] = {"k": "v"}
    refresh(Question("kv-keys", "M", before), cache, NOW)
    assert cache.read(Question("namespaces", "", before).name()) == Kept(["M", "N"], NOW)


def test_it_starts_with_no_terminal_and_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def popen(words: list[str], **how: Any) -> SimpleNamespace:
        started.append((words, how))
        return SimpleNamespace()

    monkeypatch.setattr("subprocess.Popen", popen)
    refresh_module.start(Question("topics", "", ("-n", "a:1")))
    [(words, how)] = started
    assert words[1:] == ["-P", "-m", "nsadmin", "complete", "refresh", "topics", "", "-n", "a:1"]
    assert how["start_new_session"]
    assert {how[name] for name in ("stdin", "stdout", "stderr")} == {-3}
