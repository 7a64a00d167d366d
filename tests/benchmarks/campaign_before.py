"""`python -m tests.benchmarks.campaign_before be5c727`: a campaign here, over the same one of another commit or tree.

The valve on the reference in one process, files and summary included: cases per CPU second of the command, once its
modules are loaded. The two take turns, so that both see the same machine.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
CAMPAIGN = """
import sys, time
from contextlib import redirect_stdout, redirect_stderr
from io import StringIO
from tidegate.conformance.cli.main import main
def campaign(cases, out):
    options = ["--engine", "reference", "--component", "valve", "--local", "--chunk", "1000"]
    with redirect_stdout(StringIO()) as said, redirect_stderr(said):
        assert main(["campaign", *options, "--cases", str(cases), "--seed", str(cases), "--out", out]) == 0, said
cases, folder = int(sys.argv[1]), sys.argv[2]
campaign(500, folder + "/warm")
started = time.process_time()
campaign(cases, folder + "/measured")
print(cases / (time.process_time() - started))
"""


@contextmanager
def tree_of(before):
    """The folder itself, or a checkout of the commit."""
    if Path(before).is_dir():
        yield Path(before)
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", tree, before], cwd=HERE, check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", tree], cwd=HERE, check=True)


def rate(tree, cases):
    """Cases per CPU second in that tree."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
        command = [sys.executable, "-c", CAMPAIGN, str(cases), folder]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a commit, or the folder of another tree")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--pairs", type=int, default=3)
    args = parser.parse_args()
    with tree_of(args.before) as before:
        pairs = [(rate(before, args.cases), rate(HERE, args.cases)) for _ in range(args.pairs)]
    ratios = sorted(now / then for then, now in pairs)
    then, now = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"| cases per CPU second, {args.before} and here | ratio, median | {args.pairs} pairs |\n|--:|--:|--:|")
    print(f"| {then:,.0f} and {now:,.0f} | {statistics.median(ratios):.2f} | {ratios[0]:.2f} to {ratios[-1]:.2f} |")


if __name__ == "__main__":
    main()
