"""Users of brokers: looked at, planned, changed and looked at again."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol import fastjson
from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.access.users import AlreadyExists, User, UserChange
from tests.support.access_brokers import AccessBroker
from tests.support.fake_servers import answer_json, closed_port, refuse_with

OPERATOR = User("operator-1", "s3cret", "Super", "enable")
SHOP = User("shop", "p", "Normal", "enable")


@pytest.fixture
def broker() -> Iterator[AccessBroker]:
    with AccessBroker() as running:
        yield running


@pytest.fixture
def admin() -> Iterator[AdminClient]:
    with AdminClient("h:1", timeout=5) as client:
        yield client


def test_a_representation_has_no_password() -> None:
    assert repr(OPERATOR) == "User('operator-1', ..., 'Super', 'enable')"
    assert "s3cret" not in repr(UserChange(OPERATOR, None))


def test_users_are_listed_by_name_and_a_broker_without_says_nothing(
    admin: AdminClient, broker: AccessBroker
) -> None:
    admin.users.apply_plans(admin.users.plan_create([broker.addr], User("a", "p", "Normal")))
    [result] = admin.users.list_users([broker.addr])
    assert [user.username for user in result.result or ()] == ["a", "operator-1"]
    assert admin.users.list_users([broker.addr], "zz") == [(broker.addr, (), None)]
    assert admin.users.get_user([broker.addr], "operator-1") == [(broker.addr, OPERATOR, None)]


def test_a_user_who_is_nowhere_is_not_found(admin: AdminClient, broker: AccessBroker) -> None:
    for results in (
        admin.users.get_user([broker.addr], "nobody"),
        admin.users.plan_update([broker.addr], User("nobody")),
        admin.users.plan_delete([broker.addr], "nobody"),
    ):
        assert isinstance(results[0].error, NotFound)


def test_a_user_is_made_where_there_is_none(admin: AdminClient, broker: AccessBroker) -> None:
    with AccessBroker() as other:
        admin.users.apply_plans(admin.users.plan_create([other.addr], SHOP))
        plans = admin.users.plan_create([broker.addr, other.addr], SHOP._replace(user_status=None))
        assert broker.asked_codes() == [3004]
        first, second = admin.users.apply_plans(plans)
    assert first.result == UserChange(None, SHOP)
    assert isinstance(second.error, AlreadyExists)


def test_only_what_differs_is_sent(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.users.plan_update([broker.addr], User("operator-1", None, "Super", "disable"))
    [outcome] = admin.users.apply_plans(plans)
    assert outcome.result == UserChange(OPERATOR, OPERATOR._replace(user_status="disable"))
    [sent] = [asked for asked in broker.asked if asked.code == 3002]
    assert fastjson.decode_json(sent.body) == {"username": "operator-1", "userStatus": "disable"}


def test_what_is_so_already_is_not_sent(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.users.plan_update([broker.addr], User("operator-1", "s3cret"))
    assert admin.users.apply_plans(plans) == plans
    assert broker.asked_codes() == [3004]


def test_a_user_is_deleted(admin: AdminClient, broker: AccessBroker) -> None:
    [outcome] = admin.users.apply_plans(admin.users.plan_delete([broker.addr], "operator-1"))
    assert outcome.result == UserChange(OPERATOR, None)


def test_users_are_copied_with_their_passwords(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.users.plan_copy(broker.addr, [SHOP, OPERATOR._replace(password="new")])
    done = admin.users.apply_plans(plans)
    assert [outcome.result for outcome in done] == [
        UserChange(None, SHOP),
        UserChange(OPERATOR, OPERATOR._replace(password="new")),
    ]
    assert admin.users.get_user([broker.addr], "shop")[0].result == SHOP
    [failed] = admin.users.plan_copy(f"127.0.0.1:{closed_port()}", [SHOP])
    assert failed.error is not None


@pytest.mark.parametrize(
    ("now", "text"),
    [
        (None, "the user shop does not exist"),
        (
            {"username": "shop", "userType": "Normal", "userStatus": "enable"},
            "the user shop is Normal and enable",
        ),
    ],
)
def test_a_broker_that_shows_something_else_has_ignored_it(
    admin: AdminClient, broker: AccessBroker, now: object, text: str
) -> None:
    plans = admin.users.plan_create([broker.addr], SHOP._replace(user_type="Super"))
    broker.handlers[3004] = lambda asked: build_reply(asked) if now is None else answer_json(asked, now)
    [outcome] = admin.users.apply_plans(plans)
    assert isinstance(outcome.error, NotApplied)
    assert f"reported success, but {text}: it ignored the change" in str(outcome.error)


def test_one_who_is_still_there_was_not_deleted(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.users.plan_delete([broker.addr], "operator-1")
    broker.handlers[3003] = build_reply
    [outcome] = admin.users.apply_plans(plans)
    assert "the user operator-1 is Super and enable" in str(outcome.error)


def test_a_refusal_stays_with_its_broker(admin: AdminClient, broker: AccessBroker) -> None:
    with AccessBroker() as other:
        other.handlers[3001] = refuse_with(16, "check signature failed.")
        done = admin.users.apply_plans(admin.users.plan_create([broker.addr, other.addr], SHOP))
    assert [outcome.error is None for outcome in done] == [True, False]


def test_who_has_changed_his_own_password_cannot_look(admin: AdminClient, broker: AccessBroker) -> None:
    plans = admin.users.plan_update([broker.addr], User("operator-1", "new"))
    broker.handlers[3004] = refuse_with(16, "check signature failed.")
    assert admin.users.apply_plans(plans) == plans


def test_a_user_without_a_name_is_no_answer(admin: AdminClient, broker: AccessBroker) -> None:
    broker.handlers[3005] = lambda asked: answer_json(asked, [{"userType": "Super"}])
    [result] = admin.users.list_users([broker.addr])
    assert "malformed answer (a user has no username)" in str(result.error)
