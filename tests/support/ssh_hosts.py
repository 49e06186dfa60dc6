"""An SSH server for tests. It has no port: `ssh` starts it as its ProxyCommand."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")


class SshHost:
    """The host "jump" of a configuration of ssh.

    `variables` make the configuration that of the `ssh` of a program. `server_options` are lines of
    sshd_config. With `network`, a process, the server is in the network namespace of that process.
    """

    def __init__(self, folder: Path, server_options: str = "", network: int = 0) -> None:
        if SSHD is None or shutil.which("ssh") is None:
            pytest.skip("needs sshd (Debian: openssh-server)")
        if os.geteuid() == 0:
            # Its folder for the separation of privileges, which only a service of the system would make.
            Path("/run/sshd").mkdir(exist_ok=True)
        for key_name in ("user_key", "host_key"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key_name)], check=True
            )
        (folder / "sshd_config").write_text(
            f"HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\nStrictModes no\n"
            f"PasswordAuthentication no\nUsePAM no\nPidFile none\nLogLevel ERROR\n{server_options}\n"
        )
        enter_network = f"nsenter -t {network} -n " if network else ""
        self._config = folder / "ssh_config"
        self._config.write_text(
            f"Host jump\n  ProxyCommand {enter_network}{SSHD} -i -f {folder}/sshd_config\n"
            f"  IdentityFile {folder}/user_key\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {folder}/known_hosts\n  StrictHostKeyChecking accept-new\n"
            # Settings of operators that would disturb.
            f"  LocalForward 127.0.0.1:1 127.0.0.1:2\n  ControlPath {folder}/shared\n  LogLevel QUIET\n"
        )
        programs = folder / "programs"
        programs.mkdir()
        program = programs / "ssh"
        # ssh ignores HOME. A later -F replaces this one.
        program.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self._config} "$@"\n')
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}

    def processes(self) -> list[int]:
        """The processes of ssh and sshd that use this configuration and still run."""
        process_ids = []
        for process_folder in Path("/proc").glob("[0-9]*"):
            try:
                command = (process_folder / "cmdline").read_bytes()
            except OSError:
                continue
            if str(self._config.parent).encode() in command:
                process_ids.append(int(process_folder.name))
        return process_ids
