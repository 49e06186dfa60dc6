"""The metrics of rocketmq-exporter, which --compat adds: names, labels and help as in RMQMetricsCollector.

Three of its metrics never have a series there either: see NEVER_FILLED.
"""

from nsadmin.operations.exporter.figures import MetricDefinition

RUNTIME_LABELS = ("cluster", "brokerIP", "brokerHost", "des", "boottime", "broker_version")
NUMBER_FIGURES = (
    ("msg_put_total_today_now", "msgPutTotalTodayNow"),
    ("msg_gettotal_today_now", "msgGetTotalTodayNow"),
    ("dispatch_behind_bytes", "dispatchBehindBytes"),
    ("put_message_size_total", "putMessageSizeTotal"),
    ("put_message_average_size", "putMessageAverageSize"),
    ("query_threadpool_queue_capacity", "queryThreadPoolQueueCapacity"),
    ("remain_transientstore_buffer_numbs", "remainTransientStoreBufferNumbs"),
    ("earliest_message_timestamp", "earliestMessageTimeStamp"),
    ("putmessage_entire_time_max", "putMessageEntireTimeMax"),
    ("start_accept_sendrequest_time", "startAcceptSendRequestTimeStamp"),
    ("send_threadpool_queue_size", "sendThreadPoolQueueSize"),
    ("putmessage_times_total", "putMessageTimesTotal"),
    ("getmessage_entire_time_max", "getMessageEntireTimeMax"),
    ("pagecache_lock_time_mills", "pageCacheLockTimeMills"),
    ("commitlog_disk_ratio", "commitLogDiskRatio"),
    ("consumequeue_disk_ratio", "consumeQueueDiskRatio"),
    ("dispatch_maxbuffer", "dispatchMaxBuffer"),
    ("pull_threadpoolqueue_capacity", "pullThreadPoolQueueCapacity"),
    ("send_threadpoolqueue_capacity", "sendThreadPoolQueueCapacity"),
    ("pull_threadpoolqueue_size", "pullThreadPoolQueueSize"),
    ("query_threadpoolqueue_size", "queryThreadPoolQueueSize"),
    ("pull_threadpoolqueue_headwait_timemills", "pullThreadPoolQueueHeadWaitTimeMills"),
    ("query_threadpoolqueue_headwait_timemills", "queryThreadPoolQueueHeadWaitTimeMills"),
    ("send_threadpoolqueue_headwait_timemills", "sendThreadPoolQueueHeadWaitTimeMills"),
    ("msg_gettotal_yesterdaymorning", "msgGetTotalYesterdayMorning"),
    ("msg_puttotal_yesterdaymorning", "msgPutTotalYesterdayMorning"),
    ("msg_gettotal_todaymorning", "msgGetTotalTodayMorning"),
    ("msg_puttotal_todaymorning", "msgPutTotalTodayMorning"),
    ("commitlog_maxoffset", "commitLogMaxOffset"),
    ("commitlog_minoffset", "commitLogMinOffset"),
    ("put_latency_99", "putLatency99"),
    ("put_latency_999", "putLatency999"),
)
"""The end of the metric's name, and the key of the broker's runtime table."""
RATE_FIGURES = (
    ("getfound", ("getFoundTps",)),
    ("gettotal", ("getTotalTps",)),
    ("gettransfered", ("getTransferredTps", "getTransferedTps")),
    ("getmiss", ("getMissTps",)),
    ("put", ("putTps",)),
)
"""The middle of the metric's name, and the keys of the table; 4.x spells one of them otherwise."""
RATE_WINDOWS = ("10", "60", "600")
SIZE_FIGURES = (("remain_howmanydata_toflush", "remainHowManyDataToFlush"),)
CAPACITY_FIGURES = (("commitlogdir_capacity_total", "Total"), ("commitlogdir_capacity_free", "Free"))
LATENCY_BUCKETS = (
    ("pmdt_0ms", "<=0ms"),
    ("pmdt_0to10ms", "0~10ms"),
    ("pmdt_10to50ms", "10~50ms"),
    ("pmdt_50to100ms", "50~100ms"),
    ("pmdt_100to200ms", "100~200ms"),
    ("pmdt_200to500ms", "200~500ms"),
    ("pmdt_500to1s", "500ms~1s"),
    ("pmdt_1to2s", "1~2s"),
    ("pmdt_2to3s", "2~3s"),
    ("pmdt_3to4s", "3~4s"),
    ("pmdt_4to5s", "4~5s"),
    ("pmdt_5to10s", "5~10s"),
    ("pmdt_10stomore", "10s~"),
)
RUNTIME_PREFIX = "rocketmq_brokeruntime_"

_GROUP_DIFF_LABELS = ("group", "topic", "countOfOnlineConsumers", "msgModel")
_BROKER_LABELS = ("cluster", "brokerIP", "broker")
_TOPIC_LABELS = ("cluster", "broker", "topic")
_GROUP_LABELS = ("cluster", "broker", "topic", "group")
_PLAIN_METRICS = (
    ("rocketmq_broker_tps", "BrokerPutNums", _BROKER_LABELS),
    ("rocketmq_broker_qps", "BrokerGetNums", _BROKER_LABELS),
    ("rocketmq_broker_commitlog_diff", "brokerCommitLogDiffGauge", _BROKER_LABELS),
    ("rocketmq_group_diff", "GroupDiff", _GROUP_DIFF_LABELS),
    ("rocketmq_group_retrydiff", "GroupRetryDiff", _GROUP_DIFF_LABELS),
    ("rocketmq_group_count", "GroupCount", ("caddr", "localaddr", "group")),
    ("rocketmq_producer_count", "producer instance counter", ("cluster", "broker", "group")),
    ("rocketmq_producer_offset", "TopicOffset", _TOPIC_LABELS),
    ("rocketmq_topic_retry_offset", "TopicRetryOffset", _TOPIC_LABELS),
    ("rocketmq_topic_dlq_offset", "TopicRetryOffset", ("cluster", "broker", "group")),
    ("rocketmq_producer_tps", "TopicPutNums", _TOPIC_LABELS),
    ("rocketmq_producer_message_size", "TopicPutMessageSize", _TOPIC_LABELS),
    ("rocketmq_consumer_tps", "GroupGetNums", _GROUP_LABELS),
    ("rocketmq_consumer_message_size", "GroupGetMessageSize", _GROUP_LABELS),
    ("rocketmq_send_back_nums", "SendBackNums", _GROUP_LABELS),
    ("rocketmq_consumer_offset", "GroupBrokerTotalOffset", _GROUP_LABELS),
    ("rocketmq_group_get_latency_by_storetime", "GroupGetLatencyByStoreTime", _GROUP_LABELS),
)
CLIENT_LABELS = ("clientAddr", "clientId", "group", "topic")
CLIENT_METRICS = (
    ("rocketmq_client_consume_fail_msg_count", "consumerClientFailedMsgCounts"),
    ("rocketmq_client_consume_fail_msg_tps", "consumerClientFailedTPS"),
    ("rocketmq_client_consume_ok_msg_tps", "consumerClientOKTPS"),
    ("rocketmq_client_consume_rt", "consumerClientRT"),
    ("rocketmq_client_consumer_pull_rt", "consumerClientPullRT"),
    ("rocketmq_client_consumer_pull_tps", "consumerClientPullTPS"),
)
NEVER_FILLED = ("rocketmq_group_dlqdiff", "rocketmq_group_consume_tps", "rocketmq_group_consume_total_offset")
"""Metrics of rocketmq-exporter that have no series there: no code of its master branch sets them."""


def _define_metric(name: str, help_text: str, labels: tuple[str, ...]) -> MetricDefinition:
    return MetricDefinition(name, "gauge", "as rocketmq-exporter", "cluster", "compat", labels, help_text)


COMPAT_METRICS = (
    *(_define_metric(*plain_metric) for plain_metric in _PLAIN_METRICS),
    *(_define_metric(name, help_text, CLIENT_LABELS) for name, help_text in CLIENT_METRICS),
    *(
        _define_metric(f"{RUNTIME_PREFIX}{name}", table_key, RUNTIME_LABELS)
        for name, table_key in (*NUMBER_FIGURES, *SIZE_FIGURES, *CAPACITY_FIGURES, *LATENCY_BUCKETS)
    ),
    *(
        _define_metric(f"{RUNTIME_PREFIX}{name}_tps{window}", f"{table_keys[0]} {window}", RUNTIME_LABELS)
        for name, table_keys in RATE_FIGURES
        for window in RATE_WINDOWS
    ),
)
