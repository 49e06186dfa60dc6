"""Secrets never reach a bundle."""

import json

import pytest

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.bundles.answer_table import Outcome, RecordedAnswer, RecordedFailure, RequestKey
from nsadmin.client.results import NotApplied
from nsadmin.operations.bundles.redaction import Redactor
from tests.support.bundles import json_answer, request_key


def redact(outcome: Outcome, key: RequestKey, *known_secrets: str) -> RecordedAnswer:
    redacted = Redactor(known_secrets).redact_tables({"h:1": {key: outcome}})["h:1"][key]
    assert isinstance(redacted, RecordedAnswer)
    return redacted


def answer(body: str, **ext: str) -> RecordedAnswer:
    return RecordedAnswer(0, ext or None, body.encode(), None, 513)


SETTINGS = request_key(RequestCode.GET_BROKER_CONFIG)
JSON = request_key(RequestCode.AUTH_LIST_USER)


@pytest.mark.parametrize(
    ("line", "redacted"),
    [
        ("tls.client.keyPassword=hunter2", "tls.client.keyPassword=***"),
        ("brokerName=broker-a", "brokerName=broker-a"),
        ("accessKey=", "accessKey="),
        (
            'initAuthenticationUser={"username":"u","password":"pp"}',
            'initAuthenticationUser={"username":"u","password":"***"}',
        ),
        ("store=jdbc:mysql://root:hunter2@db:3306/x", "store=jdbc:mysql://***@db:3306/x"),
        ("opts=--secretKey=abc --more", "opts=--secretKey=***"),
        ("flag=a=b", "flag=a=b"),
        ('accounts=[{"name":"u","secretKey":"x"}]', 'accounts=[{"name":"u","secretKey":"***"}]'),
        ("kept=[1] password=x y", "kept=[1] password=***"),
        ("kept={1 password=x y}", "kept={1 password=***"),
        ("key=-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "key=***"),
    ],
)
def test_settings_with_secrets_are_hidden(line: str, redacted: str) -> None:
    assert redact(answer(f"a=1\n{line}\nz=2"), SETTINGS).body.decode() == f"a=1\n{redacted}\nz=2"


@pytest.mark.parametrize(
    ("body", "redacted"),
    [
        (
            '[{"username":"u","password":"pp","userType":"Super"}]',
            '[{"username":"u","password":"***","userType":"Super"}]',
        ),
        ('{"token":["a1","b2"],"perm":6}', '{"token":["***","***"],"perm":6}'),
        ('{{"queueId":0}:{"secretKey":"x"}}', '{{"queueId":0}:{"secretKey":"***"}}'),
        (
            '{"topicConfigTable":{"tokens":{"topicName":"tokens"}}}',
            '{"topicConfigTable":{"tokens":{"topicName":"tokens"}}}',
        ),
        ('{"password":"","n":"v"}', '{"password":"","n":"v"}'),
        ('{"a":"url http://u:pw@h/"}', '{"a":"url http://***@h/"}'),
        ('{"secret":"no end', '{"secret":***'),
        ('{"password":123456,"pwd":-1.5e3,"n":7}', '{"password":"***","pwd":"***","n":7}'),
        ('{"secret":null,"token":true}', '{"secret":null,"token":true}'),
        ('{"credentials":{"user":"u","word":["w",{"x":1}]},"n":"v"}',
         '{"credentials":{"user":"***","word":["***",{"x":"***"}]},"n":"v"}'),
        ('{"forbiddenTable":{"token-group":{"tokens":4}},"clusterAddrTable":{"tokens":["token-a"]}}',
         '{"forbiddenTable":{"token-group":{"tokens":4}},"clusterAddrTable":{"tokens":["token-a"]}}'),
        ('{"kvTable":{"token":"x","stage":"y"}}', '{"kvTable":{"token":"***","stage":"y"}}'),
        ('{"text":"{\\"a\\":[{\\"password\\":\\"x\\"}]}"}',
         '{"text":"{\\"a\\":[{\\"password\\":\\"***\\"}]}"}'),
        ("[main] password=abc def", "[main] password=***"),
    ],
)  # fmt: skip
def test_fields_with_secrets_are_hidden_and_all_else_stays(body: str, redacted: str) -> None:
    assert redact(answer(body), JSON).body.decode() == redacted


def test_a_value_of_the_kv_config_is_hidden_by_the_name_of_its_key() -> None:
    key = request_key(RequestCode.GET_KV_CONFIG, namespace="N", key="dbPassword")
    assert redact(answer("", value="hunter2"), key).ext == {"value": "***"}
    other = request_key(RequestCode.GET_KV_CONFIG, namespace="N", key="stage")
    assert redact(answer("", value="canary"), other).ext == {"value": "canary"}


def test_a_secret_that_occurs_once_under_its_name_is_hidden_everywhere() -> None:
    tables: dict[str, dict[RequestKey, Outcome]] = {
        "h:1": {JSON: json_answer([{"username": "u", "password": "hunter2-hunter2"}])},
        "h:2": {
            SETTINGS: answer("note=use hunter2-hunter2 here"),
            request_key(1): RecordedAnswer(1, {"x": "hunter2-hunter2"}, b"", "wrong hunter2-hunter2", 513),
            request_key(2): RecordedFailure("timeout", "no answer"),
        },
    }
    redacted = Redactor().redact_tables(tables)
    assert "hunter2" not in repr(redacted)
    assert redacted["h:2"][request_key(2)] == tables["h:2"][request_key(2)]


def test_the_credentials_of_the_client_are_hidden_everywhere() -> None:
    assert redact(answer("note=my-own-secret"), SETTINGS, "my-own-secret").body == b"note=***"


def test_members_of_a_setting_are_learned_but_not_its_access_key() -> None:
    tables = {
        "h:1": {
            SETTINGS: answer(
                'innerClientAuthenticationCredentials={"accessKey":"rocketmq","secretKey":"s3cr3t-value"}'
            ),
            request_key(2): answer("org.apache.rocketmq s3cr3t-value x-s3cr3t-value"),
        }
    }
    redacted = Redactor().redact_tables(tables)["h:1"]
    assert redacted[SETTINGS].body == b"innerClientAuthenticationCredentials=***"  # type: ignore[union-attr]
    # A longer word only contains the same letters.
    assert redacted[request_key(2)].body == b"org.apache.rocketmq *** x-s3cr3t-value"  # type: ignore[union-attr]


@pytest.mark.parametrize("password", ["123456789", "true", "short"])
def test_numbers_and_common_words_are_hidden_only_under_their_name(password: str) -> None:
    tables = {"h:1": {JSON: json_answer({"password": password, "x": password})}}
    body = Redactor().redact_tables(tables)["h:1"][JSON].body  # type: ignore[union-attr]
    assert json.loads(body) == {"password": "***", "x": password}


def test_records_of_journals_and_lines_of_logs_are_redacted() -> None:
    redactor = Redactor()
    redactor.redact_tables({"h:1": {JSON: json_answer({"password": "hunter2-hunter2"})}})
    record = {"type": "KvPut", "key": "apiToken", "value": "abc", "kv": {"N": {"token": "x", "stage": "y"}}}
    assert redactor.redact_json(record) == {
        "type": "KvPut", "key": "apiToken", "value": "***", "kv": {"N": {"token": "***", "stage": "y"}},
    }  # fmt: skip
    assert redactor.redact_json(["hunter2-hunter2", 7, None]) == ["***", 7, None]
    assert redactor.redact_text("ok\npassword=abc def\nhunter2-hunter2") == "ok\npassword=***\n***"


@pytest.mark.parametrize(
    "name",
    [
        "clientSecret", "PASSWD", "sslPassphrase", "dbPwd", "Token", "credentials", "accessKey", "access_key",
        "API-KEY", "apikey", "private.key", "privateKey",
    ],
)  # fmt: skip
def test_every_word_of_secrets_is_found_in_a_body_in_any_case(name: str) -> None:
    assert json.loads(redact(json_answer({name: "v"}), JSON).body) == {name: "***"}
    assert redact(answer(f"{name}=v"), SETTINGS).body == f"{name}=***".encode()


@pytest.mark.parametrize("other_count", [0, 100])
def test_few_and_many_secrets_are_hidden_everywhere(other_count: int) -> None:
    others = {f"token{number}": f"other-secret-{number}" for number in range(other_count)}
    tables = {
        "h:1": {JSON: json_answer({"password": 'pä"ss-wörd', **others})},
        "h:2": {
            request_key(1): answer('says pä"ss-wörd'),
            request_key(2): answer('{"x":"p\\u00e4\\"ss-w\\u00f6rd"}'),
            request_key(3): answer("nothing"),
        },
    }
    redacted = Redactor().redact_tables(tables)["h:2"]
    bodies = [redacted[request_key(code)].body for code in (1, 2, 3)]  # type: ignore[union-attr]
    assert bodies == [b"says ***", b'{"x":"***"}', b"nothing"]


def test_a_secret_whose_bytes_are_unknown_does_not_protect_the_others_less() -> None:
    tables = {
        "h:1": {JSON: answer('{"password":"\\ud800-odd-secret","token":"hunter2-hunter2"}')},
        "h:2": {request_key(1): answer("says hunter2-hunter2")},
    }
    redacted = Redactor().redact_tables(tables)["h:2"][request_key(1)]
    assert redacted.body == b"says ***"  # type: ignore[union-attr]


def redact_pair(first: Outcome, second: RecordedAnswer) -> bytes:
    """The body of the second answer, with the secrets of both hidden."""
    redacted = Redactor().redact_tables({"h:1": {SETTINGS: first, request_key(1): second}})["h:1"]
    return redacted[request_key(1)].body  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "setting",
    [
        'accounts=[{"secretKey":"s3cr3t-value"}]',
        'a={"b":{"c":[[{"password":["s3cr3t-value"]}]]}}',
        'tokens={"deep":{"er":"s3cr3t-value"}}',
        f'a={"[" * 50_000}{{"token":"s3cr3t-value"}}{"]" * 50_000}',
    ],
)
def test_a_secret_is_learned_from_every_level(setting: str) -> None:
    assert redact_pair(answer(setting), answer("says s3cr3t-value")) == b"says ***"


def test_thousands_of_secrets_are_hidden_everywhere() -> None:
    secrets = [f"secret-{number}" for number in range(5000)]
    users = json_answer([{"username": f"user-{secret}", "password": secret} for secret in secrets])
    assert redact_pair(users, answer(" ".join(secrets))) == b" ".join([b"***"] * 5000)


def test_a_bundle_whose_secrets_cannot_all_be_hidden_is_refused() -> None:
    users = json_answer([{"password": f"odd/{number:04}"} for number in range(2001)])
    with pytest.raises(NotApplied, match="the answers have 2001 secrets, and at most 2000 can be hidden"):
        redact_pair(users, answer(""))


def test_deep_json_is_redacted_and_ends_nothing() -> None:
    deep = "[" * 50_000 + '{"password":"x","secret":5}' + "]" * 50_000
    assert redact(answer(deep), JSON).body == deep.replace('"x"', '"***"').replace("5}", '"***"}').encode()


def test_saved_drains_keep_their_queues_of_topics_with_odd_names() -> None:
    snapshot = {
        "version": 1,
        "nameServers": {"h:1": {"tokens": [8, 8, 6, 0]}},
        "broker": {"tokens": [8, 8, 6, 0]},
    }
    assert Redactor().redact_json(snapshot) == snapshot
