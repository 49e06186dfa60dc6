"""What stands around every screen, at every width."""

import pytest

from nsadmin.tui.model.agreement import AgreementVerdict
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import Silence
from nsadmin.tui.polling.poll_records import NameServerPolled
from nsadmin.tui.views import screen_frame
from nsadmin.tui.views.screen_frame import AppStatus
from nsadmin.tui.views.table import Cell
from tests.support.screens import NOON, join_cells, make_server_poll

STATUS = AppStatus("prod", "red", 5.0, NOON)


def model() -> ClusterModel:
    model = ClusterModel(["10.0.0.1:9876", "10.0.0.2:9876", "10.0.0.3:9876"])
    model.apply_poll(make_server_poll())
    model.apply_poll(NameServerPolled(NOON - 65_000, "10.0.0.2:9876", error="closed"))
    return model


@pytest.mark.parametrize("width", [40, 80, 120, 250])
def test_the_header_is_as_wide_as_the_screen_and_never_wider(width: int) -> None:
    status = STATUS._replace(is_read_only=True, is_recording=True, log_count=3, feed_mode="paused")
    head, _ = screen_frame.render_header(
        model(), status, AgreementVerdict("diverge", ("brokers", "topics")), width
    )
    assert len(join_cells(head)) == width
    assert "≠ diverge" in join_cells(head)
    assert ("READ-ONLY" if width >= 90 else " RO ") in join_cells(head)
    assert all(
        word in join_cells(head) for word in ("3 in the log" if width >= 60 else "3 log", "● rec", "paused")
    )


@pytest.mark.parametrize("mode", ["live", "paused"])
@pytest.mark.parametrize("label", ["127.0.0.1:25011", "a-context-of-forty-letters-which-is-too-long"])
def test_the_verdict_is_there_at_every_width_and_what_is_cut_has_a_sign(mode: str, label: str) -> None:
    status = STATUS._replace(context_label=label, feed_mode=mode)
    for width in range(24, 130):
        [head, _] = screen_frame.render_header(
            model(), status, AgreementVerdict("diverge", ("brokers", "topics")), width
        )
        head_text = join_cells(head)
        assert len(head_text) == width
        assert "≠ diverge " in head_text
        assert ("paused" in head_text) is (mode == "paused")
        if width >= 40:
            assert f" {label} " in head_text or "… " in head_text
            assert head_text.endswith(" 12:00:00 ")


def test_name_servers_without_room_are_a_sign_and_a_port() -> None:
    known = ClusterModel()
    for at in (1, 2, 3):
        known.apply_poll(make_server_poll(f"127.0.0.1:2501{at}"))
    _, servers = screen_frame.render_header(known, STATUS, AgreementVerdict("agree"), 40)
    assert join_cells(servers).rstrip() == " ● :25011  ● :25012  ● :25013"


def test_what_nobody_tells_any_more_is_dim_with_the_time_since_when() -> None:
    assert screen_frame.render_silence(None, NOON) == []
    [silence_line] = screen_frame.render_silence(Silence("no name server answers", NOON), NOON + 12_000)
    assert silence_line == Cell("  no name server answers, for 12 s", "warn")
    found = join_cells(screen_frame.render_silence(Silence("asking the name servers"), NOON))
    assert found == "  asking the name servers"
    assert screen_frame.dim_line([Cell("none", "bad")]) == [Cell("none", "dim")]


def test_name_servers_with_state_and_latency() -> None:
    _, servers = screen_frame.render_header(model(), STATUS, AgreementVerdict("agree"), 120)
    assert join_cells(servers).split("  ") == [
        " ● 10.0.0.1:9876 1.0 ms", "✕ 10.0.0.2:9876 silent 1 min", "· 10.0.0.3:9876 …", ""
    ]  # fmt: skip
    _, narrow = screen_frame.render_header(model(), STATUS, AgreementVerdict("agree"), 60)
    assert ":9876 silent 1 min" in join_cells(narrow)
    assert "10.0.0.2" not in join_cells(narrow)


@pytest.mark.parametrize(("word", "sign"), [("agree", "✓"), ("diverge", "≠"), ("unknown", "?")])
def test_agreement_is_a_sign_and_a_word(word: str, sign: str) -> None:
    head, _ = screen_frame.render_header(model(), STATUS, AgreementVerdict(word), 80)
    assert f"{sign} {word}" in join_cells(head)


def test_silent_name_servers_are_an_alarm_with_their_number() -> None:
    verdict = AgreementVerdict("partial", ("10.0.0.1:9876 does not answer", "10.0.0.2:9876 does not answer"))
    head, _ = screen_frame.render_header(model(), STATUS, verdict, 80)
    assert Cell("✕ 2 of 3 silent", "bad") in head


def test_the_context_has_its_colour() -> None:
    head, _ = screen_frame.render_header(model(), STATUS, AgreementVerdict("agree"), 80)
    assert Cell(" prod ", "context-red") in head
    head, _ = screen_frame.render_header(model(), STATUS._replace(color=None), AgreementVerdict("agree"), 80)
    assert Cell(" prod ", "context") in head


def test_names_of_screens_are_cut_where_there_is_no_room() -> None:
    line = screen_frame.render_screen_bar(("Brokers", "Topics"), "Topics", 80)
    assert (join_cells(line), line[1].tone) == (" 0 Brokers  1 Topics ", "tabChosen")
    found = join_cells(screen_frame.render_screen_bar(("Brokers", "Topics"), None, 20))
    assert found == " 0 Brokers 1 Topics"
    assert join_cells(screen_frame.render_screen_bar(("Brokers", "Topics"), None, 16)) == " 0 Br…  1 To… "
    assert join_cells(screen_frame.render_screen_bar(("Brokers", "Topics"), "Brokers", 14)) == " 0 Brokers 1 "


def test_the_way_here_and_tabs() -> None:
    line = screen_frame.render_tab_bar(("figures", "config"), 1, ("Brokers", "broker-a"))
    assert join_cells(line) == " Brokers › broker-a   figures  config "
    assert line[2].tone == "tabChosen"


def test_the_footer_says_how_many_rows_and_why() -> None:
    assert join_cells(screen_frame.render_footer(3, 3, "", "", 0, 80)) == " 3 rows"
    assert join_cells(screen_frame.render_footer(3, 3, "", "in", 12, 40)) == " 3 rows  +12 ← →  by in"
    found = join_cells(screen_frame.render_footer(1, 3, "a", "in", 2, 80))
    assert found == " 1 of 3 rows  filter a  by in  2 columns more: ← →"


def test_hints_take_no_more_room_than_there_is() -> None:
    assert "? help" in join_cells(screen_frame.render_key_hints(80))
    assert len(join_cells(screen_frame.render_key_hints(20))) <= 20


def test_keys_are_read_as_they_stand_on_a_keyboard() -> None:
    assert screen_frame.format_keys("question_mark,f1") == "? f1"
