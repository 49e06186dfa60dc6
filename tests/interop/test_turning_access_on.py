"""Access control of a released master and slave, turned on as the guide manage-users-and-acls says."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

from tests.interop import command_line
from tests.interop.cluster import wait_for_broker
from tests.interop.command_line import CommandResult
from tests.interop.java_parts import JavaBroker, acl_config
from tests.interop.our_server import OurNameServer
from tests.interop.processes import wait_for

OPERATOR, SHOP = ("operator-1", "a secret of ours"), ("shop", "s3cret-s3cret")
SWITCHES = ("authenticationEnabled", "authorizationEnabled")


def test_clients_with_credentials_work_before_and_after_the_switch(released: None, tmp_path: Path) -> None:
    prepared = {key: value for key, value in acl_config(*OPERATOR).items() if key not in SWITCHES}
    with OurNameServer(tmp_path / "namesrv") as server, ExitStack() as ends:
        brokers = [
            JavaBroker(tmp_path / folder, [server.address], broker_id=broker_id, config=prepared)
            for broker_id, folder in enumerate(("master", "slave"))
        ]
        with ThreadPoolExecutor() as threads:
            list(threads.map(JavaBroker.start, brokers))
        for broker_id, broker in enumerate(brokers):
            ends.callback(broker.kill)
            wait_for_broker([server], broker.name, broker_id)

        def run(*args: str, user: tuple[str, str] = ("", "")) -> CommandResult:
            keys = dict(zip(("NSADMIN_ACCESS_KEY", "NSADMIN_SECRET_KEY"), user, strict=True))
            env = {"NSADMIN_STATE": str(tmp_path / "state"), **keys}
            return command_line.nsadmin(server.address, *args, env=env)

        def send(user: tuple[str, str] = ("", "")) -> int:
            return run("sendMessage", "orders", "hello", user=user).code

        place = ("-c", "DefaultCluster", "--yes")
        assert run("updateTopic", "orders", *place).code == 0
        created = run("createUser", SHOP[0], "-p", SHOP[1], "--passwordVisible", *place)
        assert (created.code, [row["result"] for row in created.rows]) == (0, ["done", "done"]), created.err
        granted = run("createAcl", "shop", "-r", "Topic:orders", "-a", "Pub", "-d", "Allow", *place)
        assert granted.code == 0, granted.err
        wait_for("the route", lambda: send() == 0)
        # Brokers that check nothing accept signed requests, too.
        assert [send(SHOP), send(OPERATOR), send(("nobody", "12345678"))] == [0, 0, 0]
        for broker_id, broker in enumerate(brokers):
            with broker.config_file.open("a") as file:
                file.writelines(f"\n{switch}=true" for switch in SWITCHES)
            broker.restart()
            wait_for_broker([server], broker.name, broker_id)
        wait_for("the shop", lambda: send(SHOP) == 0)
        assert [send(OPERATOR), send() != 0, send(("nobody", "12345678")) != 0] == [0, True, True]
        # The slave still copies: its credentials are those of a Super user.
        assert run("updateTopic", "later", *place, user=OPERATOR).code == 0
        wait_for("the copy", lambda: run("replicaDiff", "-b", brokers[0].name, user=OPERATOR).code == 0)
