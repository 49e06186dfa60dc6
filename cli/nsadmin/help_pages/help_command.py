"""Chooses the page of `nsadmin help WORDS`."""

from collections.abc import Sequence

from nsadmin.command_line import registry
from nsadmin.command_line.usage import unknown_command_error
from nsadmin.console.exit_codes import UsageError
from nsadmin.help_pages.command_lists import all_commands_text, category_text, group_text
from nsadmin.help_pages.overview import overview_text

HELP_FLAGS = ("-h", "--help")


def is_group_help(command_words: Sequence[str]) -> bool:
    """Whether the words ask for the page of a group: its name alone, or its name and --help."""
    is_group = registry.find_group(command_words[0]) is not None
    return is_group and (len(command_words) == 1 or command_words[1] in HELP_FLAGS)


def find_page(help_words: Sequence[str]) -> str | None:
    """Return the page that the words after `help` name, else the hits of a search; None for a command.

    Raises UsageError if nothing is found.
    """
    topic_words = [word for word in help_words if word not in HELP_FLAGS]
    if not topic_words or topic_words == ["help"]:
        return overview_text()
    if topic_words == ["version"]:
        return "Usage: nsadmin version\n\nPrint the version."
    entry, other_words = registry.take_command(topic_words)
    # A question can begin with a command's name: export all messages of a topic.
    if entry is not None and not other_words:
        return None
    first_word = topic_words[0].lower().removeprefix("--")
    if first_word in ("options", "environment", "exit-codes"):
        # Imported late: only these pages need the parser.
        from nsadmin.help_pages import shared_pages

        page_writers = {
            "options": shared_pages.options_text,
            "environment": shared_pages.environment_text,
            "exit-codes": shared_pages.exit_codes_text,
        }
        return page_writers[first_word]()
    if topic_words[0].startswith("-") and len(topic_words) == 1:
        from nsadmin.help_pages import shared_pages

        if text := shared_pages.option_text(topic_words[0]):
            return text
    if first_word == "columns":
        return _columns_page(topic_words[1:])
    if first_word == "all" and len(topic_words) == 1:
        return all_commands_text()
    category = registry.find_category(first_word)
    if category is not None and len(topic_words) == 1:
        return category_text(category)
    if is_group_help(topic_words):
        return group_text(first_word)
    # Imported late: it reads the help of all commands.
    from nsadmin.help_pages.search import search_text

    text = search_text(topic_words)
    if text is None and entry is not None:
        return None
    if text is None:
        raise UsageError(
            f'no command and no guide has "{" ".join(topic_words)}": nsadmin help all lists the commands'
        )
    return text


def _columns_page(command_words: Sequence[str]) -> str:
    if not command_words:
        raise UsageError("missing argument COMMAND: usage: nsadmin help columns COMMAND")
    command_entry = registry.take_command(command_words)[0]
    if command_entry is None:
        raise unknown_command_error(command_words)
    from nsadmin.help_pages.command_page import columns_text

    return columns_text(command_entry)
