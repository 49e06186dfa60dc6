"""A command in a process of its own, line by line."""

from nsadmin.tui.running import Running


def test_what_it_says_comes_with_its_exit_code() -> None:
    running = Running(["mqadminMap", "--no-headers"], [])
    lines = list(running.lines())
    assert running.code == 0
    assert any("topicRoute" in line for line in lines)


def test_mistakes_come_as_lines_too() -> None:
    running = Running(["topicRoute"], ["-n", "127.0.0.1:1"])
    assert "TOPIC is missing" in "".join(running.lines())
    assert running.code == 2


def test_who_leaves_ends_it() -> None:
    running = Running(["where", "--watch", "0.1"], ["-n", "127.0.0.1:1"])
    lines = running.lines()
    next(lines)
    assert running.code is None
    running.stop()
    assert [line for line in lines if "Traceback" in line] == []
    assert running.code is not None


def test_what_was_left_before_it_began_does_not_begin() -> None:
    running = Running(["where"])
    running.stop()
    assert list(running.lines()) == []
    assert running.code is None
