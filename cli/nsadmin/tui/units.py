"""The formats of numbers, sizes and times for narrow columns, and bars of characters."""

from collections.abc import Iterable
from datetime import datetime

NOTHING = "–"
"""The mark for an unknown value, which differs from 0."""
_BARS = "▁▂▃▄▅▆▇█"
_FACTORS = ("", "k", "M", "G", "T", "P")
_SIZES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def count(number: float | None) -> str:
    """A count in at most five characters: 7, 950, 1.2k, 34.5M."""
    if number is None:
        return NOTHING
    if abs(number) < 1000:
        return f"{number:.0f}"
    return _scaled(number, 1000, _FACTORS)


def rate(number: float | None) -> str:
    """A rate per second. Rates below 10 keep one decimal."""
    if number is None:
        return NOTHING
    if 0 < number < 10:
        return f"{number:.1f}"
    return count(number)


def size(number: float | None) -> str:
    """Bytes: 0 B, 512 B, 1.5 MiB."""
    if number is None:
        return NOTHING
    if abs(number) < 1024:
        return f"{number:.0f} B"
    return _scaled(number, 1024, _SIZES, " ")


def _scaled(number: float, base: int, names: tuple[str, ...], space: str = "") -> str:
    step = 0
    while abs(number) >= base and step < len(names) - 1:
        number, step = number / base, step + 1
    # A number such as 999.96 would round up to 1000: use the next unit.
    if abs(number) >= base - 0.5 and step < len(names) - 1:
        number, step = number / base, step + 1
    digits = 1 if abs(number) < 99.95 else 0
    return f"{number:.{digits}f}{space}{names[step]}"


def percent(ratio: float | None) -> str:
    return NOTHING if ratio is None else f"{ratio * 100:.0f}%"


def millis(number: float | None) -> str:
    """0 ms, 1.2 ms, 340 ms, 5.1 s."""
    if number is None:
        return NOTHING
    if number == 0:
        return "0 ms"
    if number >= 10_000:
        return age(number)
    return f"{number / 1000:.1f} s" if number >= 1000 else f"{number:.{1 if number < 10 else 0}f} ms"


def age(number: float | None) -> str:
    """A duration (ms) in its largest unit: 12 s, 5 min, 3.0 h, 4.0 d."""
    if number is None:
        return NOTHING
    seconds = max(number, 0) / 1000
    for length, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= length:
            whole = seconds / length
            return f"{whole:.0f} {unit}" if whole >= 10 or unit == "min" else f"{whole:.1f} {unit}"
    return f"{seconds:.0f} s"


def clock(at: int | None) -> str:
    """The local time of day of a time in ms since 1970."""
    return NOTHING if at is None else f"{datetime.fromtimestamp(at / 1000):%H:%M:%S}"


def moment(at: int | None) -> str:
    """The local date and time of a time in ms since 1970."""
    return NOTHING if not at else f"{datetime.fromtimestamp(at / 1000):%Y-%m-%d %H:%M:%S}"


def sparkline(numbers: Iterable[float | None], width: int, least: float = 0.0) -> str:
    """The last `width` numbers as bars, scaled to the greatest of them or to `least_top`."""
    shown = list(numbers)[-width:]
    top = max((number for number in shown if number is not None), default=0.0)
    # Leave room above the greatest number: a constant series must not look like a full bar.
    top = max(top * 1.25, least)
    return "".join(_bar(number, top) for number in shown).rjust(width)


def _bar(number: float | None, top: float) -> str:
    if number is None:
        return " "
    if top <= 0 or number <= 0:
        return _BARS[0]
    return _BARS[min(int(number / top * (len(_BARS) - 1) + 0.5), len(_BARS) - 1)]


def meter(ratio: float | None, width: int) -> str:
    """A bar of block characters for a ratio between 0 and 1."""
    if ratio is None:
        return NOTHING.ljust(width)
    full = min(max(ratio, 0.0), 1.0) * width
    whole = int(full)
    part = " ▏▎▍▌▋▊▉"[int((full - whole) * 8)] if whole < width else ""
    return ("█" * whole + part).ljust(width)[:width]
