"""100, 101, 102, 219."""

from namesrv_core.events import KvDeleted, KvPut
from namesrv_core.protocol.codes import HeaderType
from tests.support.wire import Wire

KEY = {"namespace": "N", "key": "K"}


def test_what_was_put_is_got(form: HeaderType) -> None:
    wire = Wire(form)
    answer = wire.send_request(100, KEY | {"value": "brokerA:8;brokerB:8 é😀"})
    assert (answer.code, answer.remark, answer.ext, answer.body) == (0, None, None, b"")
    assert wire.events == (KvPut("N", "K", None, "brokerA:8;brokerB:8 é😀"),)
    answer = wire.send_request(101, KEY)
    assert (answer.code, answer.ext, answer.body) == (0, {"value": "brokerA:8;brokerB:8 é😀"}, b"")
    assert list(wire.events) == []


def test_what_is_not_there_is_code_22_and_named(form: HeaderType) -> None:
    answer = Wire(form).send_request(101, KEY)
    assert (answer.code, answer.remark) == (22, "No config item, Namespace: N Key: K")
    assert not answer.ext


def test_a_value_that_is_null_is_put_and_not_found(form: HeaderType) -> None:
    wire = Wire(form)
    assert wire.send_request(100, KEY).code == 0
    assert wire.send_request(101, KEY).code == 22
    assert wire.send_request(219, {"namespace": "N"}).body == b'{"table":{}}'


def test_a_put_without_namespace_or_key_is_refused(form: HeaderType) -> None:
    wire = Wire(form)
    for ext in ({"namespace": "N", "value": "v"}, {"key": "K", "value": "v"}):
        answer = wire.send_request(100, ext)
        assert (answer.code, answer.remark) == (1, "namespace or key is null")
    assert wire.state.kv_config.tables_by_namespace == {}


def test_what_was_deleted_is_gone_and_so_is_its_empty_namespace(form: HeaderType) -> None:
    wire = Wire(form)
    wire.send_request(100, KEY | {"value": "v"})
    assert wire.send_request(102, KEY).code == 0
    assert wire.events == (KvDeleted("N", "K", "v"),)
    assert wire.send_request(101, KEY).code == 22
    assert wire.send_request(219, {"namespace": "N"}).code == 22


def test_a_broker_is_still_told_an_empty_table_of_ordered_topics(form: HeaderType) -> None:
    wire = Wire(form)
    assert wire.register_broker("a", "T", "U").body == b""
    ordered = {"namespace": "ORDER_TOPIC_CONFIG", "key": "T"}
    wire.send_request(100, ordered | {"value": "a:8"})
    wire.send_request(102, ordered)
    assert wire.register_broker("a", "T", "U").body == b'{"table":{}}'
    assert wire.send_request(219, {"namespace": "ORDER_TOPIC_CONFIG"}).body == b'{"table":{}}'


def test_deleting_nothing_succeeds(form: HeaderType) -> None:
    wire = Wire(form)
    for ext in (KEY, {"namespace": "N"}, {}):
        assert wire.send_request(102, ext).code == 0
        assert list(wire.events) == []


def test_a_namespace_is_listed(form: HeaderType) -> None:
    wire = Wire(form)
    wire.send_request(100, KEY | {"value": "2"})
    wire.send_request(100, {"namespace": "N", "key": '"', "value": "\x01"})
    answer = wire.send_request(219, {"namespace": "N"})
    assert (answer.code, answer.body) == (0, b'{"table":{"\\"":"\\u0001","K":"2"}}')


def test_a_namespace_that_is_not_there_is_code_22_and_named(form: HeaderType) -> None:
    answer = Wire(form).send_request(219, {"namespace": "q"})
    assert (answer.code, answer.remark, answer.body) == (22, "No config item, Namespace: q", b"")


def test_an_empty_value_survives_where_the_header_carries_one() -> None:
    wire = Wire(HeaderType.JSON)
    wire.send_request(100, KEY | {"value": ""})
    assert wire.send_request(101, KEY).ext == {"value": ""}
