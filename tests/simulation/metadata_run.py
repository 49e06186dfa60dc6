"""Simulated restores of a backup, and transfers of metadata from another cluster, while faults happen."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

from namesrv_core.errors import RocketMQError
from namesrv_core.fleet.broker_model import BrokerSpec
from namesrv_core.fleet.groups import SYSTEM_GROUPS
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.connection.access_options import Access
from nsadmin.console.audit import load_audit
from nsadmin.library.admin_client import AdminClient
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.records import Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun as Restore
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup
from nsadmin.operations.transfer.metadata_transfer import MetadataScope, MetadataTransfer
from tests.simulation.broker import CLUSTER, HEARTBEAT_MS, SimulatedBroker
from tests.simulation.cluster import BROKER, FAULT_KINDS
from tests.simulation.command_cluster import ReleasedBroker
from tests.simulation.name_server import SimulatedNameServer
from tests.simulation.network import Network
from tests.simulation.operated_run import AUDIT_FILE, OperatedRun
from tests.simulation.world import Fault, InvariantBroken

Items = dict[tuple[str, Section, str], Any]
"""What servers have, by the server, the section and the name."""

_TOPICS, _GROUPS, _USERS = ("billing", "archive", "refunds"), ("bills", "archivists"), ("alice", "bob")
_ORDER, _APP = "ORDER_TOPIC_CONFIG", "app"
_SECTIONS = frozenset(Section) - {
    Section.STATIC_TOPICS,
    Section.OFFSETS,
    Section.ACCOUNTS,
    Section.SETTINGS,
}


class MetadataRun(OperatedRun):
    """A run of one seed: the cluster gets what `wanted` has, and keeps everything else."""

    # Others change no items, so that each change is nsadmin's.
    fault_kinds: ClassVar = tuple(
        kind
        for kind in FAULT_KINDS
        if kind not in ("create topic", "change topic", "delete topic", "stale slave", "undrain by other")
    )
    step_count: ClassVar = 90
    master_class: ClassVar = ReleasedBroker
    plan_changes: ClassVar[Mapping[str, Any]] = {
        "has_slave": False,
        "producers": 0,
        "has_slow_producer": False,
    }
    command_line: ClassVar[str]

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        self.wanted: Items = {}
        self._kept: Items = {}
        self._overwritten: Items = {}
        self._named: set[tuple[str, Section, str]] = set()
        self._applied: list[tuple[str, str]] = []
        self._lost: Counter[tuple[str, str]] = Counter()

    def prepare(self) -> None:
        """Choose what is wanted, and bring the cluster into another state."""
        raise NotImplementedError

    def run_command(self, *, is_dry_run: bool = False) -> tuple[list[RestoreOutcome], Sequence[str]]:
        """Run the command. Return its outcomes, and what the source did not tell."""
        raise NotImplementedError

    def run(self) -> None:
        self.start_cluster()
        self.prepare()
        self._kept = {key: value for key, value in self.read_items().items() if key not in self.wanted}
        network = self.cluster.network
        self._deliver = network._deliver
        self._require_preview()
        self.world.step_number = 0
        self.begin_faults()
        with patch.object(network, "_deliver", self._watch_change):
            self.repeat_command(self.command_line, self._attempt, lambda error: False)
            self._require_wanted("the command has succeeded")
            self.end_faults()
            self.repeat_command(self.command_line, self._attempt, lambda error: False)
        self._require_wanted("the command has succeeded again")
        items = self.read_items()
        for key, value in self._kept.items():
            if items.get(key) != value:
                raise InvariantBroken(
                    f"{key} is not part of the command, and was {value}: now {items.get(key)}"
                )

    # What servers have

    def read_items(self) -> Items:
        return read_items(self.cluster.masters, self.cluster.name_servers.values())

    def change_items(self) -> None:
        """Delete, change and add items of the cluster."""
        random, now_ms = self.random, self.world.true_ms
        for broker in self.cluster.masters:
            topics, model = broker.model.topic_table, broker.model
            for topic in _TOPICS:
                match random.randrange(4):
                    case 0:
                        topics.delete_config(topic, now_ms)
                    case 1:
                        perm, queues = random.choice((2, 4, 6)), random.randint(1, 8)
                        topics.put_config(make_topic_config(topic, queues, perm), now_ms)
            for group in _GROUPS:
                match random.randrange(4):
                    case 0:
                        model.group_table.delete_config(group, now_ms)
                    case 1:
                        model.group_table.put_config({"groupName": group, "retryMaxTimes": 3}, now_ms)
            for user in _USERS:
                match random.randrange(4):
                    case 0:
                        model.user_table.delete_user({"username": user})
                    case 1:
                        model.user_table.update_user({"username": user}, b'{"userStatus":"disable"}')
            if random.random() < 0.3:
                model.consume_modes.pop("billing", None)
            topics.put_config(make_topic_config("only-here", 3), now_ms)
            model.group_table.put_config({"groupName": "only-here"}, now_ms)
            broker.register_topics()
        for server in self.cluster.name_servers.values():
            match random.randrange(3):
                case 0:
                    server.state.kv_config.delete_key(_ORDER, "billing")
                case 1:
                    server.state.kv_config.put_value(_ORDER, "billing", "broker-a:1")
            server.state.kv_config.put_value(_APP, "only-here", "1")

    # What must hold

    def _require_preview(self) -> None:
        """A dry run names the items that differ, and changes nothing."""
        before = self.read_items()
        outcomes, _ = self.run_command(is_dry_run=True)
        named = {(o.server_name, o.section, o.item_name) for o in outcomes if o.result == "dry-run"}
        differing = {key for key, value in self.wanted.items() if before.get(key) != value}
        # The mode of a topic or group that is gone may still be there.
        extra = {key for key in named - differing if key[1] is not Section.CONSUME_MODES}
        if extra or differing - named:
            raise InvariantBroken(f"the dry run names {extra}, and not {differing - named}")
        if self.read_items() != before:
            raise InvariantBroken("the dry run has changed something")

    def _attempt(self) -> bool:
        self._overwritten = {}
        try:
            outcomes, remarks = self.run_command()
        finally:
            self._require_audit()
        # A request of an earlier attempt may arrive late.
        self._named |= {(o.server_name, o.section, o.item_name) for o in outcomes if o.result != "unchanged"}
        for key, before in self._overwritten.items():
            if key not in self._named and not self._may_have_orphans:
                raise InvariantBroken(f"{key} was overwritten, and no line says so: it was {before}")
        failed = [o for o in outcomes if o.error is not None]
        for outcome in failed:
            self.world.tell(f"nsadmin: {outcome.server_name} {outcome.item_name}: {outcome.error}")
        if failed or remarks:
            raise RocketMQError("not everything is as wanted")
        return True

    def _watch_change(self, addr: str, request: RemotingCommand, channel_id: int) -> RemotingCommand:
        if not RequestCode.is_change(request.code):
            return self._deliver(addr, request, channel_id)
        before = self.read_items()
        reply = self._deliver(addr, request, channel_id)
        after = self.read_items()
        if deleted := before.keys() - after.keys():
            raise InvariantBroken(f"{deleted} is deleted")
        for key, value in before.items():
            if after[key] != value:
                self._overwritten.setdefault(key, value)
        self._applied.append((addr, RequestCode.name_of(request.code)))
        return reply

    def _count_missing_records(self) -> "Counter[tuple[str, str]]":
        """The changes that servers made and that the audit lacks."""
        audited: Counter[tuple[str, str]] = Counter()
        for record in load_audit(Path(AUDIT_FILE)).records:
            for sent in record["sent"]:
                audited[sent["server"], sent["request"]] += sent.get("times", 1)
        return Counter(self._applied) - audited

    def _had(self, *kinds: str) -> bool:
        return any(kind in kinds for kind, _ in self.world.steps_with_faults)

    @property
    def _may_have_orphans(self) -> bool:
        """Whether a request may arrive after its process was killed."""
        return self._had("deliver late") and self._had("kill nsadmin", "lose power")

    def _require_audit(self) -> None:
        """The audit has each change. A kill takes the records of the last ones."""
        # Of records that the disk lost or refused, nsadmin or the operator knows.
        if self._may_have_orphans or self._had("lose power", "fill disk"):
            return
        missing = self._count_missing_records() - self._lost
        last = Counter(self._applied[len(self._applied) - missing.total() :])
        if missing and (self.world.is_process_alive or missing != last):
            raise InvariantBroken(f"the audit has no record of {dict(missing)}")
        self._lost += missing

    def _require_wanted(self, moment: str) -> None:
        items = self.read_items()
        for key, value in self.wanted.items():
            if items.get(key) != value:
                raise InvariantBroken(f"{moment}, and {key} is {items.get(key)} in place of {value}")


def read_items(brokers: Iterable[SimulatedBroker], servers: Iterable[SimulatedNameServer]) -> Items:
    items: Items = {}
    for broker in brokers:
        model, name = broker.model, broker.spec.broker_name
        for topic, config in model.topic_table.configs.items():
            if topic not in model.topic_table.reserved_names:
                # Brokers order the topics that have an order configuration, and those of the fleet do not.
                items[name, Section.TOPICS, topic] = {**config, "order": None}
        for group, config in model.group_table.configs.items():
            if group not in SYSTEM_GROUPS:
                items[name, Section.GROUPS, group] = config
        for topic, modes in model.consume_modes.items():
            for group, mode in modes.items():
                items[name, Section.CONSUME_MODES, f"{topic} {group}"] = mode
        for user in json.loads(model.user_table.list_users({}) or b"[]"):
            items[name, Section.USERS, user["username"]] = user
        for acl in json.loads(model.user_table.list_acls({}) or b"[]"):
            items[name, Section.ACLS, acl["subject"]] = acl["policies"]
    for server in servers:
        for namespace, table in server.state.kv_config.tables_by_namespace.items():
            section = Section.ORDER_CONF if namespace == _ORDER else Section.KV
            for key, value in table.items():
                items[server.addr, section, f"{namespace} {key}"] = value
    return items


def fill(brokers: Iterable[SimulatedBroker], servers: Iterable[SimulatedNameServer], now_ms: int) -> None:
    """Create the items that a restore or a transfer has."""
    for broker in brokers:
        model = broker.model
        for number, topic in enumerate(_TOPICS, 1):
            config = make_topic_config(topic, number, 4 if number == 2 else 6, is_ordered=topic == "billing")
            model.topic_table.put_config(config, now_ms)
        for group in _GROUPS:
            model.group_table.put_config({"groupName": group, "retryMaxTimes": 7}, now_ms)
        for user in _USERS:
            model.user_table.create_user({"username": user}, b'{"password":"p1","userType":"Normal"}')
        entries = [{"resource": "Topic:billing", "actions": ["Pub"], "decision": "Allow"}]
        policies = [{"policyType": "Custom", "entries": entries}]
        model.user_table.put_acl(json.dumps({"subject": "User:alice", "policies": policies}).encode())
        model.consume_modes["billing"] = {
            "bills": {
                "topic": "billing", "consumerGroup": "bills", "mode": "POP", "popShareQueueNum": 0,
            }
        }  # fmt: skip
        broker.register_topics()
    for server in servers:
        server.state.kv_config.put_value(_ORDER, "billing", "broker-a:2;broker-b:2")
        server.state.kv_config.put_value(_APP, "limit", "10")


class RestoreRun(MetadataRun):
    """A backup of the cluster is restored into it."""

    command_line: ClassVar = "backup restore c.nsbackup.zip"

    def prepare(self) -> None:
        cluster, world = self.cluster, self.world
        fill(cluster.masters, cluster.name_servers.values(), world.true_ms)
        world.pass_time(HEARTBEAT_MS)
        admin = self.make_admin()
        self._backup = observe_backup(
            admin, CLUSTER, world.clock_ms, (_APP,), with_secrets=True, sections=_SECTIONS
        )
        self.wanted = self.read_items()
        self.change_items()

    def run_command(self, *, is_dry_run: bool = False) -> tuple[list[RestoreOutcome], Sequence[str]]:
        selected = select_backup(self._backup, RestoreScope(CLUSTER, _SECTIONS))
        restore = Restore(self.make_admin(), selected, is_dry_run=is_dry_run, overwrites_offsets=False)
        return list(restore.restore_all()), ()


class TransferRun(MetadataRun):
    """The metadata of another cluster, `source`, is transferred into the cluster."""

    command_line: ClassVar = "transfer topics,groups,acl --from source --to target"

    def __init__(self, seed: int, faults: list[Fault]) -> None:
        super().__init__(seed, faults)
        cluster, world = self.cluster, self.world
        server = SimulatedNameServer(world, "10.1.0.1:9876", is_old=False)
        self._source_servers = {server.addr: server}
        self._sources = [
            ReleasedBroker(world, BrokerSpec("S", name, 0), f"10.1.1.{n}:10911", self._source_servers)
            for n, name in enumerate((BROKER, "broker-b"), 1)
        ]
        cluster.network = Network(
            world,
            {**cluster.name_servers, **self._source_servers},
            {**cluster.brokers, **{broker.addr: broker for broker in self._sources}},
        )

    def prepare(self) -> None:
        now_ms = self.world.true_ms
        for server in self._source_servers.values():
            server.start()
        for broker in self._sources:
            broker.start(self.world.random.randint(1, HEARTBEAT_MS))
        fill(self._sources, self._source_servers.values(), now_ms)
        if self.random.random() < 0.7:
            fill(self.cluster.masters, self.cluster.name_servers.values(), now_ms)
            self.change_items()
        items = read_items(self._sources, ())
        confs = {
            (addr, Section.ORDER_CONF, f"{_ORDER} billing"): "broker-a:2;broker-b:2"
            for addr in self.cluster.name_servers
        }
        self.wanted = items | confs
        self.world.pass_time(HEARTBEAT_MS)

    def run_command(self, *, is_dry_run: bool = False) -> tuple[list[RestoreOutcome], Sequence[str]]:
        source = AdminClient(self._source_servers, pool=self.cluster.network.pool, access=Access())
        scope = MetadataScope(_SECTIONS - {Section.KV})
        transfer = MetadataTransfer(source, self.make_admin(), scope, lambda: self.world.clock_ms)
        outcomes = list(transfer.run(is_dry_run=is_dry_run))
        return outcomes, transfer.source_backup.remarks
