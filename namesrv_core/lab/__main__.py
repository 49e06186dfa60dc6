"""`python -m namesrv_core.lab`: the same as `nsadmin lab`."""

import sys

from namesrv_core.lab.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
