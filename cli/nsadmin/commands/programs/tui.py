"""Owns tui, which shows the cluster live on the whole terminal. Only this command loads Textual."""

import gc
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from nsadmin.client import AdminClient
from nsadmin.client.connection.addresses import NameServerList
from nsadmin.command_line import application, registry
from nsadmin.command_line.declarations import Flags, command, command_parameters
from nsadmin.command_line.shared_options import connection_words
from nsadmin.command_line.typer_commands import HelpRequested, parse_command_line
from nsadmin.commands.history.event_descriptions import describe_event
from nsadmin.console import contexts, settings
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session, SharedOptions
from nsadmin.operations.inventory.keeper import InventoryKeeper, find_inventory_key

if TYPE_CHECKING:
    from nsadmin.tui.context import AvailableContexts, ClusterContext
    from nsadmin.tui.custom_commands.command_file import CustomCommands
    from nsadmin.tui.messages.message_query import MessageTools
    from nsadmin.tui.polling.journal_source import JournalTape
    from nsadmin.tui.preferences import Preferences
    from nsadmin.tui.recording.recording_file import PollRecorder
    from nsadmin.tui.recording.replay import ReplayPlayer
    from nsadmin.tui.view_settings.settings_file import SettingsFile

_COMPLETION_PATIENCE_SECONDS = 2.0
"""How long a completion waits for servers. It runs in a thread, so the screen does not wait."""
_MIN_INTERVAL_SECONDS, _MAX_INTERVAL_SECONDS = 0.5, 3600.0


@command()
def tui(
    session: Session,
    screen_name: Annotated[
        str | None, Argument(metavar="SCREEN", help="The first screen. Default: home."), Flags("--screen")
    ],
    interval_option: Annotated[
        float | None,
        Option("--interval", metavar="SECONDS", help="Time between two polls of a server. Default: 5."),
    ] = None,
    kv_namespaces: Annotated[
        list[str] | None,
        Option(
            "-s",
            "--namespace",
            metavar="NS",
            help="KV namespace to show in addition to ORDER_TOPIC_CONFIG. Repeatable.",
        ),
    ] = None,
    journal_folders: Annotated[
        list[str] | None,
        Option(
            "--journal",
            metavar="DIR",
            help="Journal to show events from. Default: the context's. Repeatable.",
        ),
    ] = None,
    read_only: Annotated[bool, Option("--read-only", "--readOnly", help="Refuse all changes.")] = False,
    record_file: Annotated[
        str | None, Option("--record", metavar="FILE", help="Record the session to this file, for --replay.")
    ] = None,
    replay_path: Annotated[
        str | None,
        Option("--replay", metavar="PATH", help="Replay a recording, or a folder with journals."),
    ] = None,
    replay_speed: Annotated[
        float | None,
        Option("--speed", metavar="N", help="Replay N seconds per second. Default: 1."),
    ] = None,
) -> Iterator[Any]:
    """Show the cluster live on the whole terminal: problems, brokers, changes, and differing name servers.

    Press a number to select a screen, / to filter, Enter to open details, Esc to go back, and ? to show all
    keys of a screen.

    nsadmin polls each name server and each broker once per interval. If a server does not answer, the screen
    marks it with the time of its last answer. Before a change, the screen shows the command of nsadmin that
    makes the change, and asks you to type a word. The audit records each change.

    The file tui.yaml, next to the file of contexts, sets theme, interval and keys. The file tui-commands.yaml
    sets aliases, hotkeys and plugins.

    A recording contains everything that the screen shows, without secrets. In a replay, press [ to move
    backward and ] to move forward. You can also replay a folder with journals. Journals contain every
    registration, but no figures of brokers.

    Examples:
        # The home screen: the problems of the cluster
        nsadmin tui
        # Poll every second, refuse changes, and record
        nsadmin tui --interval 1 --read-only --record incident.zst
        # Replay it, a minute per second
        nsadmin tui --replay incident.zst --speed 60
    """
    _require_terminal()
    from nsadmin.tui import app
    from nsadmin.tui.end_signals import end_on_signals
    from nsadmin.tui.navigation import root_views

    if screen_name is not None and screen_name not in root_views.SCREEN_NAMES:
        raise UsageError(f'unknown screen "{screen_name}": use {", ".join(root_views.SCREEN_NAMES)}')
    preferences = _load_preferences()
    interval_seconds = _validate_interval(
        preferences.interval if interval_option is None else interval_option
    )
    if replay_path is None:
        if replay_speed is not None:
            raise UsageError("--speed needs --replay: name a recording or a journal")
        cluster_worlds, player = (
            _build_worlds(session, kv_namespaces or [], journal_folders or [], read_only),
            None,
        )
    else:
        if record_file is not None:
            raise UsageError("--record and --replay exclude each other: pass only one of them")
        cluster_worlds, player = _open_replay(replay_path, 1.0 if replay_speed is None else replay_speed)
    tui_app = app.Tui(
        cluster_worlds,
        interval=interval_seconds,
        home=screen_name or root_views.SCREEN_NAMES[0],
        preferences=preferences,
        player=player,
        recorder=None if record_file is None else _open_recorder(record_file, cluster_worlds.first_context),
        custom_commands=_load_custom_commands(preferences),
        settings_file=None if player is not None else _find_settings_file(),
    )
    # Loaded modules stay. Without this, each garbage collection scanned them for 60 ms during typing.
    gc.freeze()
    with end_on_signals(lambda exit_code: tui_app.exit(return_code=exit_code)):
        tui_app.run()
    if tui_app.return_code:
        # A signal or a fault ended the app, after it restored the terminal.
        sys.exit(tui_app.return_code)
    return iter(())


def _fits_screen(candidate: tuple[str, str]) -> bool:
    """Whether a command needs no terminal of its own."""
    entry = registry.find_command(candidate[0])
    return entry is None or entry.kind not in ("screen", "batch", "program")


def _find_change_target(command_words: Sequence[str]) -> str | None:
    """The key that a command line changes, else its first argument: a broker, a topic, a group, a file."""
    entry, argument_words = registry.take_command(command_words)
    if entry is None:
        return None
    try:
        argument_values = parse_command_line(entry, argument_words).arguments
    except (UsageError, HelpRequested):
        # The preview reports the mistake.
        return None
    named_values = {
        parameter.metavar or "": argument_values[parameter.name]
        for parameter in reversed(command_parameters(entry.load_function()))
        if parameter.position is not None and argument_values[parameter.name]
    }
    return named_values.get("KEY") or next(reversed(named_values.values()), None)


def _load_message_tools() -> "MessageTools":
    from nsadmin.commands.programs.message_tools import create_message_tools

    return create_message_tools()


def _require_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("tui needs a terminal: use nsadmin clusterList --watch 5 for a file or a pipe")
    if os.environ.get("TERM", "dumb") == "dumb":
        raise UsageError("tui needs a terminal with a cursor: set TERM, for example to xterm-256color")
    if (sys.stdout.encoding or "").lower().replace("-", "") != "utf8":
        raise UsageError(f"tui needs UTF-8, and the encoding is {sys.stdout.encoding}: set LC_ALL=C.UTF-8")


def _open_recorder(record_file: str, cluster_context: "ClusterContext") -> "PollRecorder":
    from nsadmin.tui.recording.recording_file import PollRecorder

    try:
        return PollRecorder(Path(record_file).expanduser(), cluster_context.label, cluster_context.addrs)
    except OSError as error:
        raise UsageError(f"cannot write {record_file} (--record): {error.strerror}") from None


def _open_replay(replay_path: str, replay_speed: float) -> "tuple[AvailableContexts, ReplayPlayer]":
    """Open a recording or a folder of journals for replay, with a read-only context."""
    from nsadmin.tui.context import AvailableContexts, ClusterContext
    from nsadmin.tui.recording import recording_file
    from nsadmin.tui.recording.replay import ReplayPlayer

    if not 0.1 <= replay_speed <= 3600:
        raise UsageError(f'invalid value "{replay_speed:g}" for --speed: expected 0.1 to 3600')
    file_path = Path(replay_path).expanduser()
    tape: Any
    try:
        if file_path.is_dir():
            namesrv_addrs, tape = _open_journals(file_path)
            cluster_label = file_path.name
        else:
            tape = recording_file.Recording(file_path)
            namesrv_addrs, cluster_label = tape.head.addrs, tape.head.label
    except recording_file.InvalidRecordingError as error:
        raise UsageError(f"cannot replay {replay_path}: {error}") from None
    except OSError as error:
        raise UsageError(f"cannot replay {replay_path}: {error.strerror}") from None
    return AvailableContexts(
        ClusterContext(cluster_label, tuple(namesrv_addrs), _refuse_connection, read_only=True)
    ), ReplayPlayer(tape, replay_speed)


def _open_journals(folder: Path) -> "tuple[Sequence[str], JournalTape]":
    from namesrv_core.storage.journal.segments import InvalidSegmentError
    from nsadmin.tui.polling import journal_source
    from nsadmin.tui.recording.recording_file import InvalidRecordingError

    try:
        found_journals = journal_source.find_journals(folder)
        if not found_journals:
            raise InvalidRecordingError("it contains no journal")
        return [found_journal.server_addr for found_journal in found_journals], journal_source.JournalTape(
            found_journals, describe_event
        )
    except InvalidSegmentError as error:
        raise InvalidRecordingError(str(error)) from None


def _refuse_connection(
    server_addrs: Sequence[str], timeout_seconds: float | None, observer: object
) -> AdminClient:
    raise AssertionError("a replay asks no server")


def _beside_contexts(file_name: str) -> str:
    return os.path.join(os.path.dirname(contexts.contexts_path()), file_name)


def _load_preferences() -> "Preferences":
    from nsadmin.tui import preferences
    from nsadmin.tui.actions import key_bindings

    try:
        return preferences.load_preferences(
            _beside_contexts("tui.yaml"),
            key_bindings.list_binding_ids(),
        )
    except preferences.InvalidPreferencesError as error:
        raise UsageError(f"{error}") from None


def _find_settings_file() -> "SettingsFile":
    from nsadmin.operations.state_folder import find_state_home
    from nsadmin.tui.view_settings.settings_file import SettingsFile

    return SettingsFile(find_state_home() / "tui-views.json")


def _load_custom_commands(user_preferences: "Preferences") -> "CustomCommands":
    """The aliases, hotkeys and plugins. The screen reports mistakes in their file, and starts."""
    from nsadmin.tui.actions import key_bindings
    from nsadmin.tui.custom_commands import command_file
    from nsadmin.tui.navigation import root_views

    return command_file.load_custom_commands(
        _beside_contexts("tui-commands.yaml"),
        root_views.SCREEN_NAMES,
        key_bindings.list_taken_keys(user_preferences.keys),
    )


def _validate_interval(interval_seconds: float | None) -> float:
    if interval_seconds is None:
        return 5.0
    if not _MIN_INTERVAL_SECONDS <= interval_seconds <= _MAX_INTERVAL_SECONDS:
        raise UsageError(
            f'invalid value "{interval_seconds:g}" for --interval: expected '
            f"{_MIN_INTERVAL_SECONDS:g} to {_MAX_INTERVAL_SECONDS:g} seconds"
        )
    return interval_seconds


def _build_worlds(
    session: Session, kv_namespaces: Sequence[str], journal_folders: Sequence[str], read_only: bool
) -> "AvailableContexts":
    """The context of this command line and all saved contexts, which the operator can switch to."""
    from nsadmin.tui.context import AvailableContexts

    session.open_tunnel()
    name_servers = session.open_background_client().addresses
    bundle = session.options.bundle
    cluster_label = (
        session.options.context or name_servers.addrs[0]
        if bundle is None
        else f"bundle {bundle.path.name} of {format_utc(bundle.manifest.created_ms)}"
    )
    first_world = _build_world(
        session.options,
        cluster_label,
        name_servers,
        connection_words(session.shared_values),
        kv_namespaces,
        journal_folders,
        read_only or bundle is not None,
    )

    def enter_context(context_name: str) -> "ClusterContext":
        is_insecure = session.shared_values.get("insecure", False)
        context_options = settings.resolve_options(
            {
                **dict.fromkeys(session.shared_values),
                "context": context_name,
                "allows_unverified": is_insecure,
            }
        )
        context_words = ["--context", context_name]
        if is_insecure and context_options.access.tls and not context_options.access.tls.verify:
            context_words.append("--insecure")
        name_servers = AdminClient(context_options.namesrv_addr).addresses
        # Journals on the command line belong to its own cluster, so another context does not get them.
        return _build_world(
            context_options,
            context_name,
            name_servers,
            context_words,
            kv_namespaces,
            (),
            read_only,
        )

    return AvailableContexts(
        first_world,
        lambda: sorted(contexts.load_contexts(contexts.contexts_path()).contexts_by_name),
        enter_context,
    )


def _build_world(
    session_options: SharedOptions,
    cluster_label: str,
    name_servers: NameServerList,
    command_words: Sequence[str],
    kv_namespaces: Sequence[str],
    journal_folders: Sequence[str],
    read_only: bool,
) -> "ClusterContext":
    from nsadmin.tui.context import ClusterContext

    def connect_client(
        wanted_addrs: Sequence[str], timeout_seconds: float | None, observer: Any
    ) -> AdminClient:
        access = (
            session_options.access
            if timeout_seconds is None
            else session_options.access._replace(
                timeout=min(timeout_seconds, session_options.access.timeout), retries=0
            )
        )
        return AdminClient(list(wanted_addrs), access=access, observer=observer, read_only=True)

    def complete_line(words_before: Sequence[str], typed_word: str) -> Sequence[tuple[str, str]]:
        candidates = application.complete_line(
            [*command_words, *words_before], typed_word, time.time() + _COMPLETION_PATIENCE_SECONDS
        )
        return candidates if words_before else [*filter(_fits_screen, candidates)]

    return ClusterContext(
        cluster_label, name_servers.addrs, connect_client, tuple(command_words), session_options.color,
        session_options.read_only or read_only,
        tuple(journal_folders) or session_options.journal_folders,
        tuple(dict.fromkeys(("ORDER_TOPIC_CONFIG", *kv_namespaces))),
        describe_event, InventoryKeeper(lambda: find_inventory_key(name_servers, session_options)),
        session_options.access.tls, _find_change_target, complete_line, _load_message_tools,
    )  # fmt: skip
