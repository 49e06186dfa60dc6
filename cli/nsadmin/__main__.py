"""`python -m nsadmin`."""

import sys

from nsadmin.start import main

sys.exit(main())
