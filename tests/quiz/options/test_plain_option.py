import re

import pytest

RUN = (
    "--model",
    "llama-3-8b",
    "--sequence",
    "4096",
    "--gpu",
    "h100-80gb",
    "--gpus",
    "8",
    "--zero",
    "3",
)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("solve", *RUN), r"^forward: \d+\.\d\d GB: weights .* GB, optimizer state "),
        (("levers", *RUN), r"^rank: 1; lever: .*; saves: .* GB; peak: .* GB; fits: "),
        (("catalog", "gpus"), r"^name: t4; GPU: Tesla T4; MiB: 15,360; memory: 16.11 GB$"),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_a_plain_screen_says_in_words_what_bars_and_columns_show(memquiz, arguments, said):
    plain = memquiz(*arguments, "--plain").stdout
    assert plain.isascii()
    assert re.search(said, plain, re.MULTILINE)
    assert not re.search(r"^ | {2}|WWW|OOO|AAA|LLL|\x1b", plain, re.MULTILINE)


def test_the_variable_asks_for_the_same_as_the_option(memquiz):
    option = memquiz("catalog", "gpus", "--plain")
    variable = memquiz("catalog", "gpus", MEMQUIZ_PLAIN="1")
    assert option.stdout == variable.stdout != memquiz("catalog", "gpus").stdout


def test_faults_are_ascii_too(memquiz):
    run = memquiz("practice", "--kind", "→·", "--plain")
    assert (run.returncode, run.stderr.isascii()) == (2, True)
