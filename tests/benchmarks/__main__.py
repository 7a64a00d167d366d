"""`make bench`: ratios measured in one run, on this machine. Not a test: nothing here fails for being slow."""

import importlib
import pkgutil
import sys

import tests.benchmarks


def main():
    wanted = sys.argv[1:]
    print("| benchmark | measured | goal |\n|---|---|---|")
    for module in pkgutil.iter_modules(tests.benchmarks.__path__):
        if module.name.startswith("bench_") and (not wanted or module.name.removeprefix("bench_") in wanted):
            for name, measured, goal in importlib.import_module(f"tests.benchmarks.{module.name}").measure():
                print(f"| {name} | {measured} | {goal} |", flush=True)


if __name__ == "__main__":
    main()
