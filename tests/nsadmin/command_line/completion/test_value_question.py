"""The name of a question in the cache."""

from pathlib import Path

from nsadmin.command_line.completion.value_question import ValueQuestion


def test_the_name_is_the_same_for_the_same_servers(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    plain = ValueQuestion("topics", "", {}).cache_name(config)
    assert plain.endswith(".topics")
    assert ValueQuestion("topics", "", {"context": None}).cache_name({**config, "HOME": "/h"}) == plain
    (tmp_path / "config.yaml").write_text("contexts: {}")
    others = {
        ValueQuestion("topics", "", {"namesrv_addr": ["a:1"]}).cache_name(config),
        ValueQuestion("topics", "", {"context": "a"}).cache_name(config),
        ValueQuestion("topics", "detail", {}).cache_name(config),
        ValueQuestion("topics", "", {}).cache_name({**config, "NAMESRV_ADDR": "a:1"}),
        ValueQuestion("topics", "", {}).cache_name({**config, "NSADMIN_CONTEXT": "a"}),
        ValueQuestion("topics", "", {}).cache_name(config),
    }
    assert len(others - {plain}) == 6


def test_no_secret_goes_into_the_name(tmp_path: Path) -> None:
    config = {"NSADMIN_CONFIG": str(tmp_path / "config.yaml")}
    secrets = {"NSADMIN_ACCESS_KEY": "a", "NSADMIN_SECRET_KEY": "b", "NSADMIN_SECURITY_TOKEN": "c"}
    question = ValueQuestion("topics", "", {})
    assert question.cache_name({**config, **secrets}) == question.cache_name(config)
