"""YAML that is short, and deep or without an end when it is read."""

LEVELS = 40


def nested_aliases() -> str:
    """A list of lists of lists, in which each alias doubles what it stands for."""
    lists = [f"a{level}: &a{level} [*a{level - 1}, *a{level - 1}]" for level in range(1, LEVELS)]
    return "\n".join(["a0: &a0 [x, x]", *lists])


def nested_merge_keys() -> str:
    maps = [f"a{level}: &a{level} {{<<: [*a{level - 1}, *a{level - 1}]}}" for level in range(1, LEVELS)]
    return "\n".join(["a0: &a0 {x: 1, y: 2}", *maps])


HOSTILE_YAML = {
    "flow lists": "[" * 50_000,
    "flow maps": "{a: " * 50_000,
    "block lists": "- " * 50_000 + "x",
    "closed lists": "[" * 5_000 + "]" * 5_000,
    "aliases": nested_aliases(),
    "merge keys": nested_merge_keys(),
    "aliases of deep values": "\n".join(
        ["a0: &a0 [x]", *(f"a{level}: &a{level} {'[' * 40}*a{level - 1}{']' * 40}" for level in range(1, 60))]
    ),
    "itself": "a: &a {b: *a}",
    "merges itself": "a: &a {<<: *a}",
    "no date": "a: 2001-99-99",
    "long number": "a: " + "1" * 5_000,
    "no number": "a: !!int ''",
    "no truth": "a: !!bool 5",
}
