"""How large, how long, how many; what is not known (None) stays so."""

from nsadmin.output import Bytes, FineMillis, Millis


def size(number: int | None) -> Bytes | None:
    """Bytes."""
    return None if number is None else Bytes(number)


def millis(number: int | None) -> Millis | None:
    """Milliseconds."""
    return None if number is None else Millis(number)


def fine_millis(number: float | None) -> FineMillis | None:
    """Milliseconds and parts of them."""
    return None if number is None else FineMillis(number)


def counted(number: int, noun: str) -> str:
    """1 topic, 2 topics."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
