"""What a browser gets of an HTML page: elements, links, tables, and what it would load."""

from html.parser import HTMLParser

VOID_ELEMENTS = ("meta", "br", "img", "link", "input")


class HtmlPage(HTMLParser):
    """A page that is parsed once; each element must be closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open_elements: list[str] = []
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.tables: dict[str, list[list[str]]] = {}
        self._cells: list[str] | None = None
        self._caption = ""
        self.feed(text)
        assert self.open_elements == []

    @property
    def ids(self) -> list[str]:
        """The ids of all elements."""
        return [attributes["id"] for _, attributes in self.elements if "id" in attributes]

    def named(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of this name."""
        return [attributes for name, attributes in self.elements if name == tag]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.open_elements.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, attrs)

    def _note(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        if tag == "a":
            self.links.append(attributes["href"])
        else:
            values = (attributes.get(name, "#") for name in ("src", "href", "xlink:href"))
            self.loaded += [value for value in values if not value.startswith("#")]
        if tag == "caption":
            self._caption = attributes["id"]
            self.tables[self._caption] = []
        if tag == "tbody":
            self._cells = []
        if tag == "tr" and self._cells is not None:
            self.tables[self._caption].append([])
        if tag in ("td", "th") and self._cells is not None:
            self.tables[self._caption][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open_elements.pop() == tag
        if tag == "tbody":
            self._cells = None

    def handle_data(self, data: str) -> None:
        if self._cells is not None and {"td", "th"} & set(self.open_elements[-2:]):
            self.tables[self._caption][-1][-1] += data


def read_html(text: str) -> HtmlPage:
    """Parse a page, and check that all elements are closed."""
    return HtmlPage(text)
