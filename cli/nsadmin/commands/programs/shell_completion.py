"""completion: writes the completion script of a shell, for installations with pip."""

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
    """Write what a shell needs to complete command lines, for its start-up file.

    bash, in ~/.bashrc: source <(nsadmin completion bash)

    zsh, in ~/.zshrc, behind compinit: source <(nsadmin completion zsh)

    fish, in ~/.config/fish/config.fish: nsadmin completion fish | source

    PowerShell, in $PROFILE: nsadmin completion powershell | Out-String | Invoke-Expression

    Topics, brokers, clusters, groups and so on are offered as the name servers know them that the line, the
    environment or the context names. They are kept in the cache (nsadmin/complete in XDG_CACHE_HOME, else in
    ~/.cache), readable for you alone, and after a minute asked anew in the background: no TAB waits for a
    server longer than a fifth of a second. Values of settings and what credentials say are not kept.

    Examples:
        # What bash needs
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
    argument_parser.add_argument("shell", choices=COMPLETION_FILES, help="the shell")
    return argument_parser


def _completion_file(file_name: str) -> Path:
    """The path of a completion script: inside an installed package, or at the top of a checkout."""
    package_folder = Path(output.__file__).parents[1]
    packaged_file = package_folder / "completions" / file_name
    return packaged_file if packaged_file.exists() else package_folder.parents[1] / "completions" / file_name
