"""The defaults of a file are those of what mqadmin makes."""

from nsadmin.client.consumers.groups import NEW_GROUP_SETTINGS
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.operations.plans.fields import CLUSTER_FIELDS, GROUP_SETTINGS, TOPIC_SETTINGS


def test_a_topic_without_settings_is_one_that_was_created_without_any() -> None:
    new = BrokerTopicConfig("T")
    assert TOPIC_SETTINGS.default_values == {
        "readQueueNums": new.read_queue_nums,
        "writeQueueNums": new.write_queue_nums,
        "perm": new.perm,
        "order": new.order,
        "topicFilterType": new.topic_filter_type,
        "topicSysFlag": new.topic_sys_flag,
        "attributes": dict(new.attributes),
    }


def test_a_group_without_settings_is_one_that_was_created_without_any() -> None:
    assert {name: GROUP_SETTINGS.default_values[name] for name in NEW_GROUP_SETTINGS} == dict(
        NEW_GROUP_SETTINGS
    )


def test_each_field_says_what_it_is() -> None:
    fields = (*CLUSTER_FIELDS.fields, *TOPIC_SETTINGS.fields, *GROUP_SETTINGS.fields)
    assert [field.key for field in fields if not field.meaning] == []
