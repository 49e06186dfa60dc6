"""Credentials from each of their sources, and one line that tells no secret where there are none."""

import re
import sys
from pathlib import Path

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError

from namesrv_core.errors import BadSettings
from nsadmin import Credentials
from nsadmin.client.connection.credentials import (
    FoundCredentials,
    find_credentials,
    from_environment,
    from_file,
    from_keyring,
    from_source,
    from_tools,
    save_to_file,
    save_to_keyring,
)
from nsadmin.client.extras import describe_missing
from tests.support.hostile_yaml import HOSTILE_YAML

WHO = Credentials("operator", "s3cret")
ENVIRON = {"NSADMIN_ACCESS_KEY": "operator", "NSADMIN_SECRET_KEY": "s3cret"}


class Memory(KeyringBackend):
    """A keyring that forgets."""

    priority = 1

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        raise PasswordDeleteError


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    backend = Memory()
    monkeypatch.setattr(keyring, "get_password", backend.get_password)
    monkeypatch.setattr(keyring, "set_password", backend.set_password)
    return backend


def refusal(step: object, *args: object) -> str:
    assert callable(step)
    with pytest.raises(BadSettings) as caught:
        step(*args)
    message = str(caught.value)
    assert "\n" not in message
    assert "s3cret" not in message
    return message


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_the_environment() -> None:
    assert from_environment(ENVIRON) == WHO
    assert from_environment({**ENVIRON, "NSADMIN_SECURITY_TOKEN": "t"}) == WHO._replace(security_token="t")
    assert from_environment({}) is None
    assert from_environment(dict.fromkeys(ENVIRON, "")) is None


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        (
            {"NSADMIN_ACCESS_KEY": "operator"},
            "the environment has NSADMIN_ACCESS_KEY without NSADMIN_SECRET_KEY",
        ),
        (
            {"NSADMIN_SECRET_KEY": "s3cret", "NSADMIN_ACCESS_KEY": ""},
            "the environment has NSADMIN_SECRET_KEY without NSADMIN_ACCESS_KEY",
        ),
        (
            {"NSADMIN_SECURITY_TOKEN": "s3cret"},
            "the environment has NSADMIN_SECURITY_TOKEN without NSADMIN_ACCESS_KEY and NSADMIN_SECRET_KEY",
        ),
    ],
)
def test_half_a_pair_is_a_mistake(environ: dict[str, str], said: str) -> None:
    assert refusal(from_environment, environ) == said


def test_tools_yml_as_mqadmin_has_it(tmp_path: Path) -> None:
    tools = tmp_path / "tools.yml"
    assert from_tools(write(tools, "accessKey: rocketmq2\nsecretKey: 12345678\n")) == Credentials(
        "rocketmq2", "12345678"
    )
    assert from_tools(write(tools, "accessKey: 'a'\nsecretKey: 0123 # octal to YAML\n")) == Credentials(
        "a", "0123"
    )
    assert from_tools(write(tools, "# nothing yet\n")) is None
    assert from_tools(write(tools, "other: x\n")) is None
    assert (
        refusal(from_tools, write(tools, "secretKey: s3cret\n")) == f"{tools} has secretKey without accessKey"
    )


def test_a_file_in_either_form(tmp_path: Path) -> None:
    with_token = WHO._replace(security_token="t")
    text = "accessKey: operator\nsecretKey: s3cret\nsecurityToken: t\n"
    assert from_file(write(tmp_path / "who.yaml", text)) == with_token
    properties = "AccessKey = operator\nSecretKey=s3\\u0063ret\nSecurityToken=t\n"
    assert from_file(write(tmp_path / "key", properties)) == with_token
    assert from_file(write(tmp_path / "who.properties", text)) == with_token


def test_a_file_that_cannot_be_used_is_named_and_not_quoted(tmp_path: Path) -> None:
    yml, key = tmp_path / "who.yml", tmp_path / "key"
    lines = "accessKey: VALUE"
    for path, text, message in (
        (yml, "accessKey: operator\nsecretKey: [s3cret\n", f"{yml} is not valid YAML in line 2"),
        (yml, "secretKey: s3cret\x00", f"{yml} is not valid YAML"),
        (yml, "s3cret", f"{yml} must contain lines like {lines}"),
        (yml, "- s3cret", f"{yml} must contain lines like {lines}"),
        (
            yml,
            "accessKey: operator\nsecretKey: {a: s3cret}",
            f"{yml}: accessKey and secretKey must be plain texts",
        ),
        (yml, "", f"{yml} has neither accessKey nor secretKey"),
        (yml, "accessKey: operator", f"{yml} has accessKey without secretKey"),
        (key, "secretKey=s3cret\\uXY", f"{key} has a \\u that is not followed by four digits"),
        (key, "user=operator", f"{key} has neither accessKey nor secretKey"),
    ):
        assert refusal(from_file, write(path, text)) == message
    yml.write_bytes(b"secretKey: s3cret\xff")
    assert refusal(from_file, yml) == f"{yml} is not a text file"
    missing = tmp_path / "missing"
    assert refusal(from_file, missing) == f"{missing} is not readable: No such file or directory"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such modes")
def test_a_secret_that_everybody_may_read_is_refused_in_our_file_and_told_of_mqadmins(tmp_path: Path) -> None:
    text = "accessKey: operator\nsecretKey: s3cret\n"
    public, group = write(tmp_path / "who.yml", text, 0o644), write(tmp_path / "group.yml", text, 0o640)
    assert refusal(from_source, f"file:{public}") == (
        f"all users of this machine can read the secret in {public}: run `chmod 600 {public}`"
    )
    assert from_file(group) == WHO
    warning = f"all users of this machine can read the secret key in {public}: run `chmod o-r {public}`"
    assert from_source(f"tools:{public}") == FoundCredentials(WHO, f"tools:{public}", warning)
    assert from_source(f"tools:{group}") == FoundCredentials(WHO, f"tools:{group}")
    sample = write(tmp_path / "tools.yml", "accessKey: rocketmq2\nsecretKey: 12345678\n", 0o644)
    assert from_source(f"tools:{sample}").warning is None


NO_SOURCE = "invalid source of credentials: use env, file:PATH, tools:PATH, keyring:NAME"


def test_a_source_by_its_name(tmp_path: Path, memory: Memory) -> None:
    write(tmp_path / "who.yml", "accessKey: operator\nsecretKey: s3cret\n")
    save_to_keyring("prod", WHO)
    for source, environ, named in (
        ("env", ENVIRON, "env"),
        ("file:who.yml", {}, "file:who.yml"),
        ("tools:who.yml", {}, f"tools:{tmp_path / 'who.yml'}"),
        ("keyring:prod", {}, "keyring:prod"),
    ):
        assert from_source(source, environ, tmp_path) == FoundCredentials(WHO, named)
    write(tmp_path / "none.yml", "")
    for source, message in (
        ("env", "no credentials in env: set NSADMIN_ACCESS_KEY and NSADMIN_SECRET_KEY"),
        ("tools:none.yml", "no credentials in tools:none.yml: the source is empty"),
        *((wrong, NO_SOURCE) for wrong in ("s3cret", "operator:s3cret", "file:", "keyring:", "")),
    ):
        assert refusal(from_source, source, {}, tmp_path) == message


def test_what_counts_where_no_source_is_named(tmp_path: Path) -> None:
    home = {"ROCKETMQ_HOME": str(tmp_path)}
    assert find_credentials({}) is None
    assert find_credentials(home) is None
    (tmp_path / "conf").mkdir()
    tools = write(tmp_path / "conf" / "tools.yml", "accessKey: t\nsecretKey: 1\n")
    assert find_credentials(home) == FoundCredentials(Credentials("t", "1"), f"tools:{tools}")
    assert find_credentials({**home, **ENVIRON}) == FoundCredentials(WHO, "env")
    assert refusal(find_credentials, {**home, "NSADMIN_ACCESS_KEY": "operator"}).endswith(
        "without NSADMIN_SECRET_KEY"
    )


def test_the_keyring_keeps_what_was_stored(memory: Memory) -> None:
    with_token = WHO._replace(security_token="t")
    save_to_keyring("prod", WHO)
    save_to_keyring("test", with_token)
    assert (from_keyring("prod"), from_keyring("test")) == (WHO, with_token)
    assert {service for service, _ in memory.kept} == {"nsadmin"}
    assert refusal(from_keyring, "other") == (
        'the keyring has no credentials "other": `nsadmin context login --help` shows how to store them'
    )
    for odd in ("s3cret", '"s3cret"', '{"secretKey": "s3cret"}', '{"accessKey": 1, "secretKey": "s3cret"}'):
        memory.kept["nsadmin", "prod"] = odd
        assert refusal(from_keyring, "prod") == (
            'the entry "prod" of the keyring is not in nsadmin\'s format: `nsadmin context login --help` '
            "shows how to replace it"
        )


def test_a_system_without_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: str) -> str:
        raise keyring.errors.NoKeyringError("No recommended\nbackend was available.")

    monkeypatch.setattr(keyring, "get_password", fail)
    assert refusal(from_keyring, "prod") == (
        "the system's keyring does not answer: No recommended backend was available"
    )
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert refusal(from_keyring, "prod") == describe_missing("keyring", "keyring")


def test_a_stored_file_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "who.yml"
    for who in (WHO, Credentials("0123", "yes: #no", "türkei")):
        save_to_file(path, who)
        assert from_file(path) == who
        assert sys.platform == "win32" or path.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["who.yml"]


def test_a_file_that_cannot_be_stored(tmp_path: Path) -> None:
    file = write(tmp_path / "file", "")
    assert refusal(save_to_file, file / "who.yml", WHO).startswith(f"{file / 'who.yml'} is not writable: ")


@pytest.mark.parametrize("name", [n for n, t in HOSTILE_YAML.items() if not re.search(r"^a: (!!|1|2)", t)])
def test_hostile_yaml_has_no_credentials(tmp_path: Path, name: str) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(HOSTILE_YAML[name])
    file.chmod(0o600)
    with pytest.raises(BadSettings, match="is not valid YAML"):
        from_file(file)
