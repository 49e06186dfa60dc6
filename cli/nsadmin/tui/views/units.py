"""The formats of numbers, sizes and times for narrow columns, and bars of characters."""

from collections.abc import Iterable
from datetime import datetime

from nsadmin.tui.model.server_states import is_number

UNKNOWN_MARK = "–"
"""The mark for an unknown value, which differs from 0."""
_BAR_SYMBOLS = "▁▂▃▄▅▆▇█"
_COUNT_SUFFIXES = ("", "k", "M", "G", "T", "P")
_SIZE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_count(number: float | None) -> str:
    """A count in at most five characters: 7, 950, 1.2k, 34.5M."""
    if not is_number(number):
        return UNKNOWN_MARK
    if abs(number) < 1000:
        return f"{number:.0f}"
    return _scale_number(number, 1000, _COUNT_SUFFIXES)


def format_rate(per_second: float | None) -> str:
    """A rate per second. Rates below 10 keep one decimal."""
    if not is_number(per_second):
        return UNKNOWN_MARK
    if 0 < per_second < 10:
        return f"{per_second:.1f}"
    return format_count(per_second)


def format_size(byte_count: float | None) -> str:
    """Bytes: 0 B, 512 B, 1.5 MiB."""
    if not is_number(byte_count):
        return UNKNOWN_MARK
    if abs(byte_count) < 1024:
        return f"{byte_count:.0f} B"
    return _scale_number(byte_count, 1024, _SIZE_UNITS, " ")


def _scale_number(number: float, step_factor: int, unit_names: tuple[str, ...], space: str = "") -> str:
    index = 0
    while abs(number) >= step_factor and index < len(unit_names) - 1:
        number, index = number / step_factor, index + 1
    # A number such as 999.96 would round up to 1000: use the next unit.
    if abs(number) >= step_factor - 0.5 and index < len(unit_names) - 1:
        number, index = number / step_factor, index + 1
    if abs(number) >= 100_000:
        return f"{number:.0e}{space}{unit_names[index]}"
    digit_count = 1 if abs(number) < 99.95 else 0
    return f"{number:.{digit_count}f}{space}{unit_names[index]}"


def format_percent(ratio: float | None) -> str:
    return f"{ratio * 100:.0f}%" if is_number(ratio) else UNKNOWN_MARK


def format_millis(duration_ms: float | None) -> str:
    """0 ms, 1.2 ms, 340 ms, 5.1 s."""
    if not is_number(duration_ms):
        return UNKNOWN_MARK
    if duration_ms == 0:
        return "0 ms"
    if duration_ms >= 10_000:
        return format_age(duration_ms)
    if duration_ms >= 1000:
        return f"{duration_ms / 1000:.1f} s"
    return f"{duration_ms:.{1 if duration_ms < 10 else 0}f} ms"


def format_age(duration_ms: float | None) -> str:
    """A duration (ms) in its largest unit: 12 s, 5 min, 3.0 h, 4.0 d."""
    if not is_number(duration_ms):
        return UNKNOWN_MARK
    seconds = max(duration_ms, 0) / 1000
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            unit_count = seconds / size
            digits = 0 if unit_count >= 10 or unit == "min" else 1
            return f"{unit_count:.{digits}f} {unit}"
    return f"{seconds:.0f} s"


def format_clock(at_ms: int | None) -> str:
    """The local time of day of a time in ms since 1970."""
    return format_local(at_ms, "%H:%M:%S")


def format_moment(at_ms: int | None) -> str:
    """The local date and time of a time in ms since 1970."""
    return format_local(at_ms or None, "%Y-%m-%d %H:%M:%S")


def format_local(at_ms: int | None, time_format: str) -> str:
    try:
        return UNKNOWN_MARK if at_ms is None else datetime.fromtimestamp(at_ms / 1000).strftime(time_format)
    except (ValueError, OverflowError, OSError):
        # A year that no calendar has.
        return UNKNOWN_MARK


def draw_sparkline(numbers: Iterable[float | None], width: int, least_top: float = 0.0) -> str:
    """The last `width` numbers as bars, scaled to the greatest of them or to `least_top`."""
    shown_numbers = [number if is_number(number) else None for number in list(numbers)[-width:]]
    top_number = max((number for number in shown_numbers if number is not None), default=0.0)
    # Leave room above the greatest number: a constant series must not look like a full bar.
    top_number = max(top_number * 1.25, least_top)
    return "".join(_bar_symbol(number, top_number) for number in shown_numbers).rjust(width)


def _bar_symbol(number: float | None, top_number: float) -> str:
    if number is None:
        return " "
    if top_number <= 0 or number <= 0:
        return _BAR_SYMBOLS[0]
    return _BAR_SYMBOLS[min(int(number / top_number * (len(_BAR_SYMBOLS) - 1) + 0.5), len(_BAR_SYMBOLS) - 1)]


def draw_meter(ratio: float | None, width: int) -> str:
    """A bar of block characters for a ratio between 0 and 1."""
    if not is_number(ratio):
        return UNKNOWN_MARK.ljust(width)
    filled_width = min(max(ratio, 0.0), 1.0) * width
    whole_blocks = int(filled_width)
    partial_block = " ▏▎▍▌▋▊▉"[int((filled_width - whole_blocks) * 8)] if whole_blocks < width else ""
    return ("█" * whole_blocks + partial_block).ljust(width)[:width]
