"""Reads of many names that may take several passes."""

from collections.abc import Sequence

from nsadmin.operations.exporter.rolling_reads import read_rolling


class Server:
    """Answers so many batches in time; `gone` names do not exist."""

    def __init__(self, batches: int, gone: Sequence[str] = (), silent_at: int = 99) -> None:
        self.left, self._gone, self._silent_at = batches, gone, silent_at
        self.asked: list[Sequence[str]] = []

    def read(self, names: Sequence[str]) -> dict[str, int] | None:
        self.asked.append(names)
        self.left -= 1
        if len(self.asked) > self._silent_at:
            return None
        return {name: 2 for name in names if name not in self._gone}

    def has_time(self) -> bool:
        return self.left > 0


def test_all_names_in_batches() -> None:
    server = Server(9, gone=["b"])
    rows, result = read_rolling("abc", {"b": 1, "x": 1}, server.read, server.has_time, 2)
    assert rows == {"a": 2, "c": 2}
    assert result == (True, False)
    assert server.asked == [["a", "c"], ["b"]]


def test_names_that_are_left_keep_their_rows_and_come_first_in_the_next_pass() -> None:
    server = Server(1)
    rows, result = read_rolling("abcd", {"a": 1, "b": 1, "c": 1}, server.read, server.has_time, 2)
    assert server.asked == [["d", "a"]]
    assert rows == {"b": 1, "c": 1, "d": 2, "a": 2}
    assert result == (False, False)
    server = Server(1)
    read_rolling("abcd", rows, server.read, server.has_time, 2)
    assert server.asked == [["b", "c"]]


def test_a_server_that_falls_silent_keeps_the_rows_of_the_names_that_it_still_has() -> None:
    server = Server(9, silent_at=1)
    rows, result = read_rolling(
        "abc", {"a": 1, "b": 1, "c": 1, "deleted": 1}, server.read, server.has_time, 2
    )
    assert rows == {"a": 2, "b": 2, "c": 1}
    assert result == (False, True)
