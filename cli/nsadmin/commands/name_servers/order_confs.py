"""Owns updateOrderConf, which shows, writes or deletes a topic's order configuration on name servers."""

from typing import Annotated

from typer import Argument

from namesrv_core.errors import TopicNotExist
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import ServerResult
from nsadmin.client.name_servers.order_confs import parse_order_conf
from nsadmin.client.results import is_not_found
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.changes import (
    CHANGE_RESULT_COLUMNS,
    CHANGE_RESULT_IN_TABLE,
    change_cells,
    forgive_missing,
    rows_per_name_server,
)
from nsadmin.commands.columns.result_rows import outcome_cells, rows_per_server
from nsadmin.commands.procedures.drain_warnings import warn_of_drains
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

ORDER_CONF_COLUMNS = ("namesrvAddr", "topic", "orderConf", "result", "error")
ORDER_CONF_CHANGE_COLUMNS = ("namesrvAddr", "topic", *CHANGE_RESULT_COLUMNS)
ORDER_CONF_DELETION_COLUMNS = ("namesrvAddr", "brokerAddr", "topic", *CHANGE_RESULT_COLUMNS)


@command(columns=(*ORDER_CONF_COLUMNS, *ORDER_CONF_CHANGE_COLUMNS, *ORDER_CONF_DELETION_COLUMNS))
def update_order_conf(
    session: Session,
    topic: Annotated[str, Argument(metavar="TOPIC", help="Name of a topic."), Flags("-t", "--topic")],
    method_name: Annotated[
        str, Argument(metavar="get|put|delete", help="get, put or delete."), Flags("-m", "--method")
    ],
    order_conf: Annotated[
        str | None,
        Argument(metavar="CONF", help="For put: queues by broker, as broker-a:4;broker-b:8."),
        Flags("-v", "--orderConf"),
    ],
) -> ResultRows:
    """Show, write or delete a topic's order configuration on every name server.

    It names the brokers with the topic's ordered messages, and the number of queues on each. put replaces all
    of it. Clients receive it with the route, but only from name servers with orderMessageEnable=true. Off a
    terminal, delete needs --yes.

    A 5.x broker keeps a topic ordered without its order configuration. So delete also removes the order flag
    from the topic on every master, with a row for each.

    Examples:
        # Show it
        nsadmin updateOrderConf orders get
        # Write it, with 8 queues on each of two brokers
        nsadmin updateOrderConf orders put "broker-a-0:8;broker-a-1:8" --yes
        # Delete it
        nsadmin updateOrderConf orders delete --yes
    """
    conf_admin = session.admin.order_confs
    servers_text = ", ".join(session.admin.addresses.addrs)
    if method_name == "get":
        return _add_unused_notes(
            session,
            rows_per_server(
                ORDER_CONF_COLUMNS, {"topic": topic}, conf_admin.get_each(topic), "orderConf", "found"
            ),
        )
    if method_name not in ("put", "delete"):
        raise UsageError(f'unknown method "{method_name}": use get, put or delete')
    session.require_writable(f"updateOrderConf {method_name}")
    done_word = "dry-run" if session.is_dry_run else "done"
    if method_name == "put":
        conf_text = _require_order_conf(order_conf)
        session.confirm_change(f"Write the order configuration {conf_text} of {topic} on {servers_text}?")
        results_before = conf_admin.get_each(topic)
        write_results = (
            [_plan_write(conf_result, conf_text) for conf_result in results_before]
            if session.is_dry_run
            else conf_admin.put_conf(topic, conf_text)
        )
        return _add_unused_notes(
            session, rows_per_name_server({"topic": topic}, results_before, write_results, done_word)
        )
    session.require_yes("updateOrderConf delete")
    session.confirm_change(f"Delete the order configuration of {topic} on {servers_text}?")
    return _delete_order_conf(session, topic, done_word)


def _delete_order_conf(session: Session, topic: str, done_word: str) -> ResultRows:
    conf_admin = session.admin.order_confs
    results_before = conf_admin.get_each(topic) if session.is_dry_run else conf_admin.delete_conf(topic)
    delete_results = [
        ServerResult[str](namesrv_addr, None, error) for namesrv_addr, _, error in results_before
    ]
    conf_rows = forgive_missing(
        _add_unused_notes(
            session, rows_per_name_server({"topic": topic}, results_before, delete_results, done_word)
        )
    )._replace(columns=ORDER_CONF_DELETION_COLUMNS)
    if not any(conf_rows.errors):
        return _add_order_flag_rows(session, conf_rows, topic, done_word)
    if None not in conf_rows.errors:
        return conf_rows
    kept_note = "skipped, because a name server may still have the order configuration"
    return conf_rows._replace(notes=[*conf_rows.notes, kept_note])


def _add_order_flag_rows(session: Session, conf_rows: ResultRows, topic: str, done_word: str) -> ResultRows:
    """Take the flag `order` from the topic on the masters of its route, and add a row for each of them."""
    config_admin, topic_patch = session.admin.topic_configs, TopicPatch(order=False)
    try:
        queue_routes = session.admin.topics.get_route(topic).queues
    except TopicNotExist:
        return conf_rows
    master_addrs = [
        queue_route.broker_addrs[MASTER_BROKER_ID] for queue_route in queue_routes if queue_route.has_master
    ]
    due_changes = [
        planned_change
        for planned_change in config_admin.plan_update(master_addrs, topic, topic_patch, create=False)
        if planned_change.is_change
    ]
    warn_of_drains(session, (due_change.broker_name for due_change in due_changes))
    if not session.is_dry_run:
        due_changes = config_admin.apply_changes(due_changes, topic_patch)
    flag_rows: list[ResultRow] = [
        {
            "brokerAddr": due_change.broker_addr,
            "topic": topic,
            **change_cells({"order": True}, {"order": False}),
            **outcome_cells(due_change.error, done_word),
        }
        for due_change in due_changes
    ]
    return conf_rows._replace(
        rows=[*conf_rows.rows, *flag_rows],
        errors=[*conf_rows.errors, *(due_change.error for due_change in due_changes)],
        table_columns=("namesrvAddr", "brokerAddr", "topic", *CHANGE_RESULT_IN_TABLE)
        if flag_rows
        else conf_rows.table_columns,
    )


def _plan_write(conf_result: ServerResult[str], conf_text: str) -> ServerResult[str]:
    if conf_result.error is None or is_not_found(conf_result.error):
        return ServerResult(conf_result.addr, conf_text, None)
    return conf_result


def _require_order_conf(order_conf: str | None) -> str:
    if order_conf is None:
        raise UsageError("missing argument CONF: run nsadmin updateOrderConf TOPIC put CONF")
    try:
        parse_order_conf(order_conf)
    except ValueError as error:
        raise UsageError(f"invalid order configuration: {error}") from error
    return order_conf


def _add_unused_notes(session: Session, conf_rows: ResultRows) -> ResultRows:
    """Add a note for each name server that does not send order configurations to clients."""
    if session.is_dry_run or None not in conf_rows.errors:
        return conf_rows
    unused_addrs = session.admin.order_confs.find_servers_without()
    unused_notes = [
        f"name server {namesrv_addr} does not send it to clients: orderMessageEnable is false"
        for namesrv_addr in unused_addrs
    ]
    failure_count = sum(error is not None for error in conf_rows.errors)
    if unused_notes and failure_count:
        unused_notes.append(f"failed on {failure_count} of {len(conf_rows.errors)} servers")
    return conf_rows._replace(notes=unused_notes)
