"""Which setting wins, among what was given, the environment, a context and defaults."""

from pathlib import Path

import pytest

from nsadmin.client.connection.access_options import Access, Credentials
from nsadmin.client.connection.addresses import make_finder
from nsadmin.contexts import Context, Contexts, save_contexts
from nsadmin.exit_codes import UsageError
from nsadmin.output import OutputStyle
from nsadmin.session import SharedOptions
from nsadmin.settings import resolve_options

LAB = Context("lab:1", timeout=5.0, retries=2, concurrency=3, output="csv", address_map=(("a", "b"),))


@pytest.fixture(autouse=True)
def file(config: Path) -> Path:
    save_contexts(config, Contexts({"lab": LAB, "prod": Context("prod:1")}, current_name="lab"))
    return config


def addrs(options: SharedOptions) -> tuple[str, ...]:
    return make_finder(options.namesrv_addr)().addrs


def test_nothing_given_is_the_context_in_use() -> None:
    options = resolve_options({"context": None})
    assert (addrs(options), options.access, options.style.output_format) == (
        ("lab:1",),
        Access(5.0, 2, 3, address_map=(("a", "b"),)),
        "csv",
    )


def test_the_environment_comes_before_the_context_in_use_but_not_before_one_that_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAMESRV_ADDR", "env:1")
    assert addrs(resolve_options({"context": None})) == ("env:1",)
    assert addrs(resolve_options({"context": "prod"})) == ("prod:1",)
    monkeypatch.setenv("NSADMIN_CONTEXT", "prod")
    assert addrs(resolve_options({"context": None})) == ("env:1",)


def test_what_is_given_comes_first() -> None:
    values = {"context": "prod", "namesrv_addr": ["given:1"], "timeout": 1.5, "output": "yaml"}
    options = resolve_options(values)
    assert (addrs(options), options.access.timeout, options.style.output_format) == (
        ("given:1",),
        1.5,
        "yaml",
    )


def test_a_command_that_asks_nobody_has_no_context() -> None:
    assert resolve_options({}, needs_connection=False) == SharedOptions(style=OutputStyle())


def test_an_empty_format_is_none_unless_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "")
    assert resolve_options({"output": None}, needs_connection=False).style.output_format == "table"
    with pytest.raises(UsageError, match=r"^--output  is unknown; there are: table"):
        resolve_options({"output": ""}, needs_connection=False)


def test_a_format_that_does_not_exist_is_refused_with_the_place_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "xml")
    with pytest.raises(UsageError, match=r"^NSADMIN_OUTPUT xml is unknown; there are: table"):
        resolve_options({"context": None})


def test_how_servers_are_asked_and_what_is_said_of_it() -> None:
    options = resolve_options(
        {"context": "prod", "retries": 2, "concurrency": 8, "quiet": True, "debug": True}
    )
    assert options.access[1:3] == (2, 8)
    assert (options.quiet, options.debug, options.context) == (True, True, "prod")


def test_a_map_that_is_given_comes_over_the_contexts() -> None:
    options = resolve_options({"context": None, "address_map": ["a=c", "10.0.0.0/8=d:1"]})
    assert options.access.address_map == (("a", "c"), ("10.0.0.0/8", "d:1"))


def test_a_context_with_a_colour_has_a_banner(file: Path) -> None:
    save_contexts(file, Contexts({"prod": Context("prod:1", color="red", output="xml")}))
    options = resolve_options({"context": "prod", "output": "json"})
    assert (options.style.context_banner, options.color) == (("prod", "red"), "red")
    with pytest.raises(UsageError, match=r"^the output of context prod, xml is unknown"):
        resolve_options({"context": "prod"})


def test_credentials_are_where_they_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    options = resolve_options({"context": None})
    assert (options.access.credentials, options.credentials_source) == (Credentials("me", "s3cret"), "env")
