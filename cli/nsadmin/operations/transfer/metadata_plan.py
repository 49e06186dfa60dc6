"""Prepares the metadata of one cluster for the brokers and the releases of another. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from nsadmin.client.access.acls import AclEntries
from nsadmin.client.access.users import User
from nsadmin.client.name_servers.order_confs import parse_order_conf
from nsadmin.operations.backups.records import BackupSettings, BrokerBackup, ClusterBackup, Section
from nsadmin.operations.release_faults import has_users, parse_release
from nsadmin.operations.transfer.account_translation import USER_SUBJECT_PREFIX, translate_account

_SETTINGS_SINCE_5 = ("attributes", "groupRetryPolicy", "consumeMessageOrderly")


class MetadataLoss(NamedTuple):
    """Something that the target cannot have, and why. `broker_name` is "" for an order configuration."""

    section: Section
    broker_name: str
    item_name: str
    reason: str


def spread_to_all(backup: ClusterBackup, target_brokers: Iterable[str]) -> ClusterBackup:
    """Return a backup in which every target broker has the items of all source brokers.

    If source brokers have different settings for an item, the first one counts, with the most queues of any.
    """
    sources = list(backup.brokers.values())
    if not sources:
        return backup
    merged = sources[0]._replace(
        topics=_merge_settings(source.topics for source in sources),
        groups=_merge_settings(source.groups for source in sources),
        consume_modes=list({(m.topic, m.group): m for s in sources[::-1] for m in s.consume_modes}.values()),
        users=list({user.username: user for source in sources[::-1] for user in source.users}.values()),
        acls={subject: entries for source in sources[::-1] for subject, entries in source.acls.items()},
        accounts=list({a.access_key: a for source in sources[::-1] for a in source.accounts}.values()),
        white_addrs=list(dict.fromkeys(addr for source in sources for addr in source.white_addrs)),
        static_topics={topic: None for source in sources for topic in source.static_topics},
    )
    return backup._replace(brokers={name: merged._replace(broker_name=name) for name in target_brokers})


def _merge_settings(tables: Iterable[Mapping[str, BackupSettings]]) -> dict[str, BackupSettings]:
    merged_values: dict[str, dict[str, Any]] = {}
    for table in tables:
        for name, settings in table.items():
            merged_settings = merged_values.setdefault(name, dict(settings))
            for queues in ("readQueueNums", "writeQueueNums"):
                if queues in settings:
                    merged_settings[queues] = max(merged_settings[queues], settings[queues])
    return dict(merged_values)


def count_queues(backup: ClusterBackup) -> Counter[str]:
    """Return the write queues of each topic on all brokers."""
    counts: Counter[str] = Counter()
    for broker in backup.brokers.values():
        counts.update({topic: settings["writeQueueNums"] for topic, settings in broker.topics.items()})
    return counts


def translate_order_confs(
    conf_texts: Mapping[str, str], hosts_by_broker: Mapping[str, Collection[str]], backup: ClusterBackup
) -> tuple[dict[str, dict[str, int]], list[MetadataLoss]]:
    """Return the queues by target broker of each ordered topic, and the configurations that name none.

    `hosts_by_broker` has the target brokers for a source broker, and `backup` the topics of each of them.
    Source brokers of other clusters are left out.
    """
    places = {(name, topic) for name, broker in backup.brokers.items() for topic in broker.topics}
    queues_by_topic: dict[str, dict[str, int]] = {}
    losses = []
    for topic, conf_text in conf_texts.items():
        queues: dict[str, int] = {}
        reason = "its order configuration names no broker that gets the topic"
        try:
            for source_broker, count in parse_order_conf(conf_text).items():
                for broker in hosts_by_broker.get(source_broker, ()):
                    if (broker, topic) in places:
                        queues[broker] = max(count, queues.get(broker, 0))
        except ValueError as error:
            reason = f"the order configuration of the source is invalid: {error}"
        if queues:
            queues_by_topic[topic] = queues
        else:
            losses.append(MetadataLoss(Section.ORDER_CONF, "", topic, reason))
    return queues_by_topic, losses


def prepare_metadata(
    backup: ClusterBackup, target_releases: Mapping[str, str | None]
) -> tuple[ClusterBackup, list[MetadataLoss]]:
    """Return the metadata as the release of each target broker, such as "5.5.0", can have it; and the rest.

    `backup` has the names of the target brokers.
    """
    losses: list[MetadataLoss] = []
    brokers = {}
    for broker_name, broker in backup.brokers.items():
        release = target_releases.get(broker_name)
        losses += [
            MetadataLoss(
                Section.STATIC_TOPICS, broker_name, topic, "static topics belong to the brokers of a cluster"
            )
            for topic in broker.static_topics
        ]
        prepared_broker = broker._replace(static_topics={})
        if release is not None and (parse_release(release) or ()) < (5,):
            prepared_broker = _drop_new_settings(prepared_broker, losses)
        if release is not None and not has_users(release):
            prepared_broker = _drop_users(prepared_broker, release, losses)
        elif broker.accounts or broker.white_addrs:
            prepared_broker = _translate_accounts(prepared_broker, losses)
        brokers[broker_name] = prepared_broker
    return backup._replace(brokers=brokers), losses


def _drop_new_settings(broker: BrokerBackup, losses: list[MetadataLoss]) -> BrokerBackup:
    tables = {}
    for section, table in ((Section.TOPICS, broker.topics), (Section.GROUPS, broker.groups)):
        kept_table: dict[str, BackupSettings] = {}
        for name, settings in table.items():
            for setting in ("attributes", "consumeMessageOrderly"):
                if settings.get(setting):
                    losses.append(
                        MetadataLoss(section, broker.broker_name, name, f"4.x brokers have no {setting}")
                    )
            kept_table[name] = {s: value for s, value in settings.items() if s not in _SETTINGS_SINCE_5}
        tables[section] = kept_table
    reason = "4.x brokers have no consume modes"
    losses += [
        MetadataLoss(Section.CONSUME_MODES, broker.broker_name, f"{mode.topic} {mode.group}", reason)
        for mode in broker.consume_modes
    ]
    return broker._replace(topics=tables[Section.TOPICS], groups=tables[Section.GROUPS], consume_modes=[])


def _drop_users(broker: BrokerBackup, release: str, losses: list[MetadataLoss]) -> BrokerBackup:
    reason = f"brokers of {release} have accounts in place of users: see `nsadmin updateAclConfig --help`"
    losses += [
        MetadataLoss(Section.USERS, broker.broker_name, user.username, reason) for user in broker.users
    ]
    return broker._replace(users=[], acls={})


def _translate_accounts(broker: BrokerBackup, losses: list[MetadataLoss]) -> BrokerBackup:
    users: list[User] = [*broker.users]
    acls: dict[str, AclEntries] = dict(broker.acls)
    for account in broker.accounts:
        translated = translate_account(account)
        users.append(translated.user)
        if translated.entries:
            acls[USER_SUBJECT_PREFIX + translated.user.username] = translated.entries
        losses += [
            MetadataLoss(Section.ACCOUNTS, broker.broker_name, account.access_key, loss)
            for loss in translated.losses
        ]
    reason = "4.x trusts this address without a signature, and 5.x trusts no address"
    losses += [
        MetadataLoss(Section.ACCOUNTS, broker.broker_name, addr, reason) for addr in broker.white_addrs
    ]
    return broker._replace(users=users, acls=acls, accounts=[], white_addrs=[])
