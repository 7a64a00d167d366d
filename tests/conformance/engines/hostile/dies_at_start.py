"""Dies before it answers hello, with last words."""

import sys

sys.exit("no configuration found \x1b[31m")
