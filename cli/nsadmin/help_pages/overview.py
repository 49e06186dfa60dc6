"""The text of `nsadmin --help`: the commands of every day, and pages with the others. Imports no command."""

from nsadmin.command_line import registry
from nsadmin.help_pages.text_layout import format_list, join_sections

DAILY_COMMANDS = (
    "clusterList", "topicList", "topicRoute", "consumerProgress", "queryMsgById",
    "route explain", "divergence", "drain", "check all", "tui",
)  # fmt: skip
"""Their order is that of the overview."""

OVERVIEW_WIDTH = 80


def overview_text() -> str:
    daily_entries = [registry.take_command(typed_name.split())[0] for typed_name in DAILY_COMMANDS]
    return join_sections(
        (
            ("Operate the name servers and brokers of Apache RocketMQ 4.9 and 5.x.",),
            ("Usage: nsadmin [OPTIONS] COMMAND [ARGUMENTS] [OPTIONS]",),
            (
                "Commands for every day:",
                *format_list(
                    ((entry.typed_name, entry.help) for entry in daily_entries if entry), OVERVIEW_WIDTH
                ),
            ),
            (
                'All commands by category; "nsadmin help topics" lists those of one:',
                *format_list(((c.handle, c.help) for c in registry.CATEGORIES), OVERVIEW_WIDTH),
            ),
            (
                "More help:",
                *format_list(
                    (
                        ("nsadmin COMMAND --help", "One command, with its options and examples"),
                        ("nsadmin help GROUP", f"A group: {', '.join(registry.COMMAND_GROUPS)}"),
                        ("nsadmin help WORDS", "Search: nsadmin help disk full"),
                        ("nsadmin help all", "All commands"),
                        ("nsadmin guide", "The pages of the documentation"),
                        ("nsadmin help options", "Options that most commands have: -n, --context, --output"),
                        ("nsadmin help environment", "Environment variables and configuration files"),
                        ("nsadmin help exit-codes", "Exit codes of commands and checks"),
                        ("nsadmin mqadminMap", "The nsadmin command for each mqadmin command"),
                    ),
                    OVERVIEW_WIDTH,
                ),
            ),
            (
                "First steps: nsadmin lab up starts a test cluster. To use your cluster, run",
                "nsadmin context set prod -n HOST:9876, and then nsadmin clusterList.",
            ),
        )
    )
