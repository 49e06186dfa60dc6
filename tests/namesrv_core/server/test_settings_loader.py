"""Which setting wins, and what is said of one that cannot be."""

from pathlib import Path

import pytest

from namesrv_core.errors import BadSettings, NoPermission
from namesrv_core.server.settings_loader import environment_variable, load_settings
from namesrv_core.state.settings import SETTING_KEYS, NameServerSettings
from namesrv_core.state.tls_settings import TlsSettings
from tests.support.name_server_flags import parse_flags


def started(*args: str, **environ: str) -> NameServerSettings:
    """The settings of a start with these flags and this environment."""
    return load_settings(parse_flags(*args), environment=environ)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("listenPort", "NAMESRV_LISTEN_PORT"),
        ("journalDir", "NAMESRV_JOURNAL_DIR"),
        ("unRegisterBrokerQueueCapacity", "NAMESRV_UN_REGISTER_BROKER_QUEUE_CAPACITY"),
    ],
)
def test_a_setting_has_a_name_in_the_environment(key: str, name: str) -> None:
    assert environment_variable(key) == name


def test_each_setting_has_another_name_in_the_environment() -> None:
    assert len({environment_variable(key) for key in SETTING_KEYS}) == len(SETTING_KEYS)


def test_a_flag_wins_over_d_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("listenPort=1\njournalDir=/file\nserverSocketBacklog=10\nserverWorkerThreads=3\n")
    settings = started(
        "-c", str(path), "--port", "4", "-DlistenPort=3", "-DjournalDir=/d", "-D", "journalFsync=always",
        NAMESRV_LISTEN_PORT="2", NAMESRV_JOURNAL_DIR="/e", NAMESRV_SERVER_SOCKET_BACKLOG="11",
        ROCKETMQ_HOME="/rocketmq", NAMESRV_PORT="tcp://10.0.0.1:9876", NAMESRV_ADDR="10.0.0.1:9876",
    )  # fmt: skip
    assert (settings.listenPort, settings.journalDir, settings.journalFsync) == (4, "/d", "always")
    assert (settings.serverSocketBacklog, settings.serverWorkerThreads) == (11, 3)
    assert settings.rocketmqHome == "/rocketmq"
    assert settings.others == {}


def test_a_file_without_a_name_is_an_unset_variable_and_no_default() -> None:
    with pytest.raises(BadSettings, match=r"^-c has an empty file name"):
        started("-c", "")


def test_the_last_of_equal_ones_wins() -> None:
    assert started("-DlistenPort=3", "-DlistenPort=5").listenPort == 5


@pytest.mark.parametrize(
    ("flag", "environ", "said"),
    [
        (
            "-DlistenProt=1",
            {},
            'unknown setting "listenProt" for -D: give KEY=VALUE with a key that -p prints, ',
        ),
        ("-DlistenPort", {}, 'unknown setting "listenPort" for -D: give KEY=VALUE'),
        ("-DlistenPort=many", {}, '-DlistenPort: invalid value "many": write a whole number'),
        ("-DenableTopicList=yes", {}, '-DenableTopicList: invalid value "yes": write true or false'),
        ("-p", {"NAMESRV_LISTEN_PORT": "x"}, 'NAMESRV_LISTEN_PORT: invalid value "x": write a whole number'),
    ],
)
def test_a_mistake_in_what_was_typed_ends_the_start_in_one_line(
    flag: str, environ: dict[str, str], said: str
) -> None:
    with pytest.raises(BadSettings) as caught:
        started(flag, **environ)
    assert str(caught.value).startswith(said)


def test_who_may_ask_is_set_by_flags_too(tmp_path: Path) -> None:
    settings = started("--credentials", "~/c.yaml", "--read-only", "--no-remote-config")
    assert settings.credentialsFile == str(Path.home() / "c.yaml")
    assert (settings.readOnly, settings.noRemoteConfig) == (True, True)
    path = tmp_path / "c.conf"
    path.write_text("credentialsFile=/c.yaml\nreadOnly=true\n")
    settings = started("-c", str(path))
    assert (settings.credentialsFile, settings.readOnly, settings.noRemoteConfig) == ("/c.yaml", True, False)


def test_a_slip_never_leaves_open_what_is_to_be_locked(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("listenPort=x\nreadOnly=yes\n")
    with pytest.raises(BadSettings, match=r'c\.conf:2: readOnly: invalid value "yes": write true or false'):
        started("-c", str(path))


def test_keys_of_tls_come_from_everywhere_and_upstream_s_own_file_wins_but_for_the_mode(
    tmp_path: Path,
) -> None:
    path, own = tmp_path / "c.conf", tmp_path / "tls.properties"
    path.write_text(
        f"tls.server.mode=disabled\ntls.config.file={own}\ntls.server.certPath=/file\ntls.server.keyPassword=secret\n"
    )
    settings = started("-c", str(path), "-Dtls.server.mode=enforcing", "-Dtls.server.keyPath=/d",
                       NAMESRV_TLS_SERVER_CERT_PATH="/e", NAMESRV_TLS_SERVER_KEY_PATH="/e")  # fmt: skip
    assert settings.tls == TlsSettings("enforcing", "/e", "/d", "secret")
    own.write_text("tls.server.certPath=/own\ntls.server.mode=permissive\ntls.test.mode.enable=false\n")
    settings = started("-c", str(path), "-Dtls.server.mode=enforcing", "-Dtls.server.keyPath=/d")
    assert settings.tls == TlsSettings("enforcing", "/own", "/d", "secret")


def test_a_password_is_kept_in_its_file_and_shown_nowhere_and_no_request_changes_tls(tmp_path: Path) -> None:
    path = tmp_path / "c.conf"
    path.write_text("tls.server.mode=disabled\ntls.server.keyPassword=secret\n")
    settings = started("-c", str(path), NAMESRV_TLS_SERVER_CERT_PATH="/e")
    assert b"secret" not in settings.encode_body()
    assert "secret" not in repr(settings)
    assert settings.shown_items()["tls.server.mode"] == "disabled"
    assert "tls.server.certPath" not in settings.shown_items()
    assert settings.hidden == {"tls.server.keyPassword": "secret"}
    for key in ("tls.server.mode", "tls.server.certPath", "tls.server.keyPassword"):
        with pytest.raises(NoPermission):
            settings.apply_update({key: "x"})


def test_a_mistake_about_tls_ends_the_start() -> None:
    with pytest.raises(BadSettings, match=r'^invalid value "on" for tls\.server\.mode: use one of'):
        started("-Dtls.server.mode=on")
