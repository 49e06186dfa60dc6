"""Numbers and their names."""

import pytest

from namesrv_core.protocol.codes import LANGUAGE_NAMES, RequestCode, perm_text, version_text


@pytest.mark.parametrize(
    ("ordinal", "name"),
    [
        (513, "V5_5_0"), (479, "V5_3_3"), (478, "V5_3_3_SNAPSHOT"), (475, "V5_3_1"), (413, "V5_0_0"),
        (409, "V4_9_8"), (407, "V4_9_7"), (401, "V4_9_4"), (373, "V4_8_0"), (317, "V4_5_2"),
        (412, "V5_0_0_SNAPSHOT"), (212, "V4_0_0_SNAPSHOT"), (211, "V3_9_9"), (121, "V3_4_9"),
        (63, "V3_1_8"), (35, "V3_0_10"), (15, "V3_0_0_FINAL"), (1, "V3_0_0_ALPHA1"),
        (0, "V3_0_0_SNAPSHOT"), (611, "V5_9_9"), (612, "HIGHER_VERSION"), (2**31 - 1, "HIGHER_VERSION"),
        (-1, None),
    ],
)  # fmt: skip
def test_a_version_has_the_name_of_its_release(ordinal: int, name: str | None) -> None:
    assert version_text(ordinal) == name


@pytest.mark.parametrize(
    ("perm", "text"), [(0, "---"), (2, "-w-"), (4, "r--"), (6, "rw-"), (7, "rwi"), (15, "rwip")]
)
def test_a_permission_is_shown_as_letters(perm: int, text: str) -> None:
    assert perm_text(perm) == text


def test_languages_stand_at_their_binary_codes() -> None:
    assert [LANGUAGE_NAMES.index(n) for n in ("JAVA", "PYTHON", "GO", "RUST", "NODE_JS")] == [0, 3, 9, 12, 13]


def test_every_request_whose_name_says_so_changes_something() -> None:
    words = ("UPDATE", "DELETE", "PUT", "WIPE", "ADD", "CLEAN", "RESET", "INVOKE", "SEND", "CREATE", "SET")
    assert all(code.changes for code in RequestCode if code.name.startswith(words))
    assert [RequestCode.is_change(number) for number in (100, 101, 105, 9999)] == [True, False, False, False]
