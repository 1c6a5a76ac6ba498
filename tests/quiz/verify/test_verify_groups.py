import pytest

from engine.ledger import Category
from engine.verify.timeline import Allocation
from quiz.verify.groups import grouped, operator


def tensor(module="", **changes):
    values = {
        "size": 512,
        "requested": 512,
        "shape": (8, 16),
        "dtype": "float32",
        "operator": "aten.mm.default",
        "module": module,
        "backward": False,
        "category": Category.ACTIVATIONS,
    }
    return Allocation(**values | changes)


def together(*tensors):
    return grouped((one, one.size) for one in tensors)


def test_what_stands_in_every_layer_is_one_row_with_its_layers():
    (group,) = together(*(tensor(f"layers.{n}.mlp.gate") for n in range(32)))
    assert (group.module, group.count, group.size) == ("layers.0-31.mlp.gate", 32, 32 * 512)


@pytest.mark.parametrize(
    ("modules", "path"),
    [
        (["layers.3"], "layers.3"),
        (["layers.0", "layers.1", "layers.5"], "layers.0-1,5"),
        (["layers.2.mlp", "layers.1.mlp"], "layers.1-2.mlp"),
        (["layers.10", "layers.9"], "layers.9-10"),
        (["h.0.experts.4.up", "h.1.experts.5.up"], "h.0-1.experts.4-5.up"),
        (["head", "head"], "head"),
        (["", ""], ""),
        (["block2.norm"], "block2.norm"),
    ],
)
def test_layer_numbers_are_told_as_ranges(modules, path):
    (group,) = together(*map(tensor, modules))
    assert (group.module, group.count) == (path, len(modules))


@pytest.mark.parametrize(
    "other",
    [
        {"shape": (16, 8)},
        {"dtype": "bfloat16"},
        {"category": Category.GRADIENTS},
        {"size": 1024},
        {"module": "layers.0.mlp.up"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_differs_in_more_than_the_layer_is_another_row(other):
    assert (
        len(
            together(
                tensor("layers.0.mlp.gate"), tensor(**{"module": "layers.1.mlp.gate"} | other)
            )
        )
        == 2
    )


def test_a_row_names_everything_that_made_its_tensors():
    (group,) = together(
        tensor(operator="aten.mul.Tensor"), tensor(operator="aten.add.Tensor"), tensor(operator="")
    )
    assert group.operators == ("aten.add", "aten.mul")


def test_the_largest_row_comes_first():
    rows = together(tensor("head", size=2048), *(tensor(f"layers.{n}") for n in range(8)))
    assert [row.module for row in rows] == ["layers.0-7", "head"]


@pytest.mark.parametrize(
    ("made_by", "name"),
    [
        ("aten.mul.Tensor", "aten.mul"),
        ("aten._to_copy.default", "aten._to_copy"),
        ("forward", "forward"),
        ("", ""),
    ],
)
def test_an_operator_is_named_without_its_overload(made_by, name):
    assert operator(tensor(operator=made_by)) == name
