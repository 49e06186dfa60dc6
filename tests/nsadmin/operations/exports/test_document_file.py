"""Documents in files."""

import json
from pathlib import Path

from nsadmin.operations.exports.document_file import format_document, save_document


def test_a_file_is_replaced_in_a_folder_that_is_made(tmp_path: Path) -> None:
    file = tmp_path / "new" / "configs.json"
    for document in ({"name": "Aufträge"}, {"name": "b"}):
        written = save_document(file, document)
        assert (json.loads(file.read_text("utf-8")), written) == (document, file.stat().st_size)
    assert [path.name for path in file.parent.iterdir()] == ["configs.json"]
    assert format_document({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
