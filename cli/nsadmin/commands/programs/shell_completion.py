"""Owns completion, which writes the completion script of a shell, for installations with pip."""

from pathlib import Path
from typing import Annotated

from typer import Argument

import nsadmin
from nsadmin.command_line.argument_values import parse_choice
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console import output

_SCRIPT_FILES = {
    "bash": "nsadmin.bash",
    "zsh": "_nsadmin",
    "fish": "nsadmin.fish",
    "powershell": "nsadmin.ps1",
}


@command()
def completion(
    shell: Annotated[
        str, Argument(metavar="bash|zsh|fish|powershell", help="Name of the shell."), Flags("--shell")
    ],
) -> int:
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
    shell_name = parse_choice("SHELL", shell, tuple(_SCRIPT_FILES)) or ""
    output.write_text(_find_script(_SCRIPT_FILES[shell_name]).read_text().rstrip("\n"))
    return 0


def _find_script(file_name: str) -> Path:
    """The path of a completion script: inside an installed package, or at the top of a checkout."""
    package_folder = Path(nsadmin.__file__).parent
    packaged_file = package_folder / "completions" / file_name
    return packaged_file if packaged_file.exists() else package_folder.parents[1] / "completions" / file_name
