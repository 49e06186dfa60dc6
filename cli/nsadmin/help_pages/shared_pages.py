"""Pages about what all commands share: options, environment variables, exit codes."""

from collections.abc import Iterable, Mapping
from typing import Any

from nsadmin.command_line import registry
from nsadmin.command_line.shared_options import OPTION_SECTIONS, to_parameters
from nsadmin.console import exit_codes
from nsadmin.console.phrases import reading_width
from nsadmin.help_pages.text_layout import format_list, join_sections, wrap_paragraph

ENVIRONMENT_VARIABLES = (
    ("NAMESRV_ADDR", "Name servers if -n is missing. Without it: those of the context, else 127.0.0.1:9876."),
    ("NSADMIN_CONTEXT", "Context if --context is missing. Without it: the context of `context use`."),
    ("NSADMIN_CONFIG", "File of contexts. Default: nsadmin/config.yaml in ~/.config."),
    ("NSADMIN_OUTPUT", "Output format if --output is missing. Default: table."),
    ("NSADMIN_KUBE", "Kubernetes namespace to reach servers in, if --kube and --ssh are missing."),
    ("NSADMIN_SSH", "SSH host to reach servers through, if --kube and --ssh are missing."),
    ("NSADMIN_ACCESS_KEY", "Access key to sign requests with, if --credentials is missing."),
    ("NSADMIN_SECRET_KEY", "Secret key for NSADMIN_ACCESS_KEY."),
    ("NSADMIN_SECURITY_TOKEN", "Security token for NSADMIN_ACCESS_KEY, if your cluster needs one."),
    ("NSADMIN_KEY_PASSWORD", "Password of the private key of --tlsKey, if the context has none."),
    (
        "NSADMIN_TLS",
        "1 turns TLS on. NSADMIN_TLS_CA, _CERT, _KEY and _SERVER_NAME are like --tlsCa and so on.",
    ),
    ("NSADMIN_BUNDLE", "Support bundle to read instead of the servers, like --bundle."),
    ("NSADMIN_STATE", "Folder of drains and of the inventory. Default: nsadmin in ~/.local/state."),
    ("NSADMIN_AUDIT", "File of the audit log, or off. Default: nsadmin/audit.jsonl in ~/.local/state."),
    ("NSADMIN_ORIGIN", "Program that starts nsadmin for a client. The audit names it as origin."),
    ("NSADMIN_INVENTORY", "off: do not record which brokers to expect."),
    ("NSADMIN_LANG", "zh: advice about errors and nsadmin guide in Chinese. Default: the language of LANG."),
    ("XDG_CONFIG_HOME", "Replaces ~/.config."),
    ("XDG_STATE_HOME", "Replaces ~/.local/state."),
    ("XDG_CACHE_HOME", "Replaces ~/.cache; nsadmin caches answers of endpoints and TAB values there."),
    ("NO_COLOR", "Set to any value to get no colours."),
)

PRECEDENCE = (
    "Precedence of each setting: command line, context of --context, environment, current context, default. "
    "nsadmin where shows the effective settings and where they come from."
)


def options_text() -> str:
    width = reading_width()
    sections = [
        (f"{title}:", *format_list(_option_items(annotations), width))
        for title, annotations in OPTION_SECTIONS.items()
    ]
    return join_sections(
        (
            wrap_paragraph("Write these options before or after the command.", width),
            *sections,
            wrap_paragraph(PRECEDENCE, width),
        )
    )


def option_text(flag: str) -> str | None:
    """The part of the page of options about one flag; None if it is no shared option."""
    items = [
        item
        for annotations in OPTION_SECTIONS.values()
        for parameter, item in zip(to_parameters(annotations), _option_items(annotations), strict=True)
        if flag in parameter.flag_names
    ]
    if not items:
        return None
    return join_sections(
        (
            format_list(items, reading_width()),
            ("All options of every command: nsadmin help options",),
        )
    )


def _option_items(annotations: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for option in to_parameters(annotations):
        metavar_text = f" {option.metavar}" if option.metavar else ""
        yield ", ".join(option.flag_names) + metavar_text, option.help


def environment_text() -> str:
    width = reading_width()
    return join_sections(
        (
            ("Environment variables:", *format_list(ENVIRONMENT_VARIABLES, width)),
            wrap_paragraph(PRECEDENCE, width),
        )
    )


def exit_codes_text() -> str:
    width = reading_width()
    special_lines = format_list(
        (
            (_typed_name(command_name), "; ".join(f"{code:d} {meaning}" for code, meaning in code_meanings))
            for command_name, code_meanings in exit_codes.SPECIAL_CODE_MEANINGS.items()
        ),
        width,
    )
    return join_sections(
        (
            (
                "Exit codes of commands:",
                *_code_lines((*exit_codes.EXIT_CODE_MEANINGS, *_SIGNAL_CODES), width),
            ),
            ("Commands with separate codes (plan: with --exit-code):", *special_lines),
            (
                "Exit codes of nsadmin check, securityAudit and startMonitoring --once:",
                *_code_lines(exit_codes.PLUGIN_CODE_MEANINGS, width),
            ),
        )
    )


_SIGNAL_CODES = (
    (exit_codes.ExitCode.INTERRUPTED, "interrupted with Ctrl-C"),
    (141, "the reader of the output closed the pipe, for example head"),
)


def _typed_name(command_name: str) -> str:
    command_entry = registry.find_command(command_name)
    return command_name if command_entry is None else command_entry.typed_name


def _code_lines(code_meanings: Iterable[tuple[int, str]], width: int) -> list[str]:
    return format_list(((f"{code:d}", meaning) for code, meaning in code_meanings), width)
