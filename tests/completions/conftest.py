"""What there is to be completed, and the lines that all shells complete in the same way."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.fake_servers import FakeNameServer
from tests.support.shells import ShellHome, ShellTerminal

STATIC = [
    ("topicR", ["topicRoute"]),
    ("-n a:1 wipe", ["-n", "a:1", "wipeWritePerm"]),
    ("--vers", ["--version"]),
    ("topicRoute --ra", ["topicRoute", "--raw"]),
    ("topic-route T --output ya", ["topic-route", "T", "--output", "yaml"]),
    ("topicRoute --output=ya", ["topicRoute", "--output=yaml"]),
    ("topicRoute --columns clu", ["topicRoute", "--columns", "clusterName"]),
    ("topicRoute --columns brokerName,clu", ["topicRoute", "--columns", "brokerName,clusterName"]),
    ("topicRoute --sort=topic,-clu", ["topicRoute", "--sort=topic,-clusterName"]),
    ("wipeWritePerm b --dry", ["wipeWritePerm", "b", "--dry-run"]),
    ("updateTopicPerm -t T 4", ["updateTopicPerm", "-t", "T", "4"]),
    ("updateOrderConf T de", ["updateOrderConf", "T", "delete"]),
    ("lab up --clus", ["lab", "up", "--clusters"]),
    ("lab u", ["lab", "up"]),
    ("lab run und", ["lab", "run", "undone-wipe"]),
    ("lab up --scenario und", ["lab", "up", "--scenario", "undone-wipe"]),
    ("mqadminMap queryMsgByI", ["mqadminMap", "queryMsgById"]),
    ("snap", ["snapshot"]),
    ("-n a:1 kv diff --out", ["-n", "a:1", "kv", "diff", "--output"]),
    ("kv exp", ["kv", "export"]),
    ("KV ge", ["KV", "get"]),
    ("journal verify --columns fil", ["journal", "verify", "--columns", "file"]),
    ("check registrationSize --form", ["check", "registrationSize", "--format"]),
    ("kv-get --debu", ["kv-get", "--debug"]),
    ("kvGet --debu", ["kvGet", "--debug"]),
    ("completion fi", ["completion", "fish"]),
    ("namesrv -c {home}/config/nsadmin/conf", ["namesrv", "-c", "{home}/config/nsadmin/config.yaml"]),
]
SPELLED = [
    ("topic-rou", ["topicRoute"]),
    ("WIPE_W", ["wipeWritePerm"]),
]
"""Commands in other spellings; fish has rules of its own for what matches."""
LIVE = [
    ("topicRoute or", ["topicRoute", "orders"]),
    ("topicRoute -t or", ["topicRoute", "-t", "orders"]),
    ("topicRoute --topic=or", ["topicRoute", "--topic=orders"]),
    ('topicRoute "or', ["topicRoute", "orders"]),
    ("topicRoute %RE", ["topicRoute", "%RETRY%G"]),
    ("topicRoute pi", ["topicRoute", "pi|pe"]),
    ("clusterList Def", ["clusterList", "DefaultCluster"]),
    ("deleteTopic -c DefaultCluster or", ["deleteTopic", "-c", "DefaultCluster", "orders"]),
    ("wipeWritePerm brok", ["wipeWritePerm", "broker-a"]),
    ("brokerStatus 127.0.0.1:109", ["brokerStatus", "127.0.0.1:10911"]),
    ("brokerStatus --brokerAddr=127.0.0.1:1", ["brokerStatus", "--brokerAddr=127.0.0.1:10911"]),
    ('brokerStatus "127.0.0.1:10', ["brokerStatus", "127.0.0.1:10911"]),
    ("--context pr", ["--context", "prod"]),
    ("contextUse pr", ["contextUse", "prod"]),
    ("context use pr", ["context", "use", "prod"]),
    ("kv get ORDER_TOPIC_CONFIG k", ["kv", "get", "ORDER_TOPIC_CONFIG", "key"]),
    ("kv get -s ORDER_TOPIC_CONFIG -k k", ["kv", "get", "-s", "ORDER_TOPIC_CONFIG", "-k", "key"]),
    ("topicRoute -n $NAMESRV_ADDR or", ["topicRoute", "-n", "{addr}", "orders"]),
    ("kvGet ORDER_TOPIC_CONFIG k", ["kvGet", "ORDER_TOPIC_CONFIG", "key"]),
    ("kvGet -s ORDER_TOPIC_CONFIG -k k", ["kvGet", "-s", "ORDER_TOPIC_CONFIG", "-k", "key"]),
    ("updateNamesrvConfig wait", ["updateNamesrvConfig", "waitSecondsForService"]),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellHome]:
    """A name server, a context, and a cache that knows what the lines of LIVE need."""
    home = tmp_path_factory.mktemp("home")
    (home / "config" / "nsadmin").mkdir(parents=True)
    (home / "config" / "nsadmin" / "config.yaml").write_text("contexts: {prod: {namesrvAddr: 'h:1'}}\n")
    with FakeNameServer({"DefaultCluster": {"broker-a": {0: "127.0.0.1:10911"}}}) as server:
        server.routes = {name: {"broker-a": 6} for name in ("orders", "users", "%RETRY%G", "pi|pe")}
        server.kv = {"ORDER_TOPIC_CONFIG": {"key": "v"}}
        world = ShellHome(home, server.addr)
        for words in (
            ["topicRoute"],
            ["clusterList"],
            ["wipeWritePerm"],
            ["brokerStatus"],
            ["updateNamesrvConfig"],
            ["topicRoute", "-n", server.addr],
            ["kvGet", "ORDER_TOPIC_CONFIG"],
        ):
            world.warm_cache(*words)
        yield world


HOSTILE = (
    "a$(touch run)", "b`touch run`", 'c";touch run;"', "d';touch run;'", "e\\", "f!!", "g;touch run",
    "h&touch run&", "i$HOME", "j touch run", "k>run", "l|touch run", "m{run,x}", "n*", "o#x", "p~",
    "q\\$(touch run)", "r\u2019; touch run; \u2019", "s\u00a0t",
)  # fmt: skip
"""Names of topics, each with another first letter. The file `run` is the trace of one that is executed."""


@pytest.fixture(scope="module")
def hostile_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ShellHome]:
    """A name server with names that shells would interpret, all of them in the cache."""
    home = tmp_path_factory.mktemp("hostile")
    with FakeNameServer({"DefaultCluster": {}}) as server:
        server.routes = {name: {"broker-a": 6} for name in (*HOSTILE, "--yes", "-n1.2.3.4:1")}
        world = ShellHome(home, server.addr)
        world.warm_cache("topicRoute")
        yield world


def check_hostile_name(terminal: ShellTerminal, world: ShellHome, name: str, quote: str) -> None:
    """The shell completes the name as it is, or not at all, and runs nothing of it."""
    trace = Path(world.environ["HOME"]) / "run"
    trace.unlink(missing_ok=True)
    words = terminal.complete_line(f"topicRoute {quote}{name[0]}", quote)
    assert words in (["topicRoute", name], ["topicRoute", name[0]], ["topicRoute", f"{name[0]}\r\n"])
    assert not trace.exists()


def meant(text: str, world: ShellHome) -> str:
    """With the home and the name server in the places of their names."""
    return text.format(home=world.environ["HOME"], addr=world.environ["NAMESRV_ADDR"])
