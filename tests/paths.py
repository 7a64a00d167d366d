"""Where things are in the repository."""

import os
from pathlib import Path

ROOT = Path(__file__).parent.parent
#: For a process of its own: `tidegate` as it is in this tree, whatever is installed, and `tests`.
PYTHONPATH = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
