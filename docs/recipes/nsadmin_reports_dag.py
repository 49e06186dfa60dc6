"""Reports of RocketMQ's name servers every night, for Airflow 3: docs/how-to/schedule-and-use-reports.md.

Copy this file into the folder of DAGs. Workers need nsadmin[spark] on their PATH, and both folders.
"""

from datetime import datetime, timedelta

from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param

REPORTS = (
    "broker_availability",
    "broker_flaps",
    "drain_audit",
    "ns_divergence",
    "topic_growth",
    "data_quality",
)

with DAG(
    "nsadmin_reports",
    description="Reports of RocketMQ's name servers",
    schedule="10 2 * * *",
    start_date=datetime(2025, 1, 1),
    catchup=False,
    # A second run would find the tables locked.
    max_active_runs=1,
    default_args={"retries": 2, "retry_delay": timedelta(minutes=10)},
    params={
        "sources": Param("*=/var/history/*", type="string"),
        "home": Param("/var/lib/nsadmin-report", type="string"),
    },
) as dag:
    # The next run completes a run that was killed, so a retry is safe. Exit code 3 means that the tables are
    # complete, and that many lines of the input were unreadable. The last task judges that.
    run = BashOperator(
        task_id="run",
        bash_command=(
            "nsadmin report run --source '{{ params.sources }}' --dir '{{ params.home }}/tables'"
            " || [ $? -eq 3 ]"
        ),
        execution_timeout=timedelta(hours=6),
    )
    exports = [
        BashOperator(
            task_id=f"export_{report}",
            bash_command=(
                f"mkdir -p '{{{{ params.home }}}}/files' && cd '{{{{ params.home }}}}/files' && "
                # Readers see the old file or the new one.
                f"nsadmin report export {report} --dir ../tables --out .{report}.parquet && "
                f"mv .{report}.parquet {report}.parquet"
            ),
        )
        for report in REPORTS
    ]
    html = BashOperator(
        task_id="html",
        bash_command=(
            "nsadmin report html --dir '{{ params.home }}/tables' --out-folder '{{ params.home }}/pages'"
        ),
    )
    check = BashOperator(
        task_id="check", bash_command="nsadmin check reports --dir '{{ params.home }}/tables'", retries=0
    )
    run >> [*exports, html] >> check
