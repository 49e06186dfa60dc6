"""Entry point of `python -m nsreport`."""

import sys

from nsreport.command import main

sys.exit(main())
