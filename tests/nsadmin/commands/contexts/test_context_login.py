"""contextLogin: where secrets go, where they come from, and that they are nowhere else."""

import io
import json
import os
import select
import sys
from pathlib import Path

import keyring
import pytest

from nsadmin import Credentials
from nsadmin.client.connection.credentials import from_file, from_keyring
from nsadmin.client.extras import describe_missing
from nsadmin.console import confirmation
from tests.nsadmin.conftest import CommandResult, Run
from tests.support.fake_servers import FakeNameServer

ROOT = Path(__file__).parents[4]


@pytest.fixture
def login(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run contextLogin with these words and, as `said`, this standard input; there is a context prod."""
    run("contextSet", "prod", "-n", "a:9876")

    def login(*args: str, said: str = "operator\ns3cret\n") -> CommandResult:
        monkeypatch.setattr(sys, "stdin", io.StringIO(said))
        return run("contextLogin", *args)

    return login


@pytest.fixture
def kept_secrets(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], str]:
    """A keyring's content."""
    content: dict[tuple[str, str], str] = {}
    monkeypatch.setattr(keyring, "get_password", lambda *place: content.get(place))
    monkeypatch.setattr(
        keyring, "set_password", lambda service, name, text: content.__setitem__((service, name), text)
    )
    return content


def test_into_the_keyring(
    login: Run, run: Run, kept_secrets: dict[tuple[str, str], str], tmp_path: Path
) -> None:
    result = login("prod", "--json")
    assert (result.code, result.err) == (0, "")
    [row] = json.loads(result.out)
    assert (row["name"], row["credentials"]) == ("prod", "keyring:prod")
    assert from_keyring("prod") == Credentials("operator", "s3cret")
    assert [*kept_secrets] == [("nsadmin", "prod")]
    for text in (result.out, run("contextShow", "prod").out, (tmp_path / "config.yaml").read_text()):
        assert "s3cret" not in text


def test_into_a_file_with_which_requests_are_then_signed(login: Run, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "new" / "prod.yml"
    result = login("prod", "--file", str(file), said=" operator \r\n s3cret \r\ntoken\r\n")
    assert result.code == 0
    assert from_file(file) == Credentials("operator", "s3cret", "token")
    with FakeNameServer() as server:
        run("contextSet", "prod", "-n", server.addr)
        assert run("--context", "prod", "topicList").code == 0
        ext = server.asked[0].ext or {}
        assert (ext["AccessKey"], ext["SecurityToken"], "Signature" in ext) == ("operator", "token", True)


@pytest.mark.parametrize(
    ("args", "said", "error"),
    [
        (("other",), "operator\ns3cret\n", 'no context "other": choose from prod'),
        (("prod",), "operator\n", "the secret key is empty, nothing was stored: enter it, or pipe it in"),
        (("prod",), "operator\n \n", "the secret key is empty, nothing was stored: enter it, or pipe it in"),
        (("prod",), "\ns3cret\n", "the access key is empty, nothing was stored: enter it, or pipe it in"),
        (("prod",), "", "the access key is empty, nothing was stored: enter it, or pipe it in"),
    ],
)
def test_what_cannot_be_stored(
    login: Run, kept_secrets: dict[tuple[str, str], str], args: tuple[str, ...], said: str, error: str
) -> None:
    result = login(*args, said=said)
    assert (result.code, result.out, kept_secrets) == (2, "", {})
    assert error in result.err
    assert "s3cret" not in result.err


def test_a_place_that_takes_nothing_leaves_the_context_alone(login: Run, run: Run, tmp_path: Path) -> None:
    before = run("contextShow", "prod", "--json").out
    (tmp_path / "file").write_text("")
    result = login("prod", "--file", str(tmp_path / "file" / "prod.yml"))
    assert result.code == 2
    assert "is not writable" in result.err
    assert run("contextShow", "prod", "--json").out == before


def test_a_system_without_keyring(login: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    result = login("prod")
    assert (result.code, result.err) == (
        2,
        f"nsadmin: {describe_missing('keyring', 'keyring')}; or store them in a file: --file PATH\n",
    )


def test_on_a_terminal_they_are_asked_for(
    login: Run, kept_secrets: dict[tuple[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"secret key": "s3cret", "security token (optional)": ""}
    monkeypatch.setattr(confirmation, "can_ask_operator", lambda: True)
    monkeypatch.setattr(confirmation, "ask_secret", secrets.__getitem__)
    result = login("prod", said="operator\n")
    assert (result.code, result.err) == (0, "Access key: ")
    assert from_keyring("prod") == Credentials("operator", "s3cret")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_a_terminal_does_not_show_what_is_secret() -> None:
    import pty

    child, terminal = pty.fork()
    if child == 0:
        program = "from nsadmin.console.confirmation import ask_secret; print(len(ask_secret('secret key')))"
        path = f"{ROOT}{os.pathsep}{ROOT / 'cli'}"
        os.execve(sys.executable, [sys.executable, "-c", program], {**os.environ, "PYTHONPATH": path})
    output = b""
    try:
        while b"Secret key: " not in output:
            assert select.select([terminal], [], [], 20)[0], output
            output += os.read(terminal, 1000)
        os.write(terminal, b"s3cret\n")
        while b"6" not in output:
            assert select.select([terminal], [], [], 20)[0], output
            output += os.read(terminal, 1000)
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    assert b"s3cret" not in output
