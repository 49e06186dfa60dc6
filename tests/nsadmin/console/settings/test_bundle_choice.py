"""Which bundle a command reads, and what it replaces."""

from pathlib import Path

import pytest

from nsadmin.client import wall_clock
from nsadmin.client.bundles.bundle_file import InvalidBundleError, SupportBundle
from nsadmin.client.connection.access_options import Tls
from nsadmin.console.contexts import Context
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.session import SharedOptions
from nsadmin.console.settings import bundle_choice
from nsadmin.console.settings.context_choice import NO_CONTEXT, ChosenContext
from tests.support.bundles import MANIFEST_FIELDS, NAMESRV, write_bundle


def test_the_command_line_comes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, other = (write_bundle(tmp_path / f"{name}.zip", {}) for name in "ab")
    monkeypatch.delenv("NSADMIN_BUNDLE", raising=False)
    assert bundle_choice.open_chosen_bundle({"bundle": None}) is None
    monkeypatch.setenv("NSADMIN_BUNDLE", str(other))
    for values, path in (({"bundle": str(given)}, given), ({"bundle": None}, other), ({}, other)):
        chosen = bundle_choice.open_chosen_bundle(values)
        assert chosen is not None
        assert (chosen.bundle.path, chosen.context) == (path, NO_CONTEXT)
        chosen.bundle.close()


@pytest.mark.parametrize(
    ("is_named", "given", "environment", "expected"),
    [
        (False, {}, {}, "context.zip"),
        (False, {}, {"NSADMIN_BUNDLE": "environment.zip"}, "environment.zip"),
        (True, {}, {"NSADMIN_BUNDLE": "environment.zip"}, "context.zip"),
        (True, {"bundle": "given.zip"}, {}, "given.zip"),
        (True, {}, {"NAMESRV_ADDR": "h:1"}, "context.zip"),
        (False, {}, {"NAMESRV_ADDR": "h:1"}, None),
        (True, {"namesrv_addr": ["h:1"]}, {}, None),
    ],
)
def test_a_context_can_name_a_bundle(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_named: bool,
    given: dict[str, object],
    environment: dict[str, str],
    expected: str | None,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("NSADMIN_BUNDLE", "NAMESRV_ADDR"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environment.items():
        monkeypatch.setenv(name, text)
    for name in ("context", "environment", "given"):
        write_bundle(tmp_path / f"{name}.zip", {})
    context = ChosenContext("case", Context(bundle="context.zip"), is_named, tmp_path)
    chosen = bundle_choice.open_chosen_bundle(given, context)
    assert (chosen and chosen.bundle.path.name) == expected
    if chosen is not None:
        assert chosen.context == (context if expected == "context.zip" else NO_CONTEXT)
        chosen.bundle.close()


def test_a_file_that_cannot_be_read_is_named_with_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NSADMIN_BUNDLE", "none.zip")
    with pytest.raises(UsageError, match=r"NSADMIN_BUNDLE: cannot read none.zip: No such file"):
        bundle_choice.open_chosen_bundle({})
    (tmp_path / "a.zip").write_text("hello")
    with pytest.raises(InvalidBundleError, match="is not a bundle of nsadmin"):
        bundle_choice.open_chosen_bundle({"bundle": str(tmp_path / "a.zip")})


@pytest.mark.parametrize(
    ("identity", "tls"),
    [("signed plain", None), ("unsigned tls", Tls()), ("signed unverified-tls", Tls(verify=False))],
)
def test_a_client_of_a_bundle_identifies_itself_as_the_one_that_made_it(
    tmp_path: Path, identity: str, tls: Tls | None
) -> None:
    manifest = MANIFEST_FIELDS._replace(identity=identity)
    with SupportBundle(write_bundle(tmp_path / "a.zip", {}, manifest)) as bundle:
        access = bundle_choice.make_bundle_access(bundle, {"concurrency": 7})
        assert access.identity == identity
        assert (access.tls, access.concurrency) == (tls, 7)


def test_the_name_servers_are_those_of_the_bundle_or_of_n(tmp_path: Path) -> None:
    with SupportBundle(write_bundle(tmp_path / "a.zip", {})) as bundle:
        own = bundle_choice.make_bundle_finder(bundle, {"namesrv_addr": []})()
        assert (own.addrs, own.source, own.origin) == ((NAMESRV,), "bundle", str(tmp_path / "a.zip"))
        given = bundle_choice.make_bundle_finder(bundle, {"namesrv_addr": ["h:1"]})()
        assert (given.addrs, given.origin) == (("h:1",), "-n")


def test_time_stands_still_while_a_command_reads_a_bundle(tmp_path: Path) -> None:
    path = write_bundle(tmp_path / "a.zip", {}, files={"journals/ns-1/0.jsonl": b"{}\n"})
    bundle = SupportBundle(path)
    with bundle_choice.enter_bundle(SharedOptions(bundle=bundle)) as options:
        assert wall_clock.time() == MANIFEST_FIELDS.created_ms / 1000
        [journal_folder] = options.journal_folders
        assert journal_folder.endswith("journals/ns-1")
    assert wall_clock.time() > MANIFEST_FIELDS.created_ms / 1000
    plain_options = SharedOptions()
    with bundle_choice.enter_bundle(plain_options) as options:
        assert options is plain_options
