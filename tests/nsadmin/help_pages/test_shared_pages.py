"""Pages about what all commands share."""

from nsadmin.command_line.registry import COMMANDS
from nsadmin.command_line.shared_options import leading_parameters
from nsadmin.console.exit_codes import SPECIAL_CODE_MEANINGS
from nsadmin.help_pages.help_command import find_page
from nsadmin.help_pages.shared_pages import environment_text, exit_codes_text, option_text, options_text


def test_every_shared_option_is_explained() -> None:
    text = options_text()
    for parameter in leading_parameters():
        for flag in parameter.flags:
            if flag not in ("-h", "--help", "--version"):
                assert flag.partition("/")[0] in text, flag


def test_commands_with_codes_of_their_own_exist_and_are_listed() -> None:
    names = {entry.name: entry.typed_name for entry in COMMANDS}
    for name in SPECIAL_CODE_MEANINGS:
        assert f"\n  {names[name]} " in exit_codes_text()


def test_the_precedence_of_settings_is_said_once_per_page() -> None:
    assert environment_text().count("Precedence") == options_text().count("Precedence") == 1


def test_one_shared_option_is_explained_alone() -> None:
    text = option_text("--yes")
    assert text is not None
    assert text.startswith("  -y, --yes  Change without asking.")
    assert find_page(["--yes"]) == find_page(["-y"]) == text
    assert option_text("--moreStats") is None
