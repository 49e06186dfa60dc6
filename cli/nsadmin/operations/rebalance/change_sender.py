"""Sends the changes of a rebalance to brokers and name servers."""

from collections.abc import Mapping, Sequence
from typing import Any

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client import AdminClient, NotApplied
from nsadmin.client.consumers.committed_offsets import OffsetCommit
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.results import ServerResult, error_text
from nsadmin.client.topics.bulk_changes import DesiredConfig
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.operations.rebalance.rebalance_plan import NO_QUEUES, QueuePair
from nsadmin.operations.rebalance.run_facts import (
    AskRegistration,
    CommitStart,
    CreateGroupOn,
    DeleteTopicOn,
    PutOrderConf,
    PutTopic,
    RunAction,
)


class ChangeSender:
    """Sends changes; `master_addrs` has the masters by broker name."""

    def __init__(self, admin: AdminClient, master_addrs: Mapping[str, str]) -> None:
        self._admin = admin
        self._master_addrs = master_addrs

    def send_change(self, action: RunAction) -> str | None:
        """Send one change; return its error, None for a success."""
        try:
            match action:
                case PutTopic():
                    self._put_topic(action)
                case PutOrderConf(topic, ""):
                    _require_success(self._admin.order_confs.delete_conf(topic))
                case PutOrderConf(topic, order_conf):
                    _require_success(self._admin.order_confs.put_conf(topic, order_conf))
                case CommitStart():
                    self._commit_start(action)
                case CreateGroupOn():
                    self._create_group(action)
                case DeleteTopicOn():
                    self._delete_topic(action)
                case AskRegistration(_, broker):
                    self._admin.broker_configs.force_registration(self._master_addrs[broker]).value()
        except RocketMQError as error:
            return error_text(error)
        return None

    def _put_topic(self, action: PutTopic) -> None:
        brokers = [action.broker, *action.models]
        addrs = [self._master_addrs[broker] for broker in brokers if broker in self._master_addrs]
        results = self._admin.topic_configs.get_each(addrs, action.topic)
        own_result = results[0]
        if own_result.error is not None and not isinstance(own_result.error, TopicNotExist):
            raise own_result.error
        if own_result.result is not None:
            _refuse_other_queues(own_result.result, action, (action.present, action.queues))
        model = own_result.result or next(
            (result.result._replace(perm=action.perm) for result in results if result.result is not None),
            None,
        )
        if model is None:
            raise NotApplied(f"no broker has the settings of {action.topic}")
        own_attributes = own_result.result.attributes if own_result.result else ()
        desired_config = _desired_topic(action, model, new_attributes=own_attributes != model.attributes)
        _require_success(self._admin.bulk.put_topics([(self._master_addrs[action.broker], [desired_config])]))

    def _delete_topic(self, action: DeleteTopicOn) -> None:
        addr = self._master_addrs[action.broker]
        (config,) = self._admin.topic_configs.get_each([addr], action.topic)
        _refuse_other_queues(config.value(), action, (NO_QUEUES,))
        _require_success(self._admin.bulk.delete_topics([(addr, action.topic)]))

    def _commit_start(self, action: CommitStart) -> None:
        addr = self._master_addrs[action.broker]
        queues = [MessageQueue(action.topic, action.broker, queue_id) for queue_id in action.queue_ids]
        end_offsets = self._admin.queue_progress.get_end_offsets([(addr, queue) for queue in queues])
        commits = []
        for queue, end_offset in zip(queues, end_offsets, strict=True):
            if isinstance(end_offset, RocketMQError):
                raise end_offset
            commits.append(OffsetCommit(addr, action.group, queue, end_offset))
        _require_success(self._admin.queue_progress.commit_offsets(commits))

    def _create_group(self, action: CreateGroupOn) -> None:
        """Create the group with all settings that another broker has, including unknown ones."""
        brokers = [broker for broker in sorted(self._master_addrs) if broker != action.broker]
        tables = self._admin.bulk.list_groups([self._master_addrs[broker] for broker in brokers])
        group_config: Mapping[str, Any] | None = next(
            (table.result[action.group] for table in tables if table.result and action.group in table.result),
            None,
        )
        if group_config is None:
            raise NotApplied(f"no other broker has the group {action.group}")
        attributes = group_config.get("attributes") or {}
        desired_config = DesiredConfig(
            {key: value for key, value in group_config.items() if value is not None and key != "attributes"},
            {f"+{key}": value for key, value in attributes.items()},
        )
        _require_success(self._admin.bulk.put_groups([(self._master_addrs[action.broker], [desired_config])]))


def _desired_topic(action: PutTopic, model: BrokerTopicConfig, *, new_attributes: bool) -> DesiredConfig:
    wire_config = {
        "topicName": action.topic,
        "readQueueNums": action.queues.read,
        "writeQueueNums": action.queues.write,
        "perm": model.perm,
        "topicFilterType": model.topic_filter_type,
        "topicSysFlag": model.topic_sys_flag,
        "order": model.order if action.is_ordered is None else action.is_ordered,
    }
    attributes = {f"+{key}": value for key, value in model.attributes} if new_attributes else {}
    return DesiredConfig(wire_config, attributes)


def _refuse_other_queues(
    config: BrokerTopicConfig, action: PutTopic | DeleteTopicOn, expected: Sequence[QueuePair]
) -> None:
    """Refuse to undo what another operator has changed since the observation."""
    if (config.read_queue_nums, config.write_queue_nums) not in expected:
        raise NotApplied(f"{action.topic} has changed on {action.broker} meanwhile")


def _require_success(results: Sequence[ServerResult[Any]]) -> None:
    for server_result in results:
        server_result.value()
