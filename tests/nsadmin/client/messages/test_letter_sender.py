"""What is sent of a dead letter, and where to."""

import zlib

from nsadmin import AdminClient
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, ReplayOptions
from tests.support.dead_letter_brokers import DEAD, RETRY, DeadLetterBroker, list_bodies, replay_letters


def test_a_dead_letter_goes_to_the_retry_topic_with_the_properties_of_its_producer(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one", UNIQ_KEY="U1", KEYS="k", TAGS="A", mine="1", TRAN_MSG="true", TIMER_DELAY_MS="5")
    assert replay_letters(admin) == BrokerReplay("broker-a", total=1, examined=1, replayed=1)
    [message] = dlq.stored_messages(RETRY)
    [dead] = dlq.stored_messages(DEAD)
    run_id = message.properties.pop("NSADMIN_REPLAY_RUN")
    assert (message.body, len(run_id)) == (b"one", 16)
    assert message.properties == {
        "UNIQ_KEY": "U1", "KEYS": "k", "TAGS": "A", "mine": "1", "WAIT": "true", "RETRY_TOPIC": "T",
        "ORIGIN_MESSAGE_ID": "origin of one", "NSADMIN_REPLAYS": "1",
        "NSADMIN_REPLAY_OF": dead.offset_msg_id,
    }  # fmt: skip
    [sent] = dlq.sent
    assert (sent.ext or {})["g"] == str(dead.born_timestamp)
    assert (sent.ext or {})["j"] == "0"


def test_a_busy_broker_gets_a_message_again(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.add_letter(b"one")
    dlq.refusals = [2]
    assert replay_letters(admin).replayed == 1
    assert (len(dlq.sent), list_bodies(dlq)) == (2, ["one"])


def test_origin_topics_get_messages_without_a_trace_of_the_retry(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"one")
    dlq.add_letter(b"two", origin="U")
    dlq.add_letter(b"three", origin="gone")
    done = replay_letters(admin, options=ReplayOptions(to_origin=True))
    assert (done.replayed, done.failed) == (2, 1)
    assert (list_bodies(dlq, "T"), list_bodies(dlq, "U"), list_bodies(dlq)) == (["one"], ["two"], [])
    assert "RETRY_TOPIC" not in dlq.stored_messages("T")[0].properties


def test_a_body_that_was_compressed_is_sent_compressed(admin: AdminClient, dlq: DeadLetterBroker) -> None:
    dlq.store_message(zlib.compress(b"x" * 9000), DEAD, 0, 0x301, RETRY_TOPIC="T")
    assert replay_letters(admin).replayed == 1
    [message] = dlq.stored_messages(RETRY)
    assert (message.body, message.sys_flag) == (b"x" * 9000, 1)
    assert len(dlq.sent[0].body) < 100


def test_a_popped_dead_letter_goes_back_to_its_retry_topic_which_may_have_no_route_yet(
    admin: AdminClient, dlq: DeadLetterBroker
) -> None:
    dlq.add_letter(b"pulled")
    dlq.add_letter(b"popped", origin="%RETRY%G_T")
    assert replay_letters(admin).replayed == 2
    [message] = dlq.stored_messages("%RETRY%G_T")
    assert (message.body, "RETRY_TOPIC" in message.properties) == (b"popped", False)
    assert list_bodies(dlq) == ["pulled"]
