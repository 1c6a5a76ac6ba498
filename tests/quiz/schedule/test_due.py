import math
import os
import time
from datetime import timedelta

import pytest

from quiz.schedule.concepts import Concept
from quiz.schedule.due import cards, due

KIND = Concept(kind="zero-states")
MASTER = Concept(kind="zero-states", mistake="master copy forgotten")
DAY = timedelta(days=1)


# FSRS-6 with its published weights w0 … w20: the first interval is w0 (again), w1 (hard) or w2
# (good) days, at 90% retention, in whole days and no fewer than one.
@pytest.mark.parametrize(
    ("given", "days"),
    [({"score": 1}, 2), ({"score": 1, "hints": 1}, 1), ({"score": 0}, 1), ({"score": "1/2"}, 1)],
)
def test_a_first_answer_brings_the_kind_back_after_days(answer, start, given, days):
    standing = cards([answer("zero-states@3", **given)])[KIND]
    assert standing.due == start + days * DAY


def by_hand(times):
    """Whole days between answers, each right and on its day, by FSRS-6 as it is published.

    github.com/open-spaced-repetition/fsrs4anki/wiki/The-Algorithm: S' = S·(1 + e^w8·(11 - D)·
    S^-w9·(e^(w10·(1 - R)) - 1)), R = (1 + f·t/S)^-w20 with f = 0.9^(-1/w20) - 1, and an interval
    at 90% is S. D moves w7 of the way to D0(easy); good itself moves it not.
    """
    w4, w5, w7, w8, w9, w10, w20 = 6.4133, 0.8334, 0.001, 1.8722, 0.1666, 0.796, 0.1542
    easy = w4 - math.exp(3 * w5) + 1
    stability, difficulty = 2.3065, w4 - math.exp(2 * w5) + 1
    factor = 0.9 ** (-1 / w20) - 1
    days = []
    for _ in range(times):
        days.append(round(stability))
        known = (1 + factor * days[-1] / stability) ** -w20
        grown = math.exp(w8) * (11 - difficulty) * stability**-w9
        stability *= 1 + grown * (math.exp(w10 * (1 - known)) - 1)
        difficulty = w7 * easy + (1 - w7) * difficulty
    return days


def test_what_is_known_again_and_again_comes_back_ever_later(answer):
    answers, day = [], 0
    gaps = []
    for seed in range(5):
        answers.append(answer(f"zero-states@{seed}", 1, day=day))
        standing = cards(answers)[KIND]
        gaps.append((standing.due - standing.last).days)
        day += gaps[-1]
    assert gaps == by_hand(5)
    assert gaps[:3] == [2, 11, 46]


def test_a_lapse_brings_it_back_soon_and_counts(answer):
    days = (0, 2, 13)
    answers = [answer(f"zero-states@{day}", 1, day=day) for day in days]
    answers.append(answer("zero-states@9", 0, day=40))
    standing = cards(answers)[KIND]
    assert (standing.due - standing.last) <= 4 * DAY
    assert (standing.met, standing.lapses) == (4, 1)


def test_a_mistake_has_its_own_date_beside_its_kind(answer, start):
    wrong = answer("zero-states@3", 0, mistake=MASTER.mistake)
    right = answer("zero-states@4", 1, day=1)
    told = answer("zero-states@5", 1, day=1, tells=(MASTER.mistake,))
    assert cards([wrong, right])[MASTER].due == start + DAY
    assert cards([wrong, told])[MASTER].due > start + 2 * DAY


def test_a_mistake_that_no_answer_can_be_traced_to_any_more_does_not_stay_due(answer, start):
    wrong = answer("zero-states@3", 0, mistake=MASTER.mistake)
    days = (1, 12, 58)
    right = [answer(f"zero-states@{day}", 1, day=day) for day in days]
    assert cards([wrong, *right[:2]])[MASTER].due == start + DAY
    assert cards([wrong, *right])[MASTER].due > start + 60 * DAY
    # Those that came before it was due again are no sign.
    early = [answer(f"zero-states@{number}", 1, day=0.1 * number) for number in range(1, 9)]
    assert cards([wrong, *early])[MASTER].due == start + DAY
    # Nor are answers of another kind.
    others = [answer(f"peak@{day}", 1, day=day) for day in days]
    assert cards([wrong, *others])[MASTER].due == start + DAY


def test_of_two_mistakes_at_once_each_comes_back(answer):
    both = f"{MASTER.mistake} and GB typed as GiB"
    wrong = answer("zero-states@3", 0, mistake=both, tells=(MASTER.mistake, "GB typed as GiB"))
    units = Concept(kind="zero-states", mistake="GB typed as GiB")
    assert set(cards([wrong])) == {KIND, MASTER, units}


def test_what_is_due_comes_with_the_most_overdue_first(answer, start):
    answers = [answer("peak@3", 0, day=1), answer("zero-states@3", 0, mistake=MASTER.mistake)]
    answers.sort(key=lambda one: one.at)
    peak = Concept(kind="peak")
    assert due(answers, start + DAY - timedelta(seconds=1)) == ()
    assert due(answers, start + DAY) == (KIND, MASTER)
    assert due(answers, start + 3 * DAY) == (KIND, MASTER, peak)


def test_an_answer_that_was_taken_back_leaves_no_trace(answer):
    before = [answer("zero-states@3", 1)]
    wrong = answer("zero-states@4", 0, mistake=MASTER.mistake, day=2)
    right = answer("zero-states@4", 1, day=2)
    assert cards([*before, right]) != cards([*before, wrong, right])
    assert MASTER not in cards([*before, right])


def test_a_clock_that_was_set_back_does_no_harm(answer):
    answers = [answer("zero-states@3", 1, day=9), answer("zero-states@4", 1, day=2)]
    assert cards(answers)[KIND].due > answers[0].at


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process is POSIX's")
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "America/St_Johns"])
def test_the_zone_of_the_machine_changes_nothing(answer, monkeypatch, zone):
    answers = [answer("zero-states@3", 1), answer("zero-states@4", 1, day=90)]
    here = cards(answers)
    monkeypatch.setitem(os.environ, "TZ", zone)
    time.tzset()
    try:
        assert cards(answers) == here
    finally:
        monkeypatch.undo()
        time.tzset()
