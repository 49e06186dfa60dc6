"""Formats connected clients, settings and clusters as mqadmin's text. Pure."""

from itertools import groupby
from typing import Any

from nsadmin.commands.mqadmin.java_text import CommandArguments, java_text, join_lines
from nsadmin.console.output import ResultRow, ResultRows


def format_topic_cluster_list(rows: ResultRows, arguments: CommandArguments) -> str:
    return join_lines([str(row["clusterName"]) for row in rows.rows])


def format_consumer_connection(rows: ResultRows, arguments: CommandArguments) -> str:
    if not rows.rows:
        return ""
    row_format, subscription_format = "{:<36} {:<22} {:<10} {}", "{:<20} {}"
    client_cells = ("clientId", "clientAddr", "language", "version")
    first_row = rows.rows[0]
    # mqadmin prints the broker's set for the group.
    subscriptions: Any = rows.totals["subscriptions"]
    return join_lines(
        [
            row_format.format("#ClientId", "#ClientAddr", "#Language", "#Version"),
            *(row_format.format(*(java_text(row[cell]) for cell in client_cells)) for row in rows.rows),
            "",
            "Below is subscription:",
            subscription_format.format("#Topic", "#SubExpression"),
            *(subscription_format.format(topic, text) for topic, text in subscriptions.items()),
            "",
            f"ConsumeType: {java_text(first_row['consumeType'])}",
            f"MessageModel: {java_text(first_row['messageModel'])}",
            f"ConsumeFromWhere: {java_text(first_row['consumeFromWhere'])}",
        ]
    )


def format_producer_connection(rows: ResultRows, arguments: CommandArguments) -> str:
    return join_lines(
        [
            f"{row_number:04}  {java_text(row['clientId']):<32} {java_text(row['clientAddr']):<22} "
            f"{java_text(row['language']):<8} {java_text(row['version'])}"
            for row_number, row in enumerate(rows.rows, 1)
        ]
    )


def format_broker_config(rows: ResultRows, arguments: CommandArguments) -> str:
    """With -c, mqadmin prints each master and then its slaves; brokers are sorted by name and id here."""
    text_lines: list[str] = []
    master_addr: Any = None
    for broker_addr, broker_rows in groupby(rows.rows, lambda row: row["brokerAddr"]):
        setting_rows = list(broker_rows)
        if setting_rows[0]["brokerId"] == 0:
            master_addr = broker_addr
        text_lines.append(f"============{_config_title(setting_rows[0], master_addr, arguments)}============")
        text_lines += [f"{row['key']:<50}=  {java_text(row['value'])}" for row in setting_rows]
        text_lines.append("")
    return join_lines(text_lines)


def _config_title(row: ResultRow, master_addr: Any, arguments: CommandArguments) -> str:
    if arguments["cluster_name"] is None:
        return str(row["brokerAddr"])
    if row["brokerId"] == 0:
        return f"Master: {row['brokerAddr']}"
    return f"My Master: {master_addr or 'NO_MASTER'}=====Slave: {row['brokerAddr']}"
