"""The rules of autograd on paper, each on the smallest tape that shows it."""

from engine.symbols import RING, b
from engine.tape import Operator, Tape, Value, total_gradients

ONE = RING(b)


def value(name, size=1):
    return Value(name=name, size=size * ONE)


def units(polynomials):
    return [int(p.get((1,) + (0,) * (len(RING.gens) - 1), 0)) for p in polynomials]


def test_an_output_dies_with_its_last_reader():
    x, y, z, w = value("x"), value("y", 10), value("z", 100), value("w", 1000)
    tape = Tape(
        operators=(
            Operator(inputs=(x,), output=y),
            Operator(inputs=(y,), output=z),
            Operator(inputs=(z,), output=w),
        )
    )
    assert units(tape.forward()) == [11, 110, 1100]


def test_what_is_kept_lives_on_unless_nothing_is_kept():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y, keeps=(x,)),
        Operator(inputs=(y,), output=z, keeps=(y,)),
    )
    tape = Tape(operators=ops)
    assert units(tape.forward()) == [11, 111]
    assert units(tape.forward(keeping=False)) == [11, 110]
    assert units([tape.saved_bytes]) == [11]


def test_a_tensor_kept_twice_counts_once():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y, keeps=(x,)),
        Operator(inputs=(x, y), output=z, keeps=(x,)),
    )
    assert units([Tape(operators=ops).saved_bytes]) == [1]


def test_the_backward_holds_saved_and_both_gradients_then_lets_go():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y, keeps=(x,)),
        Operator(inputs=(y,), output=z, keeps=(y,)),
    )
    # saved 11 + gradients of z and y, then saved 1 + gradients of y and x
    assert units(Tape(operators=ops).backward(keeps_gradients=True)) == [121, 12]


def test_parameter_gradients_stay_or_are_added_to_older_ones():
    x, y, z = value("x"), value("y"), value("z")
    ops = (
        Operator(inputs=(x,), output=y, gradients=1000 * ONE),
        Operator(inputs=(y,), output=z, gradients=1000 * ONE),
    )
    tape = Tape(operators=ops)
    assert units(tape.backward(keeps_gradients=True)) == [1002, 2002]
    assert units(tape.backward(keeps_gradients=False)) == [1002]
    assert units([total_gradients(tape)]) == [2000]


def test_a_residual_hands_its_gradient_on():
    x, y, z = value("x"), value("y"), value("z")
    ops = (
        Operator(inputs=(x,), output=y),
        Operator(inputs=(x, y), output=z, hands_on=True),
    )
    # the gradient of z is that of x and y too; the branch makes one more, which is added in place
    assert units(Tape(operators=ops).backward(keeps_gradients=True)) == [1, 2]


def test_a_gradient_of_another_dtype_is_a_tensor_of_its_own():
    x, y, z = value("x", 2), value("y", 1), value("z", 2)
    ops = (Operator(inputs=(x, y), output=z, hands_on=True),)
    assert units(Tape(operators=ops).backward(keeps_gradients=True)) == [3]


def test_a_checkpoint_keeps_its_input_and_runs_again():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    inner = Tape(
        operators=(
            Operator(inputs=(x,), output=y, keeps=(x,)),
            Operator(inputs=(y,), output=z, keeps=(y,)),
        ),
        holds=(x,),
    )
    tape = Tape(operators=(Operator(inputs=(x,), output=z, keeps=(x,), inner=inner),))
    assert units([tape.saved_bytes]) == [1]
    # again: x and y beside the gradient of z, which is not made again; then the two backwards
    assert 111 in units(tape.backward(keeps_gradients=True))
    assert max(units(tape.backward(keeps_gradients=True))) == 121


def test_gradients_that_meet_are_added_in_place_unless_the_older_is_a_view():
    x, y, z, out = value("x"), value("y", 10), value("z", 10), value("out", 10)
    last = Operator(inputs=(y, z), output=out, hands_on=True)
    for views, expected in ((False, [10, 11, 12]), (True, [10, 11, 12, 3])):
        ops = (
            Operator(inputs=(x,), output=y, makes_views=views),
            Operator(inputs=(x,), output=z, makes_views=views),
            last,
        )
        assert units(Tape(operators=ops).backward(keeps_gradients=True)) == expected
