"""Writes a document to a file atomically."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namesrv_core.storage import atomic_write


def format_document(document: Mapping[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def save_document(document_path: Path, document: Mapping[str, Any]) -> int:
    """Replace the file, create its folder if needed, and return the number of bytes written.

    Raises OSError if the file cannot be written.
    """
    file_bytes = (format_document(document) + "\n").encode("utf-8", "surrogatepass")
    atomic_write.replace_file(document_path, file_bytes, keeps_backup=False)
    return len(file_bytes)
