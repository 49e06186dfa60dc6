"""`python -m nsadmin`."""

import sys

from nsadmin.app import main

sys.exit(main())
