"""Lists of commands: those of a group, those of a category, and all."""

from collections.abc import Iterable, Iterator

from nsadmin.command_line import registry
from nsadmin.command_line.registry import Category, CommandEntry
from nsadmin.console import exit_codes
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.text_layout import format_list, join_sections

CHECK_GROUP = "check"
"""The group whose commands have the exit codes of monitoring plugins."""

_PAGE_HINT = "Help for one command: nsadmin COMMAND --help"


def group_text(group_name: str) -> str:
    code_lines = [f"  {plugin_code:d}  {meaning}" for plugin_code, meaning in exit_codes.PLUGIN_CODE_MEANINGS]
    return join_sections(
        (
            (f"{registry.COMMAND_GROUPS[group_name]}.",),
            (f"Usage: nsadmin {group_name} COMMAND [ARGUMENTS] [OPTIONS]",),
            ("Commands:", *format_list(group_items(group_name), reading_width())),
            ("Exit codes:", *code_lines) if group_name == CHECK_GROUP else (),
            (f"Help for one command: nsadmin {group_name} COMMAND --help",),
        )
    )


def group_items(group_name: str) -> Iterator[tuple[str, str]]:
    """The commands of a group. One with mqadmin's name has it in its description."""
    for word, help_text in registry.list_group_words(group_name).items():
        name = registry.NOUN_AND_VERB.get(f"{group_name} {word}")
        yield f"{group_name} {word}", f"{help_text} ({name})" if name else help_text


def category_text(category: Category) -> str:
    return join_sections(
        (
            (f"{category.title}: {category.help[:1].lower()}{category.help[1:]}",),
            ("Commands:", *_list_entries(registry.list_category_members(category))),
            (_PAGE_HINT,),
        )
    )


def all_commands_text() -> str:
    return join_sections(
        (
            *(
                (f"{category.title}:", *_list_entries(registry.list_category_members(category)))
                for category in registry.CATEGORIES
            ),
            (
                _PAGE_HINT,
                "Names can be written in any case and with hyphens: topic-route. The two words of",
                "a command can be joined: kvGet.",
            ),
        )
    )


def _list_entries(entries: Iterable[CommandEntry]) -> list[str]:
    return format_list(((entry.typed_name, entry.help) for entry in entries), reading_width())
