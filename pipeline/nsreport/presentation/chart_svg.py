"""Chart SVG: draws axes with matplotlib as SVG text that takes its colours from the page, light or dark."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

_SVG_NAMESPACE = "http://www.w3.org/2000/svg"
# Without these, ElementTree would write prefixes of its own.
ElementTree.register_namespace("", _SVG_NAMESPACE)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")

_INK_NAME = "ink"
SERIES_NAMES = tuple(f"series-{number}" for number in range(1, 9))
COLOR_NAMES = (_INK_NAME, "partly", "down", "planned", *SERIES_NAMES)
"""The colours of charts: variables of `page.css`."""

# matplotlib takes colours and no variables, so each name has a placeholder, which the SVG text then replaces.
_PLACEHOLDERS = {color_name: f"#0102{index:02x}" for index, color_name in enumerate(COLOR_NAMES)}
_PLACEHOLDER_PATTERN = re.compile("#0102([0-9a-f]{2})")

_STYLE_SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "text.color": _PLACEHOLDERS[_INK_NAME],
    "axes.edgecolor": _PLACEHOLDERS[_INK_NAME],
    "axes.labelcolor": _PLACEHOLDERS[_INK_NAME],
    "xtick.color": _PLACEHOLDERS[_INK_NAME],
    "ytick.color": _PLACEHOLDERS[_INK_NAME],
    "grid.color": _PLACEHOLDERS[_INK_NAME],
    "grid.alpha": 0.15,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    # Text stays text: the browser has the fonts, and a search in the page finds it.
    "svg.fonttype": "none",
    # A name with `$` is not a formula, and LaTeX, which a matplotlibrc may turn on, would run commands in it.
    "text.parse_math": False,
    "text.usetex": False,
}
_FIGURE_WIDTH = 3.9
"""Inches. A phone held upright shows the text of this width in a readable size."""


def find_color(color_name: str) -> str:
    """Return what matplotlib gets for a colour of the page. Raises KeyError if the page lacks it."""
    return _PLACEHOLDERS[color_name]


def render_svg(draw_axes: Callable[[Any], None], line_count: int, label: str) -> str:
    """Draw axes with room for some lines; `label` says to a screen reader what the picture shows."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    svg_buffer = io.StringIO()
    # The salt makes ids that are the same in each run, and different in each chart of a page.
    with rc_context(_STYLE_SETTINGS | {"svg.hashsalt": label}), warnings.catch_warnings():
        # matplotlib measures a character without a glyph as a box.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        figure = Figure(figsize=(_FIGURE_WIDTH, 0.75 + 0.24 * max(line_count, 3)), layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.subplots()
        axes.patch.set_visible(False)
        draw_axes(axes)
        FigureCanvasSVG(figure).print_svg(svg_buffer, metadata={"Date": None, "Creator": None})
    svg_text = svg_buffer.getvalue()
    return _adapt_to_page(svg_text[svg_text.index("<svg") :], label)


def _adapt_to_page(svg_text: str, label: str) -> str:
    """Let the page decide on colours and size; name the picture, and leave out ids that charts share."""
    picture = ElementTree.fromstring(_PLACEHOLDER_PATTERN.sub(_name_color, svg_text))
    # The page's style sheet sets the size.
    for attribute_name in ("width", "height"):
        del picture.attrib[attribute_name]
    picture.attrib |= {"role": "img", "aria-label": label}
    for group in picture.iter(f"{{{_SVG_NAMESPACE}}}g"):
        group.attrib.pop("id", None)
    return ElementTree.tostring(picture, encoding="unicode")


def _name_color(placeholder: re.Match[str]) -> str:
    color_name = COLOR_NAMES[int(placeholder[1], 16)]
    return "currentColor" if color_name == _INK_NAME else f"var(--{color_name})"
