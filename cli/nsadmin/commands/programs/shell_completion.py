"""Owns completion, which writes the completion script of a shell, for installations with pip."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from nsadmin import exit_codes, output

if TYPE_CHECKING:
    from argparse import ArgumentParser

COMPLETION_FILES = {
    "bash": "nsadmin.bash",
    "zsh": "_nsadmin",
    "fish": "nsadmin.fish",
    "powershell": "nsadmin.ps1",
}


def completion(argv: list[str]) -> int:
    """Write the completion script of a shell, for its start-up file.

    bash, in ~/.bashrc: source <(nsadmin completion bash)

    zsh, in ~/.zshrc, after compinit: source <(nsadmin completion zsh)

    fish, in ~/.config/fish/config.fish: nsadmin completion fish | source

    PowerShell, in $PROFILE: nsadmin completion powershell | Out-String | Invoke-Expression

    TAB offers the topics, brokers, clusters and groups of the name servers of the line, the environment or
    the context. They are cached in nsadmin/complete in XDG_CACHE_HOME, else in ~/.cache, readable only by
    you. After a minute, nsadmin refreshes them in the background. TAB waits for a server at most 0.2 seconds.
    Values of settings and credentials are not cached.

    Examples:
        # The script of bash
        nsadmin completion bash
    """
    shell_name = flags().parse_args(argv).shell
    output.write_text(_completion_file(COMPLETION_FILES[shell_name]).read_text().rstrip("\n"))
    return exit_codes.ExitCode.DONE


def flags() -> ArgumentParser:
    """The command's argument parser."""
    from argparse import RawDescriptionHelpFormatter
    from textwrap import dedent

    from namesrv_core.flag_parser import FlagParser

    first_paragraph, _, other_paragraphs = (completion.__doc__ or "").partition("\n\n")
    argument_parser = FlagParser(
        "nsadmin completion", f"{first_paragraph}\n\n{dedent(other_paragraphs.partition('    Examples:')[0])}"
    )
    argument_parser.formatter_class = RawDescriptionHelpFormatter
    argument_parser.add_argument("shell", choices=COMPLETION_FILES, help="name of the shell")
    return argument_parser


def _completion_file(file_name: str) -> Path:
    """The path of a completion script: inside an installed package, or at the top of a checkout."""
    package_folder = Path(output.__file__).parents[1]
    packaged_file = package_folder / "completions" / file_name
    return packaged_file if packaged_file.exists() else package_folder.parents[1] / "completions" / file_name
