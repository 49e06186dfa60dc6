"""Which setting wins, among what was given, the environment, a context and defaults."""

from pathlib import Path

import pytest

from nsadmin.client.connection.access_options import Access, Credentials, Tls
from nsadmin.client.connection.addresses import make_finder
from nsadmin.console.contexts import Context, Contexts, ContextTls, save_contexts
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import OutputStyle
from nsadmin.console.session import SharedOptions
from nsadmin.console.settings import resolve_options

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


def test_journals_are_those_of_the_name_servers_of_the_context(config: Path) -> None:
    contexts = {"lab": LAB._replace(journals=("/journal",))}
    save_contexts(config, Contexts(contexts, current_name="lab"))
    other: dict[str, object] = {"context": None, "namesrv_addr": ["other:1"]}
    assert resolve_options({"context": None}).journal_folders == ("/journal",)
    assert resolve_options(other).journal_folders == ()
    assert resolve_options(other | {"context": "lab"}).journal_folders == ("/journal",)


def test_a_command_that_asks_nobody_has_no_context() -> None:
    assert resolve_options({}, needs_connection=False) == SharedOptions(style=OutputStyle())


def test_an_empty_format_is_none_unless_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "")
    assert resolve_options({"output": None}, needs_connection=False).style.output_format == "table"
    with pytest.raises(
        UsageError,
        match='unknown format "" for --output: use table, wide, json, jsonl, yaml, csv, '
        "spreadsheet, tsv, name, value, mqadmin",
    ):
        resolve_options({"output": ""}, needs_connection=False)


def test_a_format_that_does_not_exist_is_refused_with_the_place_that_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NSADMIN_OUTPUT", "xml")
    with pytest.raises(
        UsageError,
        match='unknown format "xml" for NSADMIN_OUTPUT: use table, wide, json, jsonl, yaml, csv, '
        "spreadsheet, tsv, name, value, mqadmin",
    ):
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
    with pytest.raises(
        UsageError,
        match='unknown format "xml" for the output of context prod: use table, wide, json, jsonl, '
        "yaml, csv, spreadsheet, tsv, name, value, mqadmin",
    ):
        resolve_options({"context": "prod"})


@pytest.fixture
def unverified(file: Path) -> None:
    """A context with TLS that verifies nothing, in use."""
    save_contexts(
        file,
        Contexts(
            {
                "unverified": Context("u:1", tls=ContextTls(verify=False)),
                "verified": Context("v:1", tls=ContextTls()),
                "plain": Context("p:1"),
            },
            "unverified",
        ),
    )


@pytest.mark.usefixtures("unverified")
def test_nothing_is_signed_for_unverified_servers_unless_insecure_is_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert resolve_options({"context": None}).access.tls == Tls(verify=False)
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    refused_values: list[dict[str, object]] = [
        {},
        {"namesrv_addr": ["x:1"]},
        {"tls": True, "tls_ca": "/ca.pem"},
    ]
    for option_values in refused_values:
        with pytest.raises(UsageError) as refused:
            resolve_options({"context": None, **option_values})
        assert str(refused.value) == (
            "nothing was sent: requests would be signed with env, and context unverified does not verify "
            "certificates. Pass --insecure to sign anyway, pass --credentials none, or run nsadmin context "
            "set unverified --verify --tlsCa FILE"
        )
    for option_name in ("insecure", "allows_unverified"):
        access = resolve_options({"context": None, option_name: True}).access
        assert (access.tls, access.credentials) == (Tls(verify=False), Credentials("me", "s3cret"))
    assert resolve_options({"context": None, "credentials": "none"}).access.credentials is None


@pytest.mark.usefixtures("unverified")
def test_verified_and_plain_connections_carry_signed_requests_as_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    for option_values, tls in (
        ({"context": "verified"}, Tls()),
        ({"context": "verified", "allows_unverified": True}, Tls()),
        ({"context": "plain"}, None),
        ({"context": None, "tls": False}, None),
    ):
        access = resolve_options(option_values).access
        assert (access.tls, access.credentials) == (tls, Credentials("me", "s3cret"))


def test_credentials_are_where_they_are_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSADMIN_ACCESS_KEY", "me")
    monkeypatch.setenv("NSADMIN_SECRET_KEY", "s3cret")
    options = resolve_options({"context": None})
    assert (options.access.credentials, options.credentials_source) == (Credentials("me", "s3cret"), "env")
