"""The command line without a process of its own."""

import pytest

from tidegate.conformance.cli import main as cli


@pytest.fixture
def tidegate(monkeypatch, capsys):
    """Runs a verb as the command line does; gives the exit code and what was printed."""

    def run(verb, *words):
        monkeypatch.setattr(cli, "VERBS", (verb,))
        try:
            code = cli.main([verb, *words])
        except SystemExit as error:
            code = error.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run
