"""`nsadmin guide`: the pages of the documentation on a terminal."""

import re
import sys
from io import StringIO
from typing import Annotated

from typer import Argument

from nsadmin.client import NotFound
from nsadmin.command_line import registry
from nsadmin.command_line.declarations import Flags, command
from nsadmin.console.guides import Guide, find_guide_of_command, find_guides
from nsadmin.console.language import preferred_language
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.phrases import reading_width
from nsadmin.console.session import Session

GUIDE_COLUMNS: Columns[Guide] = (
    Column("page", "name of the page, for nsadmin guide PAGE", lambda g: g.name),
    Column("title", "first heading of the page", lambda g: g.title),
)
_PAGE_LINK = re.compile(r"\[([^]]+)\]\((?:[^)\s:]*/)?([\w-]+)\.md(?:#[^)]*)?\)")


@command(columns=GUIDE_COLUMNS, agent_refusal="the pages are resources")
def guide(
    session: Session,
    page: Annotated[
        str | None,
        Argument(metavar="PAGE", help="A page, or a command: then its guide. Default: list all pages."),
        Flags("--page"),
    ] = None,
) -> ResultRows | str:
    """Show a page of the documentation, as Markdown if the output is not a terminal.

    `nsadmin help WORDS` finds pages by words. If NSADMIN_LANG or the locale is Chinese, the pages that are
    translated are in Chinese.

    Examples:
        # All pages
        nsadmin guide
        # The guide to a task
        nsadmin guide fix-no-route-info
        # The guide to a command
        nsadmin guide drain
    """
    guides = {name: g.translate(preferred_language()) for name, g in find_guides().items()}
    if page is None:
        return ResultRows.from_records(GUIDE_COLUMNS, guides.values())
    entry = registry.take_command(page.split())[0]
    found = guides.get(page.removesuffix(".md")) or (
        guides.get(find_guide_of_command(entry.typed_name) or "") if entry else None
    )
    if found is None:
        raise NotFound(f'no page "{page}": nsadmin guide lists the pages, nsadmin help {page} searches them')
    text = _PAGE_LINK.sub(
        lambda link: f"{link[1]} (`nsadmin guide {link[2]}`)" if link[2] in guides else link[0],
        found.read_text(),
    )
    return render(text, session.options.style.uses_color) if sys.stdout.isatty() else text


def render(markdown: str, uses_color: bool) -> str:
    # Imported late: the parser of Markdown is for terminals only.
    from rich.console import Console
    from rich.markdown import Markdown

    stream = StringIO()
    Console(
        file=stream,
        force_terminal=True,
        width=reading_width(),
        no_color=not uses_color,
    ).print(Markdown(markdown, hyperlinks=False))
    return stream.getvalue().rstrip()
