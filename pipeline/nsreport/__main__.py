"""`python -m nsreport`, and what spark-submit runs."""

import sys

from nsreport.command import main

sys.exit(main())
