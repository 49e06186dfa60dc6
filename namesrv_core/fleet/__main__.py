"""`python -m namesrv_core.fleet`: the same as `nsadmin lab`."""

import sys

from namesrv_core.fleet.lab import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
