"""Installation: the RocketMQ servers that a client reaches, and which saved runs are theirs.

Rule: clusters and brokers of two installations may have equal names. A run belongs to an installation if they
have a name server or a broker in common, and are reached through the same tunnel. So it still does after some
servers were replaced. A local name server counts only together with a broker.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from nsadmin.client import AdminClient
from nsadmin.client.advised_command import own_connection, quote_command
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget
from nsadmin.operations.run_folder import InvalidStateError, RunFolder, SavedState
from nsadmin.operations.state_folder import (
    INSTALLATIONS_FOLDER,
    find_state_home,
    list_homes,
    name_folder,
)


class OwnedState(SavedState, frozen=True, kw_only=True):
    """The state of a run, and the installation that it changes, as it was when the run began.

    Attributes:
        brokers: The addresses of all brokers.
        tunnel: The tunnel that all connections led through, "" for none; None in files of earlier releases.
        connection: The options with which a command reaches the servers.
    """

    later_fields: ClassVar[tuple[str, ...]] = ("brokers", "tunnel", "connection")

    brokers: tuple[str, ...] = ()
    tunnel: str | None = None
    connection: tuple[str, ...] = ()

    if TYPE_CHECKING:
        # A field of each kind of run, at its own place.
        @property
        def name_servers(self) -> tuple[str, ...]: ...

    @property
    def known_brokers(self) -> tuple[str, ...]:
        """Brokers of the installation; not all of them in files of earlier releases."""
        return self.brokers

    @property
    def owner(self) -> str:
        """The installation, as messages name it."""
        return ";".join(self.name_servers or self.known_brokers) + (
            f" through {self.tunnel}" if self.tunnel else ""
        )

    def advise(self, *command_words: str) -> str:
        """Return a command for this installation, also if the running one is for another."""
        addr_words = ("-n", ";".join(self.name_servers)) if self.name_servers else ()
        return quote_command(*command_words, connection=self.connection or addr_words)


class OwnedRun(Protocol):
    """A run as loaded from its folder."""

    @property
    def state(self) -> OwnedState: ...


_LOCAL_ADDR = re.compile(r"127\.|localhost:|\[::1\]")
S = TypeVar("S", bound=OwnedState)
R = TypeVar("R", bound=OwnedRun)
F = TypeVar("F", bound=RunFolder)  # type: ignore[type-arg]


class Installation:
    """The servers that a client reaches."""

    def __init__(self, admin: AdminClient, state_home: Path | None = None) -> None:
        self._admin = admin
        self.state_home = find_state_home() if state_home is None else state_home
        self._known_brokers: tuple[str, ...] = ()

    @property
    def _addrs(self) -> tuple[str, ...]:
        return self._admin.addresses.addrs

    @cached_property
    def tunnel(self) -> str | None:
        """The tunnel that all connections lead through, "" for none; None if that is unknown."""
        if self._admin.is_static:
            # Whoever made the bundle reached the servers.
            return None
        target = self._admin.tunnel
        if isinstance(target, KubeTarget) and target.context is None:
            # The current context of kubectl may be another one next time.
            from nsadmin.client.connection.tunnels.kubectl_program import KubectlProgram
            from nsadmin.client.connection.tunnels.tunnel import TunnelError

            with suppress(TunnelError):
                current_context = KubectlProgram(target).run("config", "current-context").decode().strip()
                target = target._replace(context=current_context)
        return "" if target is None else str(target)

    @property
    def _brokers(self) -> tuple[str, ...]:
        if not self._known_brokers:
            results = self._admin.clusters.get_info_each()
            groups = [group for _, info, _ in results for group in (info.broker_groups if info else ())]
            addrs = {addr for group in groups for addr in group.broker_addrs.values()}
            self._known_brokers = tuple(sorted(addrs))
        return self._known_brokers

    @property
    def home(self) -> Path:
        """The folder for what is saved of this installation from now on."""
        name = min(self._addrs) + (f" through {self.tunnel}" if self.tunnel else "")
        return self.state_home / INSTALLATIONS_FOLDER / name_folder(name)

    def owns(self, state: OwnedState) -> bool:
        """Whether a run changes this installation. It asks name servers if they do not decide it."""
        if None not in (state.tunnel, self.tunnel) and state.tunnel != self.tunnel:
            return False
        common = set(self._addrs).intersection(state.name_servers)
        # A local address may be a port that is forwarded: to one installation today, and to another tomorrow.
        if not state.known_brokers or not all(map(_LOCAL_ADDR.match, common)):
            return bool(common) or not (state.name_servers or state.known_brokers)
        brokers = self._brokers
        return not set(brokers).isdisjoint(state.known_brokers) if brokers else bool(common)

    def keep_own(self, runs: Iterable[R | InvalidStateError]) -> Iterator[R | InvalidStateError]:
        """Leave out the runs of other installations; whose an invalid file is, is unknown."""
        return (run for run in runs if isinstance(run, InvalidStateError) or self.owns(run.state))

    def sign(self, state: S) -> S:
        """Return the state of a new run with this installation."""
        return state._replace(
            name_servers=self._addrs,
            brokers=self._brokers,
            tunnel=self.tunnel,
            connection=tuple(own_connection.get()()) or ("-n", ";".join(self._addrs), *self._tunnel_words),
        )

    @property
    def _tunnel_words(self) -> tuple[str, ...]:
        kind = "--ssh" if isinstance(self._admin.tunnel, SshTarget) else "--kube"
        return (kind, (self.tunnel or "").partition(" ")[2]) if self.tunnel else ()

    def find_run(self, open_run: Callable[[Path], F]) -> F:
        """Return the folder of a saved run of this installation, or that of a new one.

        `open_run` opens the folder in one of the homes. Raises InvalidStateError.
        """
        for home in (self.home, *list_homes(self.state_home)):
            folder = open_run(home)
            state = folder.state.load()
            if state is not None and self.owns(state):
                break
        else:
            folder = open_run(self.home)
        folder.sign = self.sign
        return folder
