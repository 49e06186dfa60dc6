"""Options of delta-rs from the settings of Hadoop."""

from nsreport.tables.storage_options import read_storage_options


def test_other_file_systems_need_no_options() -> None:
    assert read_storage_options("hdfs://host:9000/reports", dict[str, str]().get) is None
    assert read_storage_options("/var/reports", dict[str, str]().get) is None


def test_a_bucket_has_the_settings_of_hadoop_and_its_own_go_first() -> None:
    settings = {
        "fs.s3a.endpoint": "http://127.0.0.1:5000",
        "fs.s3a.endpoint.region": "eu-central-1",
        "fs.s3a.access.key": "general",
        "fs.s3a.bucket.logs.access.key": "own",
        "fs.s3a.secret.key": "secret",
        "fs.s3a.path.style.access": "true",
    }
    assert read_storage_options("s3a://logs/reports", settings.get) == {
        "aws_endpoint": "http://127.0.0.1:5000",
        "aws_region": "eu-central-1",
        "aws_access_key_id": "own",
        "aws_secret_access_key": "secret",
        "aws_allow_http": "true",
        "aws_virtual_hosted_style_request": "false",
    }


def test_an_endpoint_without_a_scheme_gets_one() -> None:
    settings = {"fs.s3a.endpoint": "s3.example.com"}
    options = read_storage_options("s3a://logs/reports", settings.get)
    assert options is not None
    assert options["aws_endpoint"] == "https://s3.example.com"
    assert options["aws_allow_http"] == "false"
    plain_text = {**settings, "fs.s3a.connection.ssl.enabled": "false"}
    options = read_storage_options("s3a://logs/reports", plain_text.get)
    assert options is not None
    assert options["aws_endpoint"] == "http://s3.example.com"
