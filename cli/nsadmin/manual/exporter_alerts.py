"""docs/monitoring/exporter-alerts.yml: alert rules for Prometheus about the metrics of `nsadmin exporter`."""

import re
from typing import NamedTuple

from namesrv_core.protocol.frame import MAX_FRAME_BYTES
from nsadmin.operations.checks.check_table import find_check
from nsadmin.operations.checks.findings import CheckMeasure
from nsadmin.operations.exporter.metric_registry import METRICS_BY_NAME

JOB_NAME = "rocketmq"
"""The job under which the rules and the dashboard expect the exporter."""
_METRIC_PATTERN = re.compile(r"\bnsadmin_\w+")


class AlertRule(NamedTuple):
    """An alert. `action` says what the operator should do."""

    name: str
    expression: str
    pending_time: str
    severity: str
    summary: str
    action: str


def _find_measure(check_name: str, measure_name: str) -> CheckMeasure:
    [measure] = [item for item in find_check(check_name).measures if item.name == measure_name]
    return measure


_REGISTRATION_PERCENT = int(_find_measure("registrationSize", "largest").critical or 0)
_DRAIN_SECONDS = _find_measure("drain", "oldest").warning
ALERT_RULES = (
    AlertRule(
        "RocketMQExporterDown",
        f'up{{job="{JOB_NAME}"}} == 0',
        "2m",
        "critical",
        "nsadmin exporter {{ $labels.instance }} does not answer",
        "Start it. Until then, no other alert of this group can fire.",
    ),
    AlertRule(
        "RocketMQNameServerDown",
        "nsadmin_namesrv_up == 0",
        "1m",
        "critical",
        "Name server {{ $labels.namesrv }} does not answer",
        "Start it. Clients use the others; if all are down, they keep the routes that they have.",
    ),
    AlertRule(
        "RocketMQBrokerDown",
        "nsadmin_broker_up == 0",
        "1m",
        "critical",
        "Broker {{ $labels.broker }} ({{ $labels.id }}) of {{ $labels.cluster }} does not answer",
        "nsadmin brokerStatus shows the error. A frozen broker keeps its connections; its clients time out.",
    ),
    AlertRule(
        "RocketMQBrokerWithoutMaster",
        "max by (context, cluster) (nsadmin_namesrv_listed_broker_groups_without_master) > 0",
        "3m",
        "critical",
        "{{ $value }} broker names of {{ $labels.cluster }} have no master",
        "Producers cannot send to their queues. Start the master, or let a slave take over.",
    ),
    AlertRule(
        "RocketMQProxyDown",
        "nsadmin_proxy_up == 0",
        "2m",
        "critical",
        "Proxy {{ $labels.proxy }} of {{ $labels.cluster }} does not answer",
        "nsadmin proxy list shows the error. Clients of this proxy cannot send or receive.",
    ),
    AlertRule(
        "RocketMQNameServersDiffer",
        'nsadmin_namesrv_differences{state="drift"} > 0',
        "5m",
        "warning",
        "Name servers have {{ $value }} differences",
        "nsadmin divergence shows which, since when, and the cause.",
    ),
    AlertRule(
        "RocketMQDiskFilling",
        "nsadmin_broker_commit_log_disk_used_ratio > 0.8",
        "10m",
        "warning",
        "The disk of {{ $labels.broker }} ({{ $labels.id }}) is {{ $value | humanizePercentage }} full",
        "Brokers delete expired files from 75 % on. Shorten fileReservedTime, or enlarge the disk.",
    ),
    AlertRule(
        "RocketMQDiskFull",
        "nsadmin_broker_commit_log_disk_used_ratio > 0.88",
        "1m",
        "critical",
        "The disk of {{ $labels.broker }} ({{ $labels.id }}) is {{ $value | humanizePercentage }} full",
        "At 90 % the broker refuses messages. Drain it, or delete files: nsadmin deleteExpiredCommitLog.",
    ),
    AlertRule(
        "RocketMQSlaveBehind",
        f"nsadmin_broker_slave_distance_bytes > {256 * 1024**2}",
        "5m",
        "warning",
        "Slave {{ $labels.broker }} ({{ $labels.id }}) lacks {{ $value | humanize1024 }}B of its master",
        "nsadmin haStatus shows the transfer. Do not stop the master: these messages would be lost.",
    ),
    AlertRule(
        "RocketMQSendsWait",
        'nsadmin_broker_request_wait_seconds{pool="send"} > 0.1',
        "2m",
        "warning",
        "Producers of {{ $labels.broker }} wait {{ $value | humanizeDuration }} for a thread",
        "At 0.2 s the broker refuses messages (TIMEOUT_CLEAN_QUEUE). Check its disk and its load.",
    ),
    AlertRule(
        "RocketMQRegistrationNearLimit",
        f"nsadmin_broker_registration_bytes > {_REGISTRATION_PERCENT * MAX_FRAME_BYTES // 100}",
        "10m",
        "warning",
        "The registration of {{ $labels.broker }} has {{ $value | humanize1024 }}B",
        "At 16 MiB name servers close the connection, and the broker leaves all routes.",
    ),
    AlertRule(
        "RocketMQGroupLags",
        "max by (context, cluster, group, topic) (nsadmin_group_lag_seconds) > 600",
        "5m",
        "warning",
        "{{ $labels.group }} is {{ $value | humanizeDuration }} behind on {{ $labels.topic }}",
        "nsadmin consumerProgress and consumerStatus show the queues and the clients.",
    ),
    AlertRule(
        "RocketMQGroupWithoutConsumers",
        "sum by (context, cluster, group) (nsadmin_group_lag_messages) > 0 and nsadmin_group_clients == 0",
        "5m",
        "warning",
        "{{ $value }} messages wait for {{ $labels.group }}, and no consumer is connected",
        "Start the consumers. Delete the group if it is no longer used: nsadmin deleteSubGroup.",
    ),
    AlertRule(
        "RocketMQDeadLetters",
        "sum by (context, cluster, group) (delta(nsadmin_group_dead_letters[15m])) > 0",
        "0m",
        "warning",
        "{{ $labels.group }} has {{ $value | humanize }} new dead letters",
        "nsadmin dlq show prints them, and nsadmin dlq replay delivers them again.",
    ),
    AlertRule(
        "RocketMQDrainOpen",
        f"time() - nsadmin_drain_start_time_seconds > {_DRAIN_SECONDS}",
        "0m",
        "warning",
        "The drain of {{ $labels.broker }} has been open for {{ $value | humanizeDuration }}",
        "nsadmin undrain restores the permissions.",
    ),
    AlertRule(
        "RocketMQDrainUnreadable",
        "nsadmin_drains_unreadable > 0",
        "0m",
        "warning",
        "{{ $value }} saved drains cannot be read, so their brokers may still be drained",
        "nsadmin drainStatus names the files: restore them, or move their folders away.",
    ),
    AlertRule(
        "RocketMQReadsUnfinished",
        "nsadmin_pass_unfinished_servers > 0",
        "10m",
        "warning",
        "The exporter does not finish its pass over {{ $labels.pass }}",
        "nsadmin_scrape_age_seconds shows which figures are old. Raise --rate, or the interval of the pass.",
    ),
    AlertRule(
        "RocketMQSeriesLeftOut",
        "sum by (instance) (nsadmin_series_left_out) > 0",
        "10m",
        "warning",
        "The exporter leaves out {{ $value }} series",
        "Select topics and groups with --include and --exclude, or raise --max-series.",
    ),
)


def render_alert_rules() -> str:
    """Render the rules as YAML. Raises KeyError for a metric that is not in the registry."""
    lines = [
        "# Alert rules for the metrics of `nsadmin exporter`, rendered from the registry of metrics.",
        f"# Scrape the exporter as the job {JOB_NAME}. nsadmin guide export-metrics shows how.",
        "groups:",
        "  - name: nsadmin-exporter",
        "    rules:",
    ]
    for rule in ALERT_RULES:
        for metric_name in _METRIC_PATTERN.findall(rule.expression):
            METRICS_BY_NAME[metric_name]
        lines += [
            f"      - alert: {rule.name}",
            "        expr: |",
            f"          {rule.expression}",
            f"        for: {rule.pending_time}",
            f"        labels: {{severity: {rule.severity}}}",
            "        annotations:",
            f'          summary: "{rule.summary}"',
            f'          description: "{rule.action}"',
        ]
    return "\n".join(lines) + "\n"
