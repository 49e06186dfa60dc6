"""The page of nsadmin PROGRAM --help."""

import pytest

from tests.nsadmin.conftest import Run


def test_a_program_with_commands_lists_them(run: Run) -> None:
    result = run("lab", "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Usage: nsadmin lab COMMAND [ARGUMENTS] [OPTIONS]\n")
    assert "\nCommands:\n  lab up [SCENARIO]  " in result.out
    assert "  nsadmin lab up --namesrv-port 9876 --broker-port 10911\n" in result.out
    assert result.out.endswith("Help for one command: nsadmin lab COMMAND --help\n")


@pytest.mark.parametrize("words", [("lab", "run", "--help"), ("help", "lab", "run"), ("lab", "-h", "run")])
def test_a_command_of_a_program_has_a_page(run: Run, words: tuple[str, ...]) -> None:
    result = run(*words)
    assert result.code == 0
    assert result.out.startswith("Usage: nsadmin lab run SCENARIO [OPTIONS]\n")
    assert "  --java-logs 4.x|5.x  " in result.out
    assert "--clusters" not in result.out


def test_required_and_positional_arguments_are_in_the_usage(run: Run) -> None:
    assert run("report", "run", "-h").out.startswith("Usage: nsadmin report run --dir DIR [OPTIONS]\n")
    usage = "Usage: nsadmin completion bash|zsh|fish|powershell [OPTIONS]\n"
    assert run("help", "completion").out.startswith(usage)


def test_former_names_of_options_are_not_shown_and_percent_signs_once(run: Run) -> None:
    text = run("report", "run", "--help").out
    assert "--output" not in text
    assert "1%, 0.01" in text
