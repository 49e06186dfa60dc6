"""tui: shows the cluster live on the whole terminal; it is the only command that loads Textual."""

import gc
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nsadmin import contexts, settings
from nsadmin.client import AdminClient
from nsadmin.commands.declared import Option, Word
from nsadmin.commands.events import in_words
from nsadmin.commands.parameters import as_words
from nsadmin.diagnostics import UsageError
from nsadmin.session import Options, Session

if TYPE_CHECKING:
    from nsadmin.tui.past import Journals
    from nsadmin.tui.preferences import Preferences
    from nsadmin.tui.recording import Recorder
    from nsadmin.tui.replaying import Player
    from nsadmin.tui.world import World, Worlds

_SHORTEST, _LONGEST = 0.5, 3600.0


def tui(
    session: Session,
    screen: Annotated[
        str | None,
        Word(("--screen",), "SCREEN", "The screen to begin with; brokers if left out.", required=False),
    ],
    interval: Annotated[
        float | None,
        Option("--interval", metavar="SECONDS", help="From one look at a server to the next; 5 if left out."),
    ] = None,
    namespace: Annotated[
        list[str] | None,
        Option(
            "--namespace", metavar="NS", help="KV namespace to look at beside ORDER_TOPIC_CONFIG. Repeatable."
        ),
    ] = None,
    journal: Annotated[
        list[str] | None,
        Option(
            "--journal", metavar="DIR", help="Journal whose events are shown; else the context's. Repeatable."
        ),
    ] = None,
    read_only: Annotated[bool, Option("--read-only", help="Nothing can be changed from here.")] = False,
    record: Annotated[
        str | None, Option("--record", metavar="FILE", help="Keep all that is seen, to be played again.")
    ] = None,
    replay: Annotated[
        str | None,
        Option("--replay", metavar="PATH", help="Play such a file, or a folder with journals, instead."),
    ] = None,
    speed: Annotated[
        float | None,
        Option("--speed", metavar="N", help="Of a replay: so many seconds in one; 1 if left out."),
    ] = None,
) -> Iterator[Any]:
    """Show the cluster on the whole terminal, live: what is up, what changed, which name server disagrees.

    Numbers choose a screen, / filters, Enter goes deeper and Esc back; ? shows every key of a screen.
    Each name server and each broker is asked again every interval, spread over it; who does not answer is
    marked with the time since when, and holds up nobody else. What changes something is shown before it is
    done, and a word has to be typed for it; it is a command of nsadmin, and noted down as one. Theme,
    interval, keys and themes of your own are read from tui.yaml beside the file of contexts.

    A recording has all that was seen, without what looks like a secret; [ and ] go back and on in a replay.
    A folder with journals can be played, too: it has no figures of brokers, but every registration.

    Examples:
        # The home screen: all brokers
        nsadmin tui
        # Look every second, change nothing, and keep what is seen
        nsadmin tui --interval 1 --read-only --record incident.zst
        # The same again, a minute in a second
        nsadmin tui --replay incident.zst --speed 60
    """
    _check_terminal()
    from nsadmin.tui import app
    from nsadmin.tui.views import root

    if screen is not None and screen not in root.NAMES:
        raise UsageError(f"tui: no screen {screen!r}; there are: {', '.join(root.NAMES)}")
    preferences = _preferences()
    shown = _interval(preferences.interval if interval is None else interval)
    if replay is None:
        if speed is not None:
            raise UsageError("tui: --speed is of a replay: name a recording or a journal with --replay")
        worlds, player = _worlds(session, namespace or [], journal or [], read_only), None
    else:
        if record is not None:
            raise UsageError("tui: --record and --replay exclude each other: leave one out")
        worlds, player = _replayed(replay, 1.0 if speed is None else speed)
    tui = app.Tui(
        worlds,
        interval=shown,
        home=screen or root.NAMES[0],
        preferences=preferences,
        player=player,
        recorder=None if record is None else _recorder(record, worlds.first),
    )
    # Loaded modules stay. Without this, each garbage collection scanned them for 60 ms during typing.
    gc.freeze()
    tui.run()
    return iter(())


def _check_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("tui: it takes a terminal; clusterList --watch 5 writes to a file or a pipe")


def _recorder(file: str, world: "World") -> "Recorder":
    from nsadmin.tui.recording import Recorder

    try:
        return Recorder(Path(file).expanduser(), world.label, world.addrs)
    except OSError as error:
        raise UsageError(f"tui: --record {file}: {error.strerror}") from None


def _replayed(place: str, speed: float) -> "tuple[Worlds, Player]":
    """Open a recording or a folder of journals for replay, in a read-only world."""
    from nsadmin.tui import recording
    from nsadmin.tui.replaying import Player
    from nsadmin.tui.world import World, Worlds

    if not 0.1 <= speed <= 3600:
        raise UsageError(f"tui: --speed {speed:g} cannot be: give 0.1 to 3600")
    path = Path(place).expanduser()
    tape: Any
    try:
        if path.is_dir():
            addrs, tape = _of_journals(path)
            label = path.name
        else:
            tape = recording.Recording(path)
            addrs, label = tape.head.addrs, tape.head.label
    except recording.BadRecording as error:
        raise UsageError(f"tui: --replay {place}: {error}") from None
    except OSError as error:
        raise UsageError(f"tui: --replay {place}: {error.strerror}") from None
    return Worlds(World(label, tuple(addrs), _nobody, read_only=True)), Player(tape, speed)


def _of_journals(folder: Path) -> "tuple[Sequence[str], Journals]":
    from namesrv_core.storage.segments import BadSegment
    from nsadmin.tui import past
    from nsadmin.tui.recording import BadRecording

    try:
        found = past.find(folder)
        if not found:
            raise BadRecording("there is no journal in it")
        return [one.server for one in found], past.Journals(found, in_words)
    except BadSegment as error:
        raise BadRecording(str(error)) from None


def _nobody(addrs: Sequence[str], timeout: float | None, observer: object) -> AdminClient:
    raise AssertionError("what is replayed asks nobody")


def _preferences() -> "Preferences":
    from nsadmin.tui import keys, preferences

    try:
        return preferences.load(preferences.path(contexts.path()), [*keys.names(), *keys.OF_ROWS])
    except preferences.BadPreferences as error:
        raise UsageError(f"tui: {error}") from None


def _interval(seconds: float | None) -> float:
    if seconds is None:
        return 5.0
    if not _SHORTEST <= seconds <= _LONGEST:
        raise UsageError(f"tui: --interval {seconds:g} cannot be: give {_SHORTEST:g} to {_LONGEST:g} seconds")
    return seconds


def _worlds(
    session: Session, namespaces: Sequence[str], journals: Sequence[str], read_only: bool
) -> "Worlds":
    """The world of this command line, and those of all contexts, which the operator can switch to."""
    from nsadmin.tui.world import Worlds

    addrs = session.onlooker().addresses.addrs
    label = session.options.context or addrs[0]
    first = _world(session.options, label, addrs, as_words(session.said), namespaces, journals, read_only)

    def enter(name: str) -> "World":
        options = settings.resolve({**dict.fromkeys(session.said), "context": name})
        found = AdminClient(options.namesrv_addr).addresses.addrs
        # Journals on the command line belong to its own cluster, so another context does not get them.
        return _world(options, name, found, ["--context", name], namespaces, (), read_only)

    return Worlds(first, lambda: sorted(contexts.load(contexts.path()).by_name), enter)


def _world(
    options: Options,
    label: str,
    addrs: Sequence[str],
    words: Sequence[str],
    namespaces: Sequence[str],
    journals: Sequence[str],
    read_only: bool,
) -> "World":
    from nsadmin.tui.world import World

    def connect(wanted: Sequence[str], timeout: float | None, observer: Any) -> AdminClient:
        access = (
            options.access
            if timeout is None
            else options.access._replace(timeout=min(timeout, options.access.timeout), retries=0)
        )
        return AdminClient(list(wanted), access=access, observer=observer, read_only=True)

    return World(
        label, addrs, connect, tuple(words), options.color, options.read_only or read_only,
        tuple(journals) or options.journals,
        tuple(dict.fromkeys(("ORDER_TOPIC_CONFIG", *namespaces))),
        in_words,
    )  # fmt: skip
