"""The messages of a transfer, as a record keeps them."""

import pytest

from nsadmin.operations.transfer.message_rules import EVERY_MESSAGE, MessageRules, describe_rules, load_rules


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        (EVERY_MESSAGE, "none"),
        (MessageRules(tags=("a", "b"), keys=("k l",)), "--tag a --tag b --key k l"),
        (MessageRules(sql_text="x > 1", properties=(("n", "a=b"),)), "--sql x > 1 --property n=a=b"),
        (MessageRules(body_text="^x"), "--body ^x"),
    ],
)
def test_rules_are_loaded_as_they_were_saved(rules: MessageRules, text: str) -> None:
    assert load_rules(rules.save()) == rules
    assert describe_rules(rules.save()) == text


def test_the_order_of_values_does_not_make_another_transfer() -> None:
    assert MessageRules(tags=("b", "a")).save() == MessageRules(tags=("a", "b")).save()


def test_the_expression_for_brokers() -> None:
    assert (EVERY_MESSAGE.expression, EVERY_MESSAGE.expression_type) == ("*", "TAG")
    assert MessageRules(tags=("a", "b")).expression == "a || b"
    rules = MessageRules(sql_text="x > 1")
    assert (rules.expression, rules.expression_type) == ("x > 1", "SQL92")
