"""Which context is in force."""

from pathlib import Path

import pytest

from nsadmin.client.connection.access_options import Credentials
from nsadmin.console.contexts import Context, Contexts, save_contexts
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.settings.context_choice import ChosenContext, choose_context


def test_the_one_named_comes_before_the_environments_and_that_before_the_one_in_use(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_context(None) == ChosenContext(None, Context(), False, str(config.parent))
    save_contexts(config, Contexts({name: Context(name) for name in ("a", "b", "c")}, current_name="a"))
    assert choose_context(None) == ChosenContext("a", Context("a"), False, str(config.parent))
    monkeypatch.setenv("NSADMIN_CONTEXT", "b")
    assert choose_context(None) == ChosenContext("b", Context("b"), False, str(config.parent))
    assert choose_context("c") == ChosenContext("c", Context("c"), True, str(config.parent))


def test_an_unknown_one_is_refused_wherever_it_is_named(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match='no context "x": run nsadmin context set x -n HOST:PORT to save it'):
        choose_context("x")
    monkeypatch.setenv("NSADMIN_CONTEXT", "y")
    with pytest.raises(UsageError, match='no context "y": run nsadmin context set y -n HOST:PORT to save it'):
        choose_context(None)


def test_paths_are_relative_to_the_file_of_contexts() -> None:
    chosen = ChosenContext("a", Context(), False, "/etc/nsadmin")
    assert chosen.resolve_path("ca.pem") == Path("/etc/nsadmin/ca.pem")
    assert chosen.resolve_path("/x/ca.pem") == Path("/x/ca.pem")
    assert chosen.resolve_path("~/ca.pem") == Path.home() / "ca.pem"


def test_secrets_that_others_may_read_are_mentioned(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_contexts(config, Contexts({"a": Context("a", credentials=Credentials("k", "s"))}, current_name="a"))
    choose_context(None)
    assert capsys.readouterr().err == ""
    config.chmod(0o644)
    choose_context(None)
    warning = f"nsadmin: other users can read the secrets in {config}: run `chmod 600 {config}`\n"
    assert capsys.readouterr().err == warning
