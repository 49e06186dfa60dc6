"""Which setting wins, among what was given, the environment, a context and defaults."""

from pathlib import Path

import pytest

from nsadmin.client.access import Access
from nsadmin.contexts import Context, Contexts, save
from nsadmin.diagnostics import UsageError
from nsadmin.output import Style
from nsadmin.session import Options
from nsadmin.settings import resolve


@pytest.fixture(autouse=True)
def config(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    for name in ("NAMESRV_ADDR", "NSADMIN_CONTEXT", "NSADMIN_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "config.yaml"
    monkeypatch.setenv("NSADMIN_CONFIG", str(file))
    save(file, Contexts({"lab": Context("lab:1", 5.0, "csv"), "prod": Context("prod:1")}, current="lab"))
    return file


def test_nothing_given_is_the_context_in_use() -> None:
    options = resolve({"context": None})
    assert (options.namesrv_addr, options.access, options.style.format) == (("lab:1",), Access(5.0), "csv")


def test_the_environment_comes_before_the_context_in_use_but_not_before_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "env:1")
    assert resolve({"context": None}).namesrv_addr == ()
    assert resolve({"context": "prod"}).namesrv_addr == ("prod:1",)
    monkeypatch.setenv("NSADMIN_CONTEXT", "prod")
    assert resolve({"context": None}).namesrv_addr == ()


def test_what_is_given_comes_first() -> None:
    values = {"context": "prod", "namesrv_addr": ["given:1"], "timeout": 1.5, "output": "yaml"}
    options = resolve(values)
    assert (options.namesrv_addr, options.access.timeout, options.style.format) == (("given:1",), 1.5, "yaml")


def test_a_command_that_asks_nobody_has_no_context() -> None:
    assert resolve({}, connects=False) == Options(style=Style())


def test_a_format_that_does_not_exist_is_refused_with_the_place_that_names_it(
    monkeypatch: pytest.MonkeyPatch, config: Path
) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "xml")
    with pytest.raises(UsageError, match=r"^NSADMIN_OUTPUT xml is unknown; there are: table"):
        resolve({"context": None})


def test_how_servers_are_asked_and_what_is_said_of_it() -> None:
    options = resolve({"context": "prod", "retries": 2, "concurrency": 8, "quiet": True, "debug": True})
    assert options.access[1:3] == (2, 8)
    assert (options.quiet, options.debug, options.context) == (True, True, "prod")
