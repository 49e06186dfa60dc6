"""Records to JSON values and back."""

import json

import pytest

from nsadmin.operations.backups.json_form import broker_record, cluster_record, parse_backup
from tests.support.cluster_backups import BACKUP, BROKER


def test_everything_but_passwords_comes_back_from_json() -> None:
    cluster, broker = (
        json.loads(json.dumps(cluster_record(BACKUP))),
        json.loads(json.dumps(broker_record(BROKER))),
    )
    parsed = parse_backup(cluster, [broker])
    assert parsed.brokers["broker-a"].users[0].password is None
    assert parsed.brokers["broker-a"].accounts[0].secret_key is None
    broker_with_secrets = parsed.brokers["broker-a"]._replace(users=BROKER.users, accounts=BROKER.accounts)
    assert broker_with_secrets == BROKER
    assert parsed._replace(brokers=BACKUP.brokers) == BACKUP


def test_a_file_with_only_the_names_of_static_topics_is_read() -> None:
    broker = {**broker_record(BROKER), "staticTopics": ["moved"]}
    assert parse_backup(cluster_record(BACKUP), [broker]).brokers["broker-a"].static_topics == {"moved": None}


def test_a_missing_member_is_an_error() -> None:
    broker = broker_record(BROKER)
    del broker["offsets"]
    with pytest.raises(KeyError):
        parse_backup(cluster_record(BACKUP), [broker])
