"""nsadmin help WORDS."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from nsadmin.command_line import registry
from nsadmin.command_line.docstrings import CommandExample, parse_docstring
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.guides import find_guides
from nsadmin.help_pages import search
from nsadmin.help_pages.help_command import find_page
from nsadmin.help_pages.setting_names import read_setting_names
from tests.nsadmin.conftest import Run


@pytest.mark.parametrize("handle", [category.handle for category in registry.CATEGORIES])
def test_a_category_lists_its_commands_and_those_of_a_group_with_its_handle(handle: str) -> None:
    page = find_page([handle.upper()])
    category = registry.find_category(handle)
    assert page is not None
    assert category is not None
    if registry.find_group(handle) is not None:
        assert all(f"\n  {entry.typed_name}" in page for entry in registry.list_group_members(handle))
    for entry in registry.list_category_members(category):
        assert f"\n  {entry.typed_name}" in page


def test_all_lists_every_command() -> None:
    page = find_page(["all"])
    assert page == find_page(["--all"])
    assert page is not None
    for entry in registry.COMMANDS:
        assert f"\n  {entry.typed_name}" in page


def test_a_command_has_a_page_of_its_own() -> None:
    assert find_page(["kv", "get"]) is None
    assert find_page(["topic-route"]) is None
    assert find_page(["what", "if"]) is None


def test_help_and_version_have_pages() -> None:
    assert find_page(["help"]) == find_page([])
    assert find_page(["version", "--help"]) == "Usage: nsadmin version\n\nPrint the version."


QUESTIONS = """
    add a name server to the cluster: guide:keep-kv-config-equal, kv sync, guide:run-the-name-server
    alarm in chat when lag: guide:export-metrics, guide:write-scripts, guide:monitor, check lag
    alert rules: guide:export-metrics, guide:monitor, exporter
    allow user to produce: createAcl
    always expect this broker: inventory pin
    am I on production: where, context show
    analyse a cluster offline: bundle create, guide:make-a-support-bundle, bundle show
    are the nameservers consistent: divergence, check divergence
    are there brokers without slaves: clusterList, check brokers, whatIf, check replicas, haStatus
    audit trail: audit list
    back up kv config: kv export
    back up metadata: backup create, guide:back-up-and-restore, exportMetadata
    bash completion: completion
    benchmark how fast can consumers read: bench consume
    bigger messages: updateBrokerConfig
    block writes on a broker: wipeWritePerm, drain
    body is avro how to read it: guide:decode-message-bodies
    bring broker back after maintenance: undrain
    broker config differ: configDiff
    broker disappeared: guide:find-missing-brokers, inventory list, check brokers
    broker flapping: history, check heartbeat, guide:find-missing-brokers, report show
    broker is read only why: route explain, drainStatus, check writable, broker explain
    broker refuses messages: broker explain, check sends, guide:fix-system-busy
    broker registration too big: registrationSize, check registrationSize, guide:keep-registrations-small
    broker version list: clusterList
    broker version: clusterList
    busiest topics: statsAll
    call it from python: guide:write-scripts
    can user write topic: getAcl, listAcl
    cancel a scheduled message: delayed cancel
    cancel maintenance: undrain
    change a broker setting without restart: updateBrokerConfig
    change flush to synchronous: updateBrokerConfig
    change name server timeout setting: updateNamesrvConfig
    client certificate: check certificates
    client versions in use: client list, check clients
    clients behind the grpc proxy: guide:see-clients-behind-proxies, client list
    clients connected to a broker: client list
    clone a consumer group: cloneGroupOffset, updateSubGroup
    cluster runs in k8s pods: guide:run-on-kubernetes, guide:reach-a-cluster, kube doctor
    clocks of brokers differ: check clocks
    clock skew: check clocks
    compare configuration of two brokers: configDiff
    compare master and slave: replicaDiff
    compare two snapshots: route diff
    connect through a bastion host: guide:reach-a-cluster
    consume consumer consuming: consumerProgress
    consume queue entries broken or missing: queryCq, checkRocksdbCqWriteProgress
    consumer does not receive anything: group explain, guide:triage-consumer-lag, guide:troubleshooting
    consumer not consuming: group explain
    copy consumer groups to a new cluster: transfer groups
    copy kv config to another name server: kv sync
    copy messages from kafka: messages import, guide:export-and-import-messages
    copy messages to the other cluster: transfer messages
    copy topics to new cluster: transfer topics
    copy users to the new cluster: transfer acl, guide:transfer-topics-groups-and-users
    count messages by tag: printMsgByQueue
    create a consumer group: updateSubGroup
    create a new topic with 16 queues: updateTopic
    create topics from yaml: apply, guide:plan-and-apply
    cron mail: check all
    decommission a broker: guide:scale-in, rebalance plan, drain
    delayMessage: delayed list
    delete an unused group: deleteSubGroup
    delete unused topics: orphans
    did all messages arrive in the other cluster: transfer verify
    did the rebalance finish: rebalance status
    difference between file and cluster: plan
    disk full: clusterList
    disk usage of brokers: check disk
    double the queues of a topic: updateTopic
    download a message body: queryMsgById, printMsg, messages export
    empty a broker before removal: drain, rebalance plan, guide:scale-in, guide:rebalance
    empty the dead letter queue: dlq purge
    encrypt traffic to the name server: guide:secure-the-name-server
    excel: report export, guide:schedule-and-use-reports
    exit code of check: guide:exit-codes, check all, guide:monitor
    export all messages of a topic: messages export
    filter messages by json field: consume, printMsg, messages export
    find an order by its key: queryMsgByKey
    free disk space on broker: deleteExpiredCommitLog, cleanExpiredCQ, cleanUnusedTopic
    get back a deleted consumer group: backup restore, guide:back-up-and-restore
    get rid of a topic: deleteTopic
    give a user permission to send: createAcl
    give up after 3 tries: updateSubGroup
    grafana dashboard: guide:export-metrics, exporter, guide:monitor
    group stopped consuming why: group explain, guide:triage-consumer-lag
    half committed transactions: transaction list, transaction discarded, check transactions
    half message check: transaction list, check transactions, transaction resume
    health check every morning: check all, guide:daily-health-check
    health of the proxies: check proxies, proxy list
    how available was the broker in march: report show, report run, guide:make-reports
    how far behind is my group: consumerProgress
    how many messages per second does a topic get: statsAll
    html report to send by mail: report html
    icinga check for dead letters: check dlq
    infrastructure as code: guide:plan-and-apply, export, plan, apply
    is the last backup ok: check backup, backup show
    ISR list: getSyncStateSet
    journal is broken: journal verify, check journal
    jump to newest: skipAccumulatedMessage
    jvm version of broker: clusterList, brokerStatus, exportMetrics
    keep messages longer: updateBrokerConfig
    key: queryMsgByKey
    keys and values in a namespace: kv list, kv get
    lag per client one slow pod: group explain
    limit a consumer that reads old data: updateColdDataFlowCtrGroupConfig
    list failed messages of last hour: dlq show, dlq list
    list of my clusters: context list
    list proxies: proxy list
    load test throughput: bench produce
    log in with access key: context login
    logs for the vendor: bundle create, guide:make-a-support-bundle
    make a topic read only: updateTopicPerm
    make the slave the master: electMaster, guide:elect-a-master
    measure round trip time: bench latency, clusterRT, checkMsgSendRT, sendMsgStatus
    message got lost where did it go: message track, queryMsgTraceById
    message id lookup: queryMsgById, queryMsgByUniqueKey
    message stuck in delay queue: delayed list, check timer
    message that should be delivered tomorrow: delayed list
    messages lost: message track
    messages per second of every broker: clusterList, brokerStatus
    migrate cluster: transfer topics
    migrate timer wheel to rocksdb: switchTimerEngine
    more queues for a topic: updateTopic
    move everything to a new cluster: guide:migrate-a-cluster, transfer topics
    move logical queues to other brokers: remappingStaticTopic, guide:move-static-topics
    move topic to another broker: rebalance plan, guide:rebalance, remappingStaticTopic
    mqadmin clusterList in nsadmin: mqadminMap, clusterList, guide:migrate-from-mqadmin
    name server settings: getNamesrvConfig
    nameserver out of sync: divergence, guide:fix-name-server-disagreement, kv diff
    new broker joined: rebalance plan, spread
    new employee needs read access: createUser, createAcl, guide:manage-users-and-acls
    new name server has no kv config: kv sync, guide:keep-kv-config-equal, kv import
    nightly copy of settings: backup create, guide:back-up-and-restore
    No route info: route explain
    oldest message still kept in a topic: topicStatus
    one broker has all the load: rebalance plan, guide:rebalance, spread
    open the dashboard: tui, guide:use-the-tui
    output as json for jq: guide:choose-rows-and-format, guide:write-scripts
    output yaml: export, guide:choose-rows-and-format
    overview of the cluster: clusterList, tui
    page me when a broker dies: check brokers, guide:monitor, guide:export-metrics, exporter
    pause consumer: updateSubGroup
    pause consumption: updateSubGroup
    pending delayed messages: delayed list
    permission denied for user: getAcl, listAcl, guide:manage-users-and-acls, errors
    permissions wrong after restart: repair wipe, check drain
    play with it on my laptop: lab up, guide:tutorial
    pods in kubernetes unhealthy: kube doctor, guide:run-on-kubernetes
    pop instead of pull consumption: setConsumeMode, getConsumeMode
    practise an outage: lab run, lab up, lab list
    prepared transaction never committed: transaction list, check transactions
    print a message: queryMsgById, printMsg, queryMsgByOffset
    producer says no route for topic: route explain, guide:fix-no-route-info
    prometheus alert lag: exporter
    prometheus service discovery: discovery prometheus
    put a key into kv config: updateKvConfig
    put checks in icinga: check all, guide:monitor
    put exported messages back: messages import, guide:export-and-import-messages
    put the broker back in service: undrain, addWritePerm
    queue count differs between brokers: spread, topicRoute, guide:spread-topics
    rack goes dark who notices: whatIf, guide:plan-a-stop
    reboot servers tonight: rollingRestart, drain, guide:restart-a-cluster
    reboot: rollingRestart
    record history of apache name servers: collect, guide:keep-and-read-history
    reduce the number of queues: updateTopic, rebalance plan, rebalance run
    rejected by the consumer too often: dlq list, dlq show, guide:dead-letters
    remember the address of my cluster: context set, guide:connect-to-a-cluster
    remove a kv entry: deleteKvConfig
    rename a topic: transfer topics, updateTopic, messages export
    replay: dlq replay
    resend message: dlq replay
    replace name server: updateBrokerConfig, guide:run-the-name-server
    reset offset: resetOffsetByTime
    reset password: updateUser
    restart all brokers one by one: rollingRestart, guide:restart-a-cluster
    restore: backup restore
    retired broker still reported as missing: inventory forget
    review changes before applying: plan, guide:plan-and-apply, guide:make-changes-safely
    revoke access of a user: deleteAcl, updateAcl, deleteUser
    rewind a group by two hours: resetOffsetByTime
    roll back a rebalance: rebalance run, guide:run-a-rebalance-plan
    same users on every broker: copyUser, guide:manage-users-and-acls, copyAcl
    save cluster address: context set
    save messages to disk as json: messages export
    scheduled messages not yet delivered: delayed list
    script many changes at once: batch, guide:write-scripts, updateTopicList
    search a topic by part of its name: topicList, guide:find-a-topic-message-or-client
    send 1000 messages: produce, bench produce, sendMessage
    settings that differ between brokers: configDiff
    several clusters on one laptop: context set, context use, guide:contexts
    show broker settings: getBrokerConfig
    show the content of messages: printMsg, consume, printMsgByQueue, consumeMessage, guide:browse-messages
    simulate a network partition: lab run, lab list
    skip all old messages: skipAccumulatedMessage, resetOffsetByTime
    split brain: divergence, guide:fix-name-server-disagreement
    start second broker in the same process: addBroker
    state of the cluster an hour ago: route at, snapshot save, history, snapshot show
    stop a group from consuming for a while: updateSubGroup
    stop a group from reading: updateSubGroup
    stop: drain
    switch the consumers over to the new cluster: transfer offsets, guide:migrate-a-cluster
    switch to production cluster: context use
    tail: journal tail
    take broker out for maintenance: drain, guide:drain-and-stop-a-broker
    take queues of one topic away from a broker: rebalance plan, remappingStaticTopic
    topic vanished: history, route explain, divergence, backup restore
    topics created automatically turn off: updateBrokerConfig
    topics nobody writes: orphans, statsAll
    topics not evenly distributed: spread, guide:spread-topics, rebalance plan
    topics of a broker missing at the name server: repair register, guide:fix-no-route-info
    topics without any traffic: statsAll, orphans
    undelete: backup restore
    user leaves the company: deleteUser, updateUser
    wait until broker is back: check brokers, check all, check namesrv
    was this message consumed: message track, queryMsgTraceById
    webhook: guide:export-metrics, guide:write-scripts, guide:monitor, startMonitoring
    what changed since the backup: backup diff
    what did the route look like yesterday: route at
    what does SYSTEM_BUSY mean: errors, broker explain, guide:fix-system-busy
    what if a broker dies: whatIf
    when did broker leave: history, inventory list, guide:find-missing-brokers
    where did message go: message track
    which application produces these messages: producer, producerConnection, client list
    which broker is master: clusterList
    which brokers are up: clusterList, check brokers
    which clients consume a topic: consumerConnection
    which consumer instance reads which queue: consumerProgress
    which consumers have lag on this broker: brokerConsumeStats
    which machines write to a topic: producer, client list
    which topics are busiest: statsAll
    which topics take the space: statsAll
    who changed: audit list, history
    who consumed this message: message track
    who consumes the topic orders: client list
    who consumes topic: client list
    who deleted a topic: history, audit list
    who has admin rights: listUser, listAcl, securityAudit
    who is the controller leader: getControllerMetaData
    who sends to this topic: client list
    why is one consumer idle: allocateMQ, group explain, consumerStatus
    why is sending slow: broker explain, guide:fix-system-busy
    why was this message not delivered: message track, group explain, queryMsgTraceById
    zero downtime restart: rollingRestart, guide:restart-a-cluster, drain
"""
"""Questions of operators, with right answers: commands, or guides as guide:NAME."""
MOST_MISSED = 5


@pytest.fixture(scope="module", autouse=True)
def fill_once() -> Iterator[None]:
    """Let all searches of these tests copy one index."""
    with closing(sqlite3.connect(":memory:")) as index, pytest.MonkeyPatch.context() as patch:
        examples = search._fill(index)
        index.commit()

        def copy_index(database: sqlite3.Connection) -> dict[str, list[CommandExample]]:
            index.backup(database)
            return examples

        patch.setattr(search, "_fill", copy_index)
        yield


def test_nearly_all_questions_have_an_answer_among_the_first_three() -> None:
    missed = []
    for line in QUESTIONS.strip().splitlines():
        question, _, answers = line.strip().partition(": ")
        commands, _, guides = str(find_page(question.split())).partition("\nGuides:\n")
        found = [
            *re.findall(r"^(\w[\w -]*): \S", commands, re.M)[:3],
            *(f"guide:{name}" for name in re.findall(r"^  nsadmin guide (\S+)", guides, re.M)[:3]),
        ]
        if not set(answers.split(", ")) & set(found):
            missed.append((question, found))
    assert len(missed) <= MOST_MISSED, missed


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("a master died", "nsadmin check writable"),
        ("a master is dead", "nsadmin check writable"),
        ("a master died", "nsadmin guide when-a-master-dies"),
        ("consumers get no queues", "nsadmin group explain warehouse --filter step=owners"),
        ("no queue is assigned to a client", "nsadmin group explain warehouse --filter step=owners"),
        ("unused topics", "nsadmin topicList -c --idle 30d --no-system --filter groups="),
        (
            "topics without messages for 30 days",
            "nsadmin topicList -c --idle 30d --no-system --filter groups=",
        ),
        (
            "topics that nobody reads or writes",
            "nsadmin topicList -c --idle 30d --no-system --filter groups=",
        ),
        ("prometheus grafana", "nsadmin exporter --http 0.0.0.0:9557"),
        ("one pod of a consumer gets no messages", "nsadmin group explain warehouse"),
        (
            "nagios check consumer lag",
            "nsadmin check lag warehouse --warning 50000 --critical 500000 --format nagios",
        ),
        (
            "icinga perfdata lag",
            "nsadmin check lag warehouse --warning 50000 --critical 500000 --format nagios",
        ),
        (
            "new team: topic, group and user with rights only on those",
            "nsadmin guide manage-users-and-acls",
        ),
        ("onboard a new application", "nsadmin guide manage-users-and-acls"),
        (
            "duplicate messages",
            "nsadmin group explain warehouse --filter 'step~failures|offsets|messageModel'",
        ),
        (
            "move a topic to another broker",
            "nsadmin rebalance plan -c cluster-a --remove broker-a-0 --topics orders --out plan.yaml",
        ),
        ("throttle a producer", "nsadmin updateTopicPerm payments 4 -c '*' --dry-run"),
        ("which topics are growing fastest", "nsadmin statsAll --no-system --sort -inTps --limit 5"),
        ("save the offsets of all groups", "nsadmin backup create cluster-a --file cluster-a.nsbackup.zip"),
        ("connect timeout to broker", "nsadmin check brokers"),
        ("reset offset to latest", "nsadmin resetOffsetByTime warehouse payments -s now --dry-run"),
        ("messages between two times", "nsadmin printMsg payments --from 13:00 --until 14:00"),
        ("make topic read only", "nsadmin updateTopicPerm payments 4 -c '*' --yes"),
        ("who reads this topic", "nsadmin topicList payments -c"),
        ("retry topic grows", "nsadmin group explain --topic payments --filter result!=skipped"),
        ("consumer offset is ahead of the broker", "nsadmin group explain warehouse --filter step=offsets"),
        ("pull messages as csv", "nsadmin printMsg payments --from 1h --output csv"),
        ("find idle topics", "nsadmin topicList -c --idle 30d --no-system"),
        ("purge dead letters", "nsadmin dlq purge payments-consumer --before now --yes"),
    ],
)
def test_the_line_that_does_it_is_among_the_first(question: str, line: str) -> None:
    lines = re.findall(r"^  (nsadmin guide \S+|nsadmin .+)", str(find_page(question.split())), re.M)
    guides = [line for line in lines if line.startswith("nsadmin guide ")]
    assert line in [*[line for line in lines if line not in guides][:6], *guides[:1]]


def test_a_word_that_nothing_has_finds_nothing() -> None:
    with pytest.raises(UsageError, match='no command and no guide has "noSuchCommand"'):
        find_page(["noSuchCommand"])


@pytest.mark.parametrize("question", ["python lag of each group", "lag in a Jupyter notebook"])
def test_a_question_about_the_library_shows_its_guide_first(question: str) -> None:
    page = str(find_page(question.split()))
    assert page.split("\n\n")[1].startswith("Guides:\n  nsadmin guide write-scripts ")
    assert page.count("Guides:") == 1
    assert "\n      groups, errors = admin.consumers.get_all_progress()\n" in page
    assert not str(find_page(["lag", "of", "each", "group"])).split("\n\n")[1].startswith("Guides:")


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("python lag of each group", "consumerProgress: admin.consumers.get_all_progress()"),
        ("dead letters with the python library", "dlq list: admin.dead_letters.count_letters(groups"),
    ],
)
def test_a_question_about_the_library_shows_the_methods_of_commands(question: str, line: str) -> None:
    [section] = [
        part for part in str(find_page(question.split())).split("\n\n") if part.startswith("Methods ")
    ]
    assert f"\n  {line}" in section


def test_the_questions_lead_to_pages_that_exist() -> None:
    pages = {entry.typed_name for entry in registry.COMMANDS} | {f"guide:{name}" for name in find_guides()}
    assert search.read_answers().keys() <= pages


def test_all_before_other_words_is_a_word_of_a_question() -> None:
    assert "\nconsumerProgress: " in str(find_page(["all", "consumer", "groups"]))


def test_the_best_commands_have_the_example_with_most_of_the_words() -> None:
    page = find_page(["deleted", "topic", "get", "back"])
    assert page is not None
    assert "\n  nsadmin backup restore cluster-a.nsbackup.zip -t orders --yes\n" in page
    assert "--force" not in str(find_page(["stop", "a", "broker"]))


def test_a_setting_leads_to_its_command_and_its_example() -> None:
    for words in ("maxMessageSize", "allow bigger messages"):
        page = find_page(words.split())
        assert "\n  nsadmin updateBrokerConfig maxMessageSize 8388608 -c cluster-a\n" in str(page)
    for answer in search.read_answers()["updateBrokerConfig"]:
        # namesrvAddr has no default.
        assert answer.example is None or answer.example.command_line.split()[2] in {
            *read_setting_names()["broker"],
            "namesrvAddr",
        }


def test_the_search_reads_the_docstrings_of_all_commands() -> None:
    for entry in registry.COMMANDS:
        assert parse_docstring(search.read_source(entry)[1]) == parse_docstring(entry.load_function())


def test_errors_are_found_by_their_text() -> None:
    page = find_page(["SLAVE_NOT_AVAILABLE"])
    assert page is not None
    assert "Errors:\n  nsadmin errors 11 " in page


def test_guides_are_found_by_their_text() -> None:
    page = find_page(["preStop", "hook"])
    assert page is not None
    assert "Guides:\n  nsadmin guide run-on-kubernetes" in page


def test_words_that_are_nowhere_are_an_error() -> None:
    with pytest.raises(UsageError, match='no command and no guide has "columnz": nsadmin help all lists'):
        find_page(["columnz"])


def test_options_environment_and_exit_codes_are_pages(run: Run) -> None:
    for word, text in (
        ("options", "--namesrvAddr ADDRS"),
        ("options", "-y, --yes"),
        ("options", "--wait-until-ok DURATION"),
        ("environment", "NAMESRV_ADDR"),
        ("exit-codes", "  3    partly done: some servers failed\n"),
    ):
        result = run("help", word)
        assert (result.code, result.err) == (0, "")
        assert text in result.out


def test_columns_of_a_command_are_explained(run: Run) -> None:
    result = run("help", "columns", "kv", "get")
    assert result.code == 0
    assert result.out.startswith(
        "Columns of nsadmin kv get, for --columns, --sort and --filter:\n  namesrvAddr  "
    )
    assert run("help", "columns", "batch").out == "batch prints no table.\n"
    assert run("help", "columns", "kvv").code == 2
    usage = "nsadmin: missing argument COMMAND: usage: nsadmin help columns COMMAND\n"
    assert run("help", "columns") == (2, "", usage)
