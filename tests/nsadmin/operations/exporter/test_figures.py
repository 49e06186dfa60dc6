"""Labels from names that servers report."""

from nsadmin.operations.exporter.figures import ServerIdentity, clean_label


def test_a_usual_name_is_a_label_as_it_is() -> None:
    assert clean_label("%RETRY%orders-consumer") == "%RETRY%orders-consumer"
    assert clean_label("注文") == "注文"


def test_a_label_has_no_control_characters_no_surrogates_and_a_bounded_length() -> None:
    assert clean_label("a\nb\x1b") == "a\\nb\\x1b"
    assert clean_label("a\ud800") == "a?"
    assert len(clean_label("x" * 5000)) == 512


def test_the_labels_of_a_broker() -> None:
    assert ServerIdentity("h:1", "C", "a", "0").broker_labels == ("C", "a", "0")
    assert ServerIdentity("h:1").broker_labels == ("", "", "")
