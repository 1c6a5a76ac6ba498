"""What one state of an optimizer takes, by its form, and the shapes that some forms count."""

import pytest

from engine.architecture import Tensor
from engine.optimizers import optimizers
from engine.state_forms import FORMS, form_of, in_pages
from engine.stepped import shapes
from engine.symbols import P_blocks, P_factors, P_paged, P_small

# Bytes of a parameter's state where 2 or 4 bytes are stepped.
NEARLY = {"whole": (2, 4), "fp32": (4, 4), "8-bit": (1, 1), "factored": (0, 0), "hidden": (2, 4)}


def test_a_state_is_as_wide_as_what_is_stepped_or_of_a_width_of_its_own():
    found = {name: (form.nearly(2), form.nearly(4)) for name, form in FORMS.items()}
    assert found == NEARLY


# bitsandbytes: a byte each, and an fp32 scale for each block of 256.
@pytest.mark.parametrize(
    ("optimizer", "paper"),
    [
        ("adamw", "8"),
        ("sgd-momentum", "4"),
        ("lion", "4"),
        ("adamw-8bit", "2 + 8/256"),
        ("adafactor", "4 a row and column"),
        ("muon", "4; 8 outside the layers' matrices"),
    ],
)
def test_all_states_of_a_parameter_as_one_writes_them_down(optimizer, paper):
    row = optimizers()[optimizer]
    assert form_of(row).on_paper(row.states, 4) == paper


@pytest.mark.parametrize(
    ("optimizer", "reason"),
    [
        ("adamw", "two moments of 4 bytes a parameter"),
        ("lion", "momentum in fp32, 4 bytes a parameter"),
        ("adamw-8bit", "4 bytes for each block of 256; small tensors' in fp32"),
        ("adafactor", "4 bytes for each row and column of a matrix"),
        ("muon", "4 bytes a parameter of the layers' matrices, two moments of all others"),
    ],
)
def test_the_reason_names_the_bytes(optimizer, reason):
    row = optimizers()[optimizer]
    assert reason in form_of(row).why(f"two {row.called}", 4)


def test_states_of_8_bits_have_blocks_and_tensors_of_fewer_than_4096_elements_none():
    stepped = [((4095,), 3), ((4096,), 5), ((64, 65), 2), ((1,), 1)]
    counted = FORMS["8-bit"].counts(stepped)
    assert counted == {P_small: 3 * 4095 + 1, P_blocks: 5 * 16 + 2 * 17}


def test_states_of_100_000_elements_are_paged():
    assert in_pages([((99_999,), 3), ((1000, 100), 5)]) == {P_paged: 500_000}


def test_factors_are_of_the_last_two_dimensions():
    stepped = [((7,), 2), ((3, 5), 10), ((4, 3, 5), 100)]
    assert FORMS["factored"].counts(stepped) == {P_factors: 2 * 7 + 10 * 8 + 100 * 4 * 8}


TENSORS = (
    Tensor(name="norm", place="layer", rows=7, copies=3),
    Tensor(name="narrow", place="layer", rows=5, columns=2),
    Tensor(name="expert up", place="moe-layer", rows=4, columns=6 * 8, copies=2),
    Tensor(name="expert down", place="moe-layer", rows=4, columns=3 * 8),
)


@pytest.mark.parametrize(
    ("zero", "ranks", "stepped"),
    [
        (0, 3, [((7,), 3), ((5, 2), 1), ((4, 6, 8), 2), ((4, 3, 8), 1)]),
        (1, 1, [((7,), 3), ((5, 2), 1), ((4, 6, 8), 2), ((4, 3, 8), 1)]),
        (3, 3, [((3,), 3), ((2, 2), 1), ((2, 6, 8), 2), ((2, 3, 8), 1)]),
        # 21 + 10 + 384 + 96 elements in 3 parts
        (1, 3, [((171,), 1)]),
        (2, 3, [((171,), 1)]),
    ],
)
def test_a_rank_steps_whole_tensors_or_one_flat_part_or_rows(zero, ranks, stepped):
    assert list(shapes(TENSORS, hidden=8, zero=zero, ranks=ranks)) == stepped
