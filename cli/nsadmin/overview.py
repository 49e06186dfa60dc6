"""The help of nsadmin and of its groups, and the error for an unknown command."""

from collections.abc import Sequence

from nsadmin import exit_codes, output, registry
from nsadmin.did_you_mean import did_you_mean, find_similar_names
from nsadmin.exit_codes import CheckUsageError, UsageError
from nsadmin.registry import CommandEntry

CHECK_GROUP = "check"
"""The group whose commands have the exit codes of monitoring plugins."""

_OVERVIEW_TEMPLATE = """\
Usage: nsadmin [OPTIONS] COMMAND [ARGUMENTS]

An operator's toolkit for Apache RocketMQ's name servers. Command names may be written
in any case, and with - or _ between their words.

{commands}

Options, before or after the command:
  -n, --namesrvAddr LIST   name servers, as HOST:PORT;HOST:PORT; repeatable
  --context NAME           a cluster of `context list`, instead of -n
  --configFile FILE        instead: a properties file that names them
  --endpoint URL           instead: HTTP tells them, as it tells Java's clients
  --addressMap FROM=TO     where to reach brokers, such as 10.0.0.0/8=gateway; repeatable
  --credentials SOURCE     where those are that sign: env, file:PATH, tools:PATH, keyring:NAME, or none
  --tls                    encrypted; --tlsCa --tlsCert --tlsKey FILE, --tlsServerName NAME, --insecure
  --output FORMAT          {formats}
  --json                   short for --output json
  --watch SECONDS          of what reads: again and again, until Ctrl-C; a table in place
  --columns A,B            only these columns; --no-headers leaves their names out
  --sort A,-B              by these columns, - turns one round
  --filter CONDITION       only rows such as perm!=6 or topic~^order; repeatable
  --timeout SECONDS        for each request on each server; 3 if left out
  --retries N              ask again so often what got no answer and changes nothing; 0 if left out
  --concurrency N          servers asked at a time; 64 if left out
  --dry-run                of what changes something: only show what would be done
  -y, --yes                of what changes something: do not ask
  --quiet                  nothing on stderr but errors
  --debug                  each request on stderr: when, where, what, outcome, time, bytes; and tracebacks
  --no-color  --version  -h, --help

Of all this, what was given counts, then what the context of --context says, then the environment, then
the context in use; nsadmin where shows what came of it.

Environment:
  NAMESRV_ADDR             name servers, where no -n is given; else the context's, else 127.0.0.1:9876
  NSADMIN_ACCESS_KEY       who signs, with NSADMIN_SECRET_KEY and perhaps NSADMIN_SECURITY_TOKEN
  NSADMIN_KEY_PASSWORD     what opens the key of --tlsKey
  NSADMIN_TLS              1 turns TLS on; so do NSADMIN_TLS_CA, _CERT, _KEY and _SERVER_NAME
  NSADMIN_CONTEXT          the context, where no --context is given; else that of `context use`
  NSADMIN_CONFIG           the file of contexts; else nsadmin/config.yaml in ~/.config
  NSADMIN_OUTPUT           the format, where no --output is given; else table
  NSADMIN_STATE            where drains are kept; else nsadmin/ in ~/.local/state
  NSADMIN_AUDIT            where changes are noted down, or off; else nsadmin/audit.jsonl in ~/.local/state
  NSADMIN_INVENTORY        off: do not remember which brokers there should be; else kept beside the drains
  XDG_CACHE_HOME           where nsadmin/ keeps what endpoints said last; else ~/.cache
  NO_COLOR                 no colours

Exit codes:
{exit_codes}

More on one: nsadmin COMMAND --help, or nsadmin help COMMAND
"""


def is_group_help(command_words: Sequence[str]) -> bool:
    """Whether the words ask for the help of a group: its name alone, or its name and --help."""
    is_group = registry.find_group(command_words[0]) is not None
    return is_group and (len(command_words) == 1 or command_words[1] in ("-h", "--help"))


def group_help_text(group_name: str) -> str:
    """The text of `nsadmin kv`: the commands of a group."""
    member_entries = registry.list_group_members(group_name)
    name_width = max(len(member_entry.typed_name) for member_entry in member_entries)
    command_lines = [
        f"  {member_entry.typed_name:<{name_width}}  {member_entry.help}" for member_entry in member_entries
    ]
    code_lines = [f"  {plugin_code:d}  {meaning}" for plugin_code, meaning in exit_codes.PLUGIN_CODE_MEANINGS]
    return "\n".join(
        (
            f"{registry.COMMAND_GROUPS[group_name]}.",
            "",
            f"Usage: nsadmin {group_name} COMMAND [ARGUMENTS] [OPTIONS]",
            "",
            "Commands:",
            *command_lines,
            "",
            *(("Exit codes:", *code_lines, "") if group_name == CHECK_GROUP else ()),
            f"Help for one command: nsadmin {group_name} COMMAND --help",
        )
    )


def unknown_command_error(command_words: Sequence[str]) -> UsageError:
    """The error for words that name no command."""
    group_name = registry.find_group(command_words[0])
    if group_name is not None:
        error_type = CheckUsageError if group_name == CHECK_GROUP else UsageError
        return error_type(_describe_unknown_member(group_name, command_words[1]))
    near_names = registry.nearest_commands(command_words[0])
    hint = did_you_mean(near_names) if near_names else "nsadmin --help lists all"
    return UsageError(f"no command {command_words[0]!r}: {hint}")


def _describe_unknown_member(group_name: str, member_word: str) -> str:
    member_names = [member_entry.member_name for member_entry in registry.list_group_members(group_name)]
    if member_word.startswith("-"):
        return f'missing command after "{group_name}": use {", ".join(member_names)}'
    near_names = find_similar_names(member_word, member_names)
    hint = (
        did_you_mean([f"{group_name} {near_name}" for near_name in near_names])
        if near_names
        else f"use {', '.join(member_names)}"
    )
    return f'unknown command "{group_name} {member_word}": {hint}'


def overview_text() -> str:
    """The text of `nsadmin --help`; it imports no command."""
    entries_by_category: dict[str, list[CommandEntry]] = {}
    for command_entry in registry.COMMANDS:
        entries_by_category.setdefault(command_entry.category.title, []).append(command_entry)
    command_lines = "\n\n".join(
        "\n".join(
            [
                f"{category}:",
                *(f"  {group_entry.typed_name:<22} {group_entry.help}" for group_entry in group_entries),
            ]
        )
        for category, group_entries in entries_by_category.items()
    )
    code_lines = "\n".join(
        f"  {exit_code:d}  {meaning}" for exit_code, meaning in exit_codes.EXIT_CODE_MEANINGS
    )
    return _OVERVIEW_TEMPLATE.format(
        commands=command_lines, exit_codes=code_lines, formats=", ".join(output.OUTPUT_FORMATS)
    )
