"""The smallest degree of a lever: it fits, and the next smaller one does not."""

import re
from dataclasses import replace
from functools import cache

from engine.estimate import ledger
from engine.units import MIB
from problems.registry import build
from quiz.answers import Unreadable
from quiz.grading import grade

SEEDS = range(40)


@cache
def drawn():
    return tuple(build("smallest-change", seed) for seed in SEEDS)


def of_stages():
    return [problem for problem in drawn() if problem.answer.before]


def of_splits(noun):
    return [problem for problem in drawn() if problem.answer.noun == noun]


def under(problem, stage):
    x = problem.scenario
    return replace(x, parallel=replace(x.parallel, zero=stage))


def split(problem, degree):
    """The run with so many ranks or stages, the number of GPUs kept."""
    x = problem.scenario
    if degree == 1:
        return x
    ranks = {"data": x.parallel.data // degree}
    if problem.answer.noun == "ranks":
        ranks |= {"tensor": degree, "sequence_parallel": True}
    else:
        ranks |= {"pipeline": degree}
    return replace(x, parallel=replace(x.parallel, **ranks))


def room(problem):
    percent = re.search(r"within (\d+)%", problem.prompt)
    share = int(percent[1]) if percent else 100
    return problem.scenario.hardware.gpu.memory_mib * MIB * share // 100


def named(problem, name):
    return next((m for m in problem.mistakes if m.name == name), None)


def test_all_three_levers_are_asked_about():
    assert min(len(of_stages()), len(of_splits("ranks")), len(of_splits("stages"))) >= 6


def test_the_lowest_stage_fits_and_no_lower_one_does():
    for problem in of_stages():
        right = problem.answer.value
        peaks = [ledger(under(problem, stage)).peak for stage in range(right + 1)]
        assert peaks[right] <= room(problem)
        assert all(peak > room(problem) for peak in peaks[:right])


def test_the_smallest_split_fits_and_half_of_it_does_not():
    for problem in (*of_splits("ranks"), *of_splits("stages")):
        right = problem.answer.value
        assert ledger(split(problem, right)).peak <= room(problem)
        assert ledger(split(problem, right // 2)).peak > room(problem)


def test_every_stage_is_an_answer():
    assert {problem.answer.value for problem in of_stages()} == {1, 2, 3}


def test_the_sizes_in_the_prompt_are_those_of_the_unsplit_run():
    for problem in (*of_splits("ranks"), *of_splits("stages")):
        saved = re.search(r"would save ([\d.,]+) (GB|MB)", problem.prompt)
        x = problem.scenario
        tokens, a = x.tokens, x.architecture
        # Full recomputation keeps a layer's input, 2 bytes an element; all else keeps more.
        inputs = 2 * tokens * a.hidden * a.layers
        size = float(saved[1].replace(",", "")) * {"GB": 1e9, "MB": 1e6}[saved[2]]
        if x.recipe.recompute == "full":
            assert abs(size / inputs - 1) < 0.006
        else:
            assert size > 4 * inputs


def test_activations_left_whole_would_take_more_ranks():
    seen = 0
    for problem in of_splits("ranks"):
        slip = named(problem, "activations left whole")
        if slip:
            x, degree = problem.scenario, int(slip.value)
            each = 6 + 12 * degree / x.parallel.data if x.parallel.zero else 18
            assert degree > problem.answer.value
            assert each * x.architecture.parameters / degree < room(problem)
            seen += 1
    assert seen > 0


def test_a_first_stage_saves_what_all_layers_save_however_many_stages_there_are():
    seen = 0
    for problem in of_splits("stages"):
        slip = named(problem, "activations divided by the stages")
        if slip:
            assert slip.value < problem.answer.value
            assert ledger(split(problem, int(slip.value))).peak > room(problem)
            seen += 1
    assert seen > 0


def test_neighbours_are_told_with_their_peaks():
    for problem in (*of_splits("ranks"), *of_splits("stages")):
        slip = named(problem, "half of what it takes")
        if slip:
            peak = ledger(split(problem, int(slip.value))).peak / 1e9
            said = float(re.search(r"takes ([\d,.]+) GB", slip.feedback)[1].replace(",", ""))
            assert abs(said / peak - 1) < 0.006


def test_only_the_stages_that_the_prompt_names_may_be_typed():
    assert of_stages()
    for problem in of_stages():
        assert problem.answer.among == (1, 2, 3)
        assert "(1 to 3)" in problem.prompt


def test_only_powers_of_two_up_to_all_gpus_are_degrees():
    for problem in (*of_splits("ranks"), *of_splits("stages")):
        allowed = problem.answer.among
        assert allowed == tuple(2**n for n in range(len(allowed)))
        assert allowed[-1] == problem.scenario.hardware.gpus


def test_a_degree_that_the_model_cannot_be_split_by_is_told_by_what_it_does_not_divide():
    problem = next(p for p in of_splits("ranks") if p.scenario.architecture.heads % 3)
    heads = problem.scenario.architecture.heads
    said = grade(problem, "3")
    assert isinstance(said, Unreadable)
    assert said.reason.startswith(f"3 ranks cannot share {heads} query heads evenly; type 1, 2, ")


def test_a_power_of_2_that_does_not_divide_the_layers_is_wrong_and_never_fits():
    seen = 0
    for problem in of_splits("stages"):
        layers = problem.scenario.architecture.layers
        for degree in (n for n in problem.answer.among if layers % n):
            said = grade(problem, str(degree))
            assert said.score == 0
            assert f"{degree} stages cannot share {layers} layers evenly." in said.feedback
            assert "fits too" not in said.feedback
            seen += 1
    assert seen
