"""Pictures as parts of a page."""

from typing import Any
from xml.etree import ElementTree

from nsreport.presentation import chart_svg


def draw_bar(axes: Any) -> None:
    axes.barh(0, 1, color=chart_svg.find_color("down"))
    axes.text(0, 0, "99 %", color=chart_svg.find_color("series-1"))


def test_the_page_decides_on_colours_and_size_and_a_reader_hears_what_is_shown() -> None:
    svg = chart_svg.render_svg(draw_bar, 1, 'bars of "a" & <b>')
    root = ElementTree.fromstring(svg)
    assert (root.attrib["role"], root.attrib["aria-label"]) == ("img", 'bars of "a" & <b>')
    assert "viewBox" in root.attrib
    assert "width" not in root.attrib
    assert "currentColor" in svg
    assert "fill: var(--down)" in svg
    assert "fill: var(--series-1)" in svg
    assert "#0102" not in svg


def test_pictures_of_a_page_share_no_ids_and_are_the_same_in_each_run() -> None:
    svgs = [chart_svg.render_svg(draw_bar, 1, label) for label in ("first", "second", "first")]
    first, second, third = (
        {node.attrib["id"] for node in ElementTree.fromstring(svg).iter() if "id" in node.attrib}
        for svg in svgs
    )
    assert first
    assert not first & second
    assert svgs[0] == svgs[2]
    assert first == third
