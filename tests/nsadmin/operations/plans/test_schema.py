"""The schema for editors takes the files that the reader takes, and refuses what it refuses."""

import json

import jsonschema
import pytest
import yaml

from nsadmin.operations.plans import fields
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError, read_desired_cluster
from tests.nsadmin.operations.plans.test_yaml_reader import FILE
from tests.nsadmin.operations.plans.test_yaml_writer import TEXT

VALIDATOR = jsonschema.Draft202012Validator(fields.build_schema())


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(fields.build_schema())
    assert json.loads(fields.format_schema()) == fields.build_schema()


@pytest.mark.parametrize("text", [FILE, TEXT, "cluster: c\ntopics:\n  a:\n"])
def test_it_takes_what_the_reader_takes(text: str) -> None:
    read_desired_cluster(text, "f")
    VALIDATOR.validate(yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "topics: {}",
        "cluster: c\nversion: 2",
        "cluster: c\nkvs: {}",
        "cluster: c\ntopics: {a: {perm: 8}}",
        "cluster: c\ntopics: {a: {order: maybe}}",
        'cluster: c\ntopics: {"a\\nb": {}}',
        "cluster: c\ntopics: {a: {topicFilterType: X}}",
        "cluster: c\norderConf: {a: b}",
        "cluster: c\ngroups: {g: {retryMaxTimes: many}}",
        "cluster: c\ngroups: {g: {groupRetryPolicy: {customizedRetryPolicy: {}}}}",
    ],
)
def test_it_refuses_what_the_reader_refuses(text: str) -> None:
    with pytest.raises(InvalidPlanFileError):
        read_desired_cluster(text, "f")
    assert not VALIDATOR.is_valid(yaml.safe_load(text))


def test_defaults_and_meanings_are_shown_by_editors() -> None:
    topic = fields.build_schema()["properties"]["topics"]["additionalProperties"]["properties"]
    assert topic["readQueueNums"] == {
        "description": "number of read queues",
        "type": "integer",
        "minimum": 0,
        "maximum": 65536,
        "default": 8,
    }
