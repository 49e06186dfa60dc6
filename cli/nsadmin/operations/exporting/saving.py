"""Writes a document to a file atomically."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namesrv_core.storage import durable


def text_of(document: Mapping[str, Any]) -> str:
    """The document as indented JSON."""
    return json.dumps(document, indent=2, ensure_ascii=False)


def save(file: Path, document: Mapping[str, Any]) -> int:
    """Replace the file, create its folder if needed, and return the number of bytes written.

    Raises:
        OSError: the file cannot be written.
    """
    data = (text_of(document) + "\n").encode("utf-8", "surrogatepass")
    durable.replace(file, data, backup=False)
    return len(data)
