"""The rules of autograd on paper, each on the smallest tape that shows it."""

from engine.autograd import arrivals, backward, forward, passed_back
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
    assert units(forward(tape)) == [11, 110, 1100]


def test_what_is_kept_lives_on_unless_nothing_is_kept():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y, keeps=(x,)),
        Operator(inputs=(y,), output=z, keeps=(y,)),
    )
    tape = Tape(operators=ops)
    assert units(forward(tape)) == [11, 111]
    assert units(forward(tape, keeping=False)) == [11, 110]
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
    assert units(backward(Tape(operators=ops), keeps_gradients=True)) == [121, 12]


def test_parameter_gradients_stay_or_are_added_to_older_ones():
    x, y, z = value("x"), value("y"), value("z")
    ops = (
        Operator(inputs=(x,), output=y, gradients=1000 * ONE),
        Operator(inputs=(y,), output=z, gradients=1000 * ONE),
    )
    tape = Tape(operators=ops)
    assert units(backward(tape, keeps_gradients=True)) == [1002, 2002]
    assert units(backward(tape, keeps_gradients=False)) == [1002]
    assert units([total_gradients(tape)]) == [2000]


def test_a_residual_hands_its_gradient_on():
    x, y, z = value("x"), value("y"), value("z")
    ops = (
        Operator(inputs=(x,), output=y),
        Operator(inputs=(x, y), output=z, hands_on=True),
    )
    # the gradient of z is that of x and y too; the branch makes one more, which is added in place
    assert units(backward(Tape(operators=ops), keeps_gradients=True)) == [1, 2]


def test_a_gradient_of_another_dtype_is_a_tensor_of_its_own():
    x, y, z = value("x", 2), value("y", 1), value("z", 2)
    ops = (Operator(inputs=(x, y), output=z, hands_on=True),)
    assert units(backward(Tape(operators=ops), keeps_gradients=True)) == [3]


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
    assert 111 in units(backward(tape, keeps_gradients=True))
    assert max(units(backward(tape, keeps_gradients=True))) == 121


def test_gradients_that_meet_are_added_in_place_unless_the_older_is_a_view():
    x, y, z, out = value("x"), value("y", 10), value("z", 10), value("out", 10)
    last = Operator(inputs=(y, z), output=out, hands_on=True)
    for views, expected in ((False, [10, 11, 12]), (True, [10, 11, 12, 3])):
        ops = (
            Operator(inputs=(x,), output=y, makes_views=views),
            Operator(inputs=(x,), output=z, makes_views=views),
            last,
        )
        assert units(backward(Tape(operators=ops), keeps_gradients=True)) == expected


def test_all_gradients_that_meet_at_one_operator_are_added_up_behind_it():
    w, x, y = value("w", 5), value("x"), value("y", 2)
    p, q, out = value("p", 10), value("q", 10), value("out", 10)
    ops = (
        Operator(inputs=(w,), output=y),
        Operator(inputs=(x, y), output=p),
        Operator(inputs=(x, y), output=q),
        Operator(inputs=(p, q), output=out, hands_on=True),
    )
    # one gradient for p, q and out; those of x and y; again, beside these; that of w beside both
    moments = units(backward(Tape(operators=ops), keeps_gradients=True))
    assert moments == [10, 10 + 3, 10 + 3 + 3, 3 + 5]


def test_what_is_referred_to_lives_until_its_holder_has_run():
    x, y, z, w = value("x"), value("y", 10), value("z", 100), value("w", 1000)
    ops = (
        Operator(inputs=(x,), output=y),
        Operator(inputs=(y,), output=z),
        Operator(inputs=(z,), output=w, holds=(y,)),
    )
    assert units(forward(Tape(operators=ops))) == [11, 110, 1110]


def test_a_view_takes_no_bytes_but_its_gradient_does():
    x, whole = value("x"), value("whole", 30)
    first = Value(name="first", size=10 * ONE, view_of=whole)
    rest = Value(name="rest", size=20 * ONE, view_of=whole)
    z = value("z", 100)
    ops = (
        Operator(inputs=(x,), output=whole),
        Operator(inputs=(whole,), output=first, also=(rest,)),
        Operator(inputs=(first, rest), output=z, keeps=(first, rest)),
    )
    tape = Tape(operators=ops)
    assert units(forward(tape)) == [31, 30, 130]
    assert units([tape.saved_bytes]) == [30]
    # kept 30 and gradients 100 + 10 + 20; then those and the whole one; then the whole one and x
    assert units(backward(tape, keeps_gradients=True)) == [160, 60, 31]


def test_a_cached_tensor_lives_to_the_end_of_the_pass():
    x, y, z = value("x"), Value(name="y", size=10 * ONE, cached=True), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y),
        Operator(inputs=(y,), output=z),
        Operator(inputs=(z,), output=value("w", 1000)),
    )
    assert units(forward(Tape(operators=ops), keeping=False)) == [11, 110, 1110]


def test_what_stands_beside_a_layer_is_there_in_its_forward_only():
    x, y = value("x"), value("y", 10)
    inner = Tape(
        operators=(Operator(inputs=(x,), output=y, keeps=(x,)),),
        holds=(x,),
        beside=(value("mask", 100),),
    )
    tape = Tape(operators=(Operator(inputs=(x,), output=y, keeps=(x,), inner=inner),))
    assert max(units(forward(tape))) == 111
    assert max(units(backward(tape, keeps_gradients=True))) == 12


def test_what_is_held_from_outside_stays_to_the_end_of_a_backward():
    x, y = value("x"), value("y", 10)
    tape = Tape(operators=(Operator(inputs=(x,), output=y),))
    assert units(backward(tape, keeps_gradients=True)) == [11]
    assert units(backward(tape, keeps_gradients=True, held=(value("outside", 100),))) == [111]


def test_a_recomputation_waits_for_gradients_that_need_nothing_kept():
    x, y, z, out = value("x"), value("y", 10), value("z", 100), value("out", 1000)
    inner = Tape(
        operators=(
            Operator(inputs=(x,), output=y, keeps=(x,)),
            Operator(inputs=(y,), output=z, keeps=(y,)),
            Operator(inputs=(z,), output=out),
        ),
        holds=(x,),
    )
    # the last operator's backward runs first: then the gradient of z is what is there
    assert units([passed_back(inner)]) == [100]
    tape = Tape(operators=(Operator(inputs=(x,), output=out, keeps=(x,), inner=inner),))
    moments = units(backward(tape, keeps_gradients=True))
    assert moments[0] == 101 + 10  # x and y beside the gradient of z


def test_an_operator_that_keeps_its_own_output_makes_it_again():
    x, y = value("x"), value("y", 10)
    kept = Tape(operators=(Operator(inputs=(x,), output=y, keeps=(y,)),), holds=(x,))
    input_kept = Tape(operators=(Operator(inputs=(x,), output=y, keeps=(x,)),), holds=(x,))
    assert units(forward(kept.recomputed)) == [11]
    assert units(forward(input_kept.recomputed)) == [1]


def test_a_gradient_is_wide_before_it_is_cast():
    x, y = value("x", 2), value("y", 4)
    kept = value("kept", 50)
    op = Operator(inputs=(x,), output=y, keeps=(kept,), uncast=(4 * ONE, 2 * ONE))
    tape = Tape(operators=(op,))
    assert units(backward(tape, keeps_gradients=True)) == [50 + 4 + 2 + 4]
    # made again by a checkpoint, what is kept dies before the cast
    again = units(backward(tape, keeps_gradients=True, held=(value("x0", 100),)))
    assert again == [100 + 50 + 4 + 4, 100 + 4 + 2 + 4]


def test_what_an_operator_needs_for_its_backward_is_gone_when_its_gradient_is_cast():
    x, y, kept = value("x", 2), value("y", 4), value("kept", 50)
    op = Operator(
        inputs=(x,),
        output=y,
        keeps=(kept,),
        uncast=(4 * ONE, 2 * ONE),
        backward_workspace=7 * ONE,
    )
    again = backward(Tape(operators=(op,)), keeps_gradients=True, held=(value("x0", 100),))
    assert units(again) == [100 + 50 + 4 + 4 + 7, 100 + 4 + 2 + 4]


def test_a_gradient_that_has_come_is_beside_what_is_kept_and_passed_on_then():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    cast = Value(name="bias casts", size=5 * ONE, cached=True)
    ops = (
        Operator(inputs=(), output=cast, gradients=8 * ONE),
        Operator(inputs=(x,), output=y, keeps=(x,), gradients=2000 * ONE),
        Operator(
            inputs=(y, cast),
            output=z,
            keeps=(y,),
            gradients=3000 * ONE,
            late=4 * ONE,
            summed=(cast,),
        ),
    )
    # z's operator is done: x kept, gradients of y and the cast bias; then that of x in place of y
    first = 1 + 10 + 5 + 3004
    second = 5 + 1 + 2000
    last = 1 + 8
    assert units(arrivals(Tape(operators=ops))) == [first, second, last]


def test_a_bias_gradient_comes_before_what_was_kept_goes_but_not_behind_a_checkpoint():
    x, y, z = value("x"), value("y", 10), value("z", 100)
    ops = (
        Operator(inputs=(x,), output=y),
        Operator(inputs=(y,), output=z, keeps=(y,), gradients=1000 * ONE, late=4 * ONE),
    )
    tape = Tape(operators=ops)
    # y kept, gradients of z and y, the matrix's, the bias's
    assert units(backward(tape, keeps_gradients=False)) == [10 + 110 + 1004, 11]
    # the bias's when y is gone
    moments = units(backward(tape, keeps_gradients=False, held=(x,)))
    assert moments == [11 + 110 + 1000, 1 + 110 + 1004, 1 + 11]


def test_a_parameter_gradient_meets_an_older_one_when_the_one_that_came_in_is_gone():
    x = value("x", 10)
    ops = (Operator(inputs=(), output=x, backward_workspace=100 * ONE, meeting=200 * ONE),)
    assert units(backward(Tape(operators=ops), keeps_gradients=True)) == [110, 200]


def test_what_comes_from_outside_is_there_from_the_start():
    x, y, z, w = value("x"), value("y", 10), value("z", 100), value("w", 1000)
    ops = (Operator(inputs=(x,), output=z), Operator(inputs=(z, y), output=w))
    assert units(forward(Tape(operators=ops))) == [111, 1110]


def test_a_cached_tensor_outlives_its_readers_and_is_counted_once():
    x, y = value("x"), value("y", 10)
    cast = Value(name="cast", size=100 * ONE, cached=True)
    ops = (Operator(inputs=(), output=cast), Operator(inputs=(x, cast), output=y, keeps=(cast,)))
    tape = Tape(operators=ops)
    assert units(forward(tape)) == [101, 111]
    assert units([tape.saved_bytes, tape.counted_bytes]) == [100, 100]
