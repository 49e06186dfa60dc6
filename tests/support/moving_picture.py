"""Draws docs/images/nsadmin.svg, the moving picture of the README: `python -m tests.support.moving_picture`.

An operator drains a broker of a lab in a terminal of tmux, and then looks at it in `nsadmin tui`. The picture
shows the recorded screens, the waits of the drain faster than they were.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from threading import Event, Thread
from typing import NamedTuple

from rich.ansi import AnsiDecoder
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme

from tests.support.documented_lab import LAB_UP
from tests.support.name_servers import ROOT
from tests.support.tmux import Tmux

PICTURE = ROOT / "docs" / "images" / "nsadmin.svg"
COLUMNS, ROWS = 112, 28
CHAR_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN, TITLE_HEIGHT = 7.2, 16, 12, 12, 26
SHORTEST_SECONDS, LAST_SECONDS = 0.08, 2.5
BACKGROUND, FOREGROUND = "#0d1117", "#d0d7de"
THEME = TerminalTheme(
    (13, 17, 23),
    (208, 215, 222),
    [(72, 79, 88), (255, 123, 114), (63, 185, 80), (210, 153, 34), (88, 166, 255), (188, 140, 255),
     (57, 197, 207), (177, 186, 196)],
    [(110, 118, 129), (255, 161, 152), (86, 211, 100), (227, 179, 65), (121, 192, 255), (210, 168, 255),
     (86, 212, 221), (255, 255, 255)],
)  # fmt: skip


class Frame(NamedTuple):
    """A screen with its colours, as ANSI text, and how long it is shown."""

    screen: str
    seconds: float


class Camera:
    """Records the screen whenever it changes; `speed` says how much faster the picture is."""

    def __init__(self, terminal: Tmux) -> None:
        self.speed = 1.0
        self.frames: list[Frame] = []
        self._terminal, self._end = terminal, Event()
        self._thread = Thread(target=self._record)

    def __enter__(self) -> "Camera":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def _record(self) -> None:
        last, since = self._look(), time.monotonic()
        while not self._end.wait(0.04):
            screen, now = self._look(), time.monotonic()
            if screen != last:
                self.frames.append(Frame(last, (now - since) / self.speed))
                last, since = screen, now
        self.frames.append(Frame(last, LAST_SECONDS))

    def _look(self) -> str:
        return self._terminal.run_tmux("capture-pane", "-e", "-N", "-p")


def record(folder: Path) -> list[Frame]:
    os.environ |= {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLORTERM": "truecolor",
    }
    environment = {**os.environ, "NSADMIN_CONFIG": str(folder / "config.yaml")}
    lab = subprocess.Popen(LAB_UP.split(), cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert lab.stdout is not None
        next(line for line in lab.stdout if line.startswith("# Ctrl-C"))
        subprocess.run(["nsadmin", "context", "use", "lab"], env=environment, check=True)
        prompt = folder / "prompt"
        prompt.write_text("PS1='$ '\n")
        with Tmux(folder, ["bash", "--rcfile", str(prompt)], size=(COLUMNS, ROWS)) as terminal:
            terminal.run_tmux("set-option", "status", "off")
            terminal.until("$")
            with Camera(terminal) as camera:
                act(terminal, camera)
            return camera.frames
    finally:
        lab.terminate()
        lab.wait()


def act(terminal: Tmux, camera: Camera) -> None:
    """What the operator does; only waits for servers are shown faster."""
    time.sleep(0.6)
    type_line(terminal, "nsadmin drain broker-b-0 --yes")
    terminal.until("messages per minute")
    time.sleep(2)
    camera.speed = 16
    terminal.until("[wait]")
    terminal.until("safe to stop")
    camera.speed = 1
    time.sleep(2)
    type_line(terminal, "nsadmin tui")
    camera.speed = 6
    terminal.until("0 Home (", without="the checks are running")
    for keys, shown in (("1", "broker-b-0"), ("Down Down Down", ""), ("3", "analytics"), ("Enter", "queues")):
        camera.speed = 1
        time.sleep(1.8)
        camera.speed = 6
        terminal.keys(*keys.split())
        terminal.until(shown)
    camera.speed = 1
    time.sleep(1)


def type_line(terminal: Tmux, line: str) -> None:
    for letter in line:
        terminal.text(letter)
        time.sleep(0.04)
    terminal.keys("Enter")


def merge_short(frames: Iterable[Frame]) -> list[Frame]:
    """Leave out screens that are replaced at once."""
    merged: list[Frame] = []
    rest = 0.0
    for screen, seconds in frames:
        rest += seconds
        if rest >= SHORTEST_SECONDS:
            merged.append(Frame(screen, rest))
            rest = 0.0
    return merged


class Film:
    """Equal lines and equal styles are in the picture once."""

    def __init__(self) -> None:
        self._classes: dict[str, str] = {}
        self._lines: dict[str, str] = {"": ""}
        self._decoder, self._console = AnsiDecoder(), Console(width=COLUMNS, color_system="truecolor")

    def draw(self, frames: Sequence[Frame]) -> str:
        height = ROWS * LINE_HEIGHT
        total = sum(frame.seconds for frame in frames)
        uses, steps, at = [], [], 0.0
        for number, frame in enumerate(frames):
            steps.append(f"{at / total:.3%}{{transform:translateY({-number * height}px)}}")
            at += frame.seconds
            for row, line in enumerate(self._read_lines(frame.screen)):
                if line:
                    uses.append(f'<use href="#{line}" y="{number * height + row * LINE_HEIGHT}"/>')
        width = COLUMNS * CHAR_WIDTH
        outer_width, outer_height = width + 2 * MARGIN, height + TITLE_HEIGHT + 2 * MARGIN
        dots = "".join(
            f'<circle cx="{18 + 18 * index}" cy="17" r="5.5" fill="{color}"/>'
            for index, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {outer_width:g} {outer_height:g}">',
                "<title>nsadmin drains a broker, and shows it in its terminal UI</title>",
                "<style>",
                f"text{{font:{FONT_SIZE}px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
                f"white-space:pre;fill:{FOREGROUND}}}",
                *(f".{name}{{{rules}}}" for rules, name in self._classes.items()),
                f"#film{{animation:film {total:.2f}s step-end infinite}}",
                f"@keyframes film{{{''.join(steps)}}}",
                f"@media (prefers-reduced-motion:reduce)"
                f"{{#film{{animation-play-state:paused;animation-delay:-{total - 1:.2f}s}}}}",
                "</style>",
                f'<rect width="{outer_width:g}" height="{outer_height:g}" rx="8" fill="{BACKGROUND}"/>',
                dots,
                "<defs>",
                *(f'<g id="{name}">{marks}</g>' for marks, name in self._lines.items() if name),
                "</defs>",
                f'<svg x="{MARGIN}" y="{TITLE_HEIGHT + MARGIN}" width="{width:g}" height="{height}">'
                f'<g id="film">{"".join(uses)}</g></svg>',
                "</svg>",
                "",
            ]
        )

    def _read_lines(self, screen: str) -> Iterator[str]:
        """The names of the lines of a screen."""
        for line in self._decoder.decode(screen):
            marks = "".join(self._draw_runs(line.render(self._console)))
            yield self._lines.setdefault(marks, f"l{len(self._lines)}")

    def _draw_runs(self, runs: Iterable[tuple[str, Style | None, object]]) -> Iterator[str]:
        column = 0
        for text, style, _ in runs:
            begin, length = column, len(text)
            column += length
            foreground, background, weight = read_colors(style or Style())
            x, width = f"{begin * CHAR_WIDTH:g}", f"{length * CHAR_WIDTH:g}"
            if background:
                color = self._name_class(f"fill:{background}")
                yield f'<rect x="{x}" width="{width}" height="{LINE_HEIGHT}" class="{color}"/>'
            bare = text.rstrip()
            if bare.strip():
                indent = len(bare) - len(bare.lstrip())
                bare = bare.lstrip()
                x, width = f"{(begin + indent) * CHAR_WIDTH:g}", f"{len(bare) * CHAR_WIDTH:g}"
                rules = f"fill:{foreground}" * bool(foreground) + ";font-weight:bold" * weight
                name = f' class="{self._name_class(rules)}"' if rules else ""
                yield f'<text x="{x}" y="12" textLength="{width}"{name}>{escape(bare)}</text>'

    def _name_class(self, rules: str) -> str:
        return self._classes.setdefault(rules, f"c{len(self._classes)}")


def read_colors(style: Style) -> tuple[str | None, str | None, bool]:
    """Foreground and background, None for those of the terminal, and whether the text is bold."""

    def read(color: Color | None) -> str | None:
        return None if color is None or color.is_default else color.get_truecolor(THEME).hex

    foreground, background = read(style.color), read(style.bgcolor)
    if style.reverse:
        foreground, background = background or BACKGROUND, foreground or FOREGROUND
    if style.dim:
        foreground = "#7d8590"
    return foreground, background, bool(style.bold)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        frames = merge_short(record(Path(folder)))
    PICTURE.write_text(Film().draw(frames), "utf-8")
    print(f"{len(frames)} frames, {sum(f.seconds for f in frames):.1f} s, {PICTURE.stat().st_size:,} bytes")
