"""How a document becomes a file: whole or not at all."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namesrv_core.storage import durable


def text_of(document: Mapping[str, Any]) -> str:
    """The document as JSON, indented; lone halves of letters are escaped."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def save(file: Path, document: Mapping[str, Any]) -> int:
    """Replace the file, and make its folder; the bytes that were written. OSError where that fails."""
    data = (text_of(document) + "\n").encode("utf-8", "surrogatepass")
    durable.replace(file, data, backup=False)
    return len(data)
