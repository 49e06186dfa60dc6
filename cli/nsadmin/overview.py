"""What `nsadmin --help` and `nsadmin check --help` print, and the error for an unknown command."""

from typing import TYPE_CHECKING

from nsadmin import exit_codes, output, registry
from nsadmin.did_you_mean import did_you_mean
from nsadmin.exit_codes import CheckUsageError, UsageError
from nsadmin.registry import CommandEntry

if TYPE_CHECKING:
    pass


_OVERVIEW_TEMPLATE = """\
Usage: nsadmin [OPTIONS] COMMAND [ARGUMENTS]

An operator's toolkit for Apache RocketMQ's name servers. Command names may be written
in any case, and with - or _ between their words.

{commands}

Options, before or after the command:
  -n, --namesrvAddr LIST   name servers, as HOST:PORT;HOST:PORT; repeatable
  --context NAME           a cluster of contextList, instead of -n
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
  NSADMIN_CONTEXT          the context, where no --context is given; else that of contextUse
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


def checks_help_text() -> str:
    """The text of `nsadmin check --help`."""
    named_entries = zip(registry.list_check_names(), registry.list_named_checks(), strict=True)
    check_lines = [f"  {check_name:<18}{check_entry.help}" for check_name, check_entry in named_entries]
    code_lines = [f"  {plugin_code:d}  {meaning}" for plugin_code, meaning in exit_codes.PLUGIN_CODE_MEANINGS]
    usage_line, help_hint = "Usage: nsadmin check CHECK [OPTIONS]", "More on one: nsadmin check CHECK --help"
    return "\n".join(
        (
            usage_line,
            "",
            "Checks, for monitoring:",
            *check_lines,
            "",
            "Exit codes:",
            *code_lines,
            "",
            help_hint,
        )
    )


def unknown_command_error(command_words: list[str]) -> UsageError:
    if command_words[0].lower() == "check":
        has_name = command_words[1:2] and not command_words[1].startswith("-")
        problem_text = f"no check {command_words[1]!r}: there are" if has_name else "check what? There are"
        return CheckUsageError(f"{problem_text} {', '.join(registry.list_check_names())}")
    near_names = registry.nearest_commands(command_words[0])
    hint = did_you_mean(near_names) if near_names else "nsadmin --help lists all"
    return UsageError(f"no command {command_words[0]!r}: {hint}")


def overview_text() -> str:
    """The text of `nsadmin --help`; it imports no command."""
    entries_by_group: dict[str, list[CommandEntry]] = {}
    for command_entry in registry.COMMANDS:
        entries_by_group.setdefault(command_entry.group, []).append(command_entry)
    command_lines = "\n\n".join(
        "\n".join(
            [
                f"{group_name}:",
                *(f"  {command_entry.name:<22} {command_entry.help}" for command_entry in group_entries),
            ]
        )
        for group_name, group_entries in entries_by_group.items()
    )
    code_lines = "\n".join(
        f"  {exit_code:d}  {meaning}" for exit_code, meaning in exit_codes.EXIT_CODE_MEANINGS
    )
    return _OVERVIEW_TEMPLATE.format(
        commands=command_lines, exit_codes=code_lines, formats=", ".join(output.OUTPUT_FORMATS)
    )
