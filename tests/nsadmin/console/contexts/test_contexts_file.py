"""The file of contexts: read, changed, refused."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nsadmin.client.connection.access_options import Credentials
from nsadmin.console.contexts import (
    Context,
    Contexts,
    ContextTls,
    InvalidContextsError,
    change_contexts,
    contexts_path,
    load_contexts,
    save_contexts,
)
from tests.support.hostile_yaml import HOSTILE_YAML

PROD = Context("a:9876;b:9876", timeout=5.0, output="json", read_only=True, color="red")
FULL = Context(
    endpoint="http://h/list",
    credentials=Credentials("me", "s3cret", "token"),
    tls=ContextTls("ca.pem", "me.pem", "me.key", "pw", None, "mq", False),
    timeout=1.5,
    retries=2,
    concurrency=8,
    output="csv",
    address_map=(("10.0.0.0/8", "gateway"), ("10.1.2.3:1", "h:2")),
)
LAB = Context("127.0.0.1:9876")


def test_what_is_saved_is_loaded_and_readable_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "config.yaml"
    kept = Contexts({"prod": PROD, "lab": LAB, "full": FULL}, "prod", "lab")
    save_contexts(file, kept)
    assert load_contexts(file) == kept
    assert file.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in file.parent.iterdir()] == ["config.yaml"]


def test_no_file_is_no_contexts(tmp_path: Path) -> None:
    assert load_contexts(tmp_path / "none") == Contexts({})


def test_a_folder_is_no_file_of_contexts(tmp_path: Path) -> None:
    with pytest.raises(InvalidContextsError, match=f"{tmp_path} is a folder: set NSADMIN_CONFIG to a file"):
        load_contexts(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contexts: [", "is not valid YAML"),
        ("- a", "contexts must be a map"),
        ("contexts: [a]", "contexts must be a map"),
        ("nope: 1", 'unknown key "nope": use current, previous, contexts'),
        ("contexts: {p: 1}", "context p: must be a map"),
        (
            "contexts: {p: {nope: 1}}",
            "context p: nope is unknown: use namesrvAddr, configFile, endpoint, bundle, credentials, "
            "tls, timeout, retries, concurrency, output, addressMap, proxies, kube, ssh, journals, readOnly, "
            "color, accessKey, secretKey, securityToken",
        ),
    ],
)
def test_a_file_that_cannot_be_is_one_line_with_its_name(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(InvalidContextsError) as failed:
        load_contexts(file)
    assert said in str(failed.value)
    assert str(file) in str(failed.value)
    assert "\n" not in str(failed.value)


def test_a_context_in_use_that_is_gone_from_the_file_is_none_in_use(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("current: gone\ncontexts: {lab: {namesrvAddr: a}}\n")
    assert load_contexts(file).current_name is None


def test_who_changes_it_at_the_same_time_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "new" / "config.yaml"

    def add(number: int) -> None:
        def step(found: Contexts) -> Contexts:
            time.sleep(0.01)
            return found.with_context(f"c{number}", Context(f"a:{number}"))

        change_contexts(file, step)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    assert sorted(load_contexts(file).contexts_by_name) == [f"c{number}" for number in range(8)]


def test_a_change_of_nothing_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("# Mine.\ncontexts: {lab: {namesrvAddr: a:1}}\n")
    before = file.stat()
    assert list(change_contexts(file, lambda found: found).contexts_by_name) == ["lab"]
    assert file.stat() == before


def test_what_has_not_changed_is_not_read_again(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    save_contexts(file, Contexts({"lab": Context("a:1")}))
    contexts = load_contexts(file)
    assert load_contexts(file) is contexts
    save_contexts(file, Contexts({"lab": Context("b:1")}))
    assert load_contexts(file).contexts_by_name == {"lab": Context("b:1")}


def test_where_the_file_is() -> None:
    assert contexts_path({"NSADMIN_CONFIG": "/x/y.yaml", "XDG_CONFIG_HOME": "/z"}) == "/x/y.yaml"
    assert contexts_path({"XDG_CONFIG_HOME": "/z"}) == "/z/nsadmin/config.yaml"
    assert contexts_path({}) == str(Path.home() / ".config" / "nsadmin" / "config.yaml")


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidContextsError, match="cannot write"):
        save_contexts(tmp_path / "file" / "config.yaml", Contexts({}))


def test_the_example_of_the_documentation_is_a_file_of_contexts(tmp_path: Path) -> None:
    text = (Path(__file__).parents[4] / "docs" / "reference" / "contexts.md").read_text()
    file = tmp_path / "config.yaml"
    file.write_text(text.split("```yaml\n")[1].split("```")[0])
    contexts = load_contexts(file)
    assert (contexts.current_name, contexts.previous_name, [*contexts.contexts_by_name]) == (
        "prod",
        "lab",
        ["prod", "lab", "case-1234"],
    )
    prod = contexts.contexts_by_name["prod"]
    # All fields but the two other ways to find name servers, the bundle, and the other kind of tunnel.
    unset = {name for name, value in prod._asdict().items() if value == Context._field_defaults[name]}
    assert unset == {"namesrv_addr", "config_file", "bundle", "kube"}
    assert prod.address_map == (("10.0.0.0/8", "gateway.example.com"), ("10.1.2.3:10911", "127.0.0.1:20911"))


@pytest.mark.parametrize("name", HOSTILE_YAML)
def test_hostile_yaml_is_no_file_of_contexts(tmp_path: Path, name: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(HOSTILE_YAML[name])
    with pytest.raises(InvalidContextsError, match="is not valid YAML"):
        load_contexts(file)


def test_a_file_of_contexts_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("#" * (1 << 21))
    with pytest.raises(InvalidContextsError, match=r"cannot read .*File too large"):
        load_contexts(file)
