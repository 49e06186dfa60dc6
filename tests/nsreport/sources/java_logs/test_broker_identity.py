"""Who an address is, told by other lines."""

from tests.nsreport.sources.java_logs.conftest import Read


def test_a_broker_s_own_log_tells_its_name(real: Read) -> None:
    stranger = real.of("rare", "RegistrationRefused")[1]
    assert (stranger["brokerName"], stranger["confidence"]) == ("b", 0.8)


def test_nobody_knows_is_an_answer(real: Read) -> None:
    expired = real.of("rare", "BrokerUnregistered")[0]
    assert "brokerName" not in expired
    assert expired["clusterName"] == "C"


def test_a_slave_of_5_x_is_not_taken_for_the_broker_before_it(real: Read) -> None:
    found = real.of("new", "BrokerRegistered")
    assert [item["brokerAddr"] for item in found[:2]] == ["127.0.0.1:20000", "127.0.0.1:20490"]
