"""What words mean: a table from phrase to meaning. Units are in `units_typed`."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from quiz.answers.units_typed import SCALES

Kind = Literal[
    "approximate",  # a hedge
    "skip",  # says nothing about the number
    "label",  # names the answer, before = or :
    "remark",  # kept as a remark, `said`
    "bound",  # a limit rather than an estimate, `said`
    "upfront",  # a bound where it begins the answer, else no word
    "op",  # an operator, `op`
    "cardinal",  # a number in words
    "fraction",  # half, third
    "and-fraction",  # and a half
    "multiple",  # double, twice
    "scale",  # thousand, million
    "noun",  # what is counted, `said` is its family
    "per",  # divided by what is counted
    "fold",  # marks a multiple
    "comparator",  # "larger" behind a multiple
    "article",  # a, an
    "same",  # factor 1
    "none",  # zero
    "refuse",  # no number, `said` is why
]


@dataclass(frozen=True)
class Word:
    """The meaning of a word or phrase."""

    kind: Kind
    said: str = ""
    number: Fraction = Fraction(0)


def _of(kind: Kind, phrases: str, said: str = "") -> dict[str, Word]:
    return dict.fromkeys((p.strip() for p in phrases.split(",")), Word(kind, said))


def _numbered(kind: Kind, numbers: Iterable[tuple[str, int | Fraction]]) -> dict[str, Word]:
    return {
        phrase.strip(): Word(kind, number=Fraction(number))
        for phrases, number in numbers
        for phrase in phrases.split(",")
    }


APPROXIMATE = _of(
    "approximate",
    "about, around, roughly, approximately, approx, approx., ca, ca., c., circa, some, maybe, "
    "perhaps, probably, possibly, likely, i think, i'd say, i would say, i guess, guess, "
    "my guess, my guess is, i believe, i reckon, i'd guess, i suppose, i estimate, estimate, "
    "estimated, "
    "let's say, say, something like, somewhere around, in the region of, in the neighborhood of, "
    "in the neighbourhood of, in the ballpark of, ballpark, on the order of, of the order of, "
    "or so, or thereabouts, ish, more or less, nearly, almost, close to, "
    "just under, just over, a bit over, a bit under, slightly over, slightly under, "
    "a little over, a little under, slightly more than, slightly less than, a bit more than, "
    "a bit less than, a little more than, a little less than, just about, pretty much, "
    "order of, rough, roughly speaking, not sure, not sure but, i'm guessing, should be around, "
    "abt, est, est., estimation",
)
SKIP = _of(
    "skip",
    "the, it, is, it's, its, it is, that's, that is, that would be, it would be, it'd be, i get, "
    "i got, we get, we need, you need, i need, "
    "we'd need, you'd need, requires, that'd be, "
    "of course, it needs, needs, it takes, takes, should be, "
    "would be, must be, exactly, precisely, just, only, in, of memory, of ram, of vram, of hbm, "
    "of gpu memory, of device memory, of storage, memory, vram, ram, hbm, gpu memory, ok, okay, "
    "so, hmm, hm, um, uh, well, ah, oh, er, please, sir, worth, used, required, needed, at peak, "
    "peak, storage, footprint, which is, comes to, equals to, makes, for sure, definitely, "
    "the answer is, answer is, my answer is, the ratio is, ratio is, "
    "i'd go with, i'll go with, i would go with",
)
LABELS = _of(
    "label",
    "answer, the answer, my answer, ans, result, the result, my result, total, the total, memory, "
    "the memory, total memory, vram, the vram, peak, the peak, a, "
    "ratio, the ratio, factor, the factor, size",
)
EACH = "read as the size of one"
REMARKS = {
    **_of(
        "remark",
        "total, in total, overall, altogether, all in all, all told, in all, combined, "
        "all together, in sum, across all gpus, across gpus, for all gpus, on all gpus, "
        "over all gpus",
        "read as a total",
    ),
    **_of(
        "remark",
        "each, apiece, on each, for each, in each, on every, for every, in every, every",
        EACH,
    ),
    **_of(
        "remark",
        "weights, weights only, for weights, for the weights, of weights, in weights, "
        "for the model, of model weights, model weights, for model weights, of states, "
        "model states, of model states, for model states, for the states, optimizer states, "
        "of optimizer states, for optimizer states, for the optimizer, of gradients, gradients, "
        "for gradients, for the gradients, of activations, activations, for activations, "
        "for the activations, kv cache, of kv cache, for the kv cache, for training, "
        "to train, for inference, at least in theory, in theory",
        "the words beside the number were passed over",
    ),
}
BOUNDS = {
    **_of(
        "bound",
        "at least, more than, greater than, no less than, not less than, upwards of, "
        "north of, or more, and up, or higher, or above, and above, exceeding, exceeds, "
        "minimum of, a minimum of",
        "read as the number itself, though a lower bound was typed",
    ),
    **_of(
        "bound",
        "at most, less than, fewer than, no more than, not more than, up to, "
        "smaller than, or less, or below, or lower, and below, or fewer, maximum of, "
        "a maximum of, south of",
        "read as the number itself, though an upper bound was typed",
    ),
    **_of("bound", "minimum", "read as the number itself, though a lower bound was typed"),
    **_of(
        "bound",
        "max, max., maximum, tops",
        "read as the number itself, though an upper bound was typed",
    ),
    **_of(
        "upfront",
        "over, above, beyond, min, min.",
        "read as the number itself, though a lower bound was typed",
    ),
    **_of(
        "upfront",
        "under, below, within",
        "read as the number itself, though an upper bound was typed",
    ),
}
OPERATORS = {
    **_of("op", "times, multiplied by, x, of", "*"),
    **_of("op", "divided by, divided among, divided across, split over, split across", "/"),
    **_of("op", "plus", "+"),
    **_of("op", "minus", "-"),
    **_of("op", "percent, per cent, pct", "%"),
    **_of("op", "plus or minus, plus/minus, plus minus, give or take, +/-", "±"),
    **_of("op", "to, through, till, until", ".."),
    **_of("op", "between, from, anywhere between, anywhere from, somewhere between", "between"),
    **_of("op", "and", "and"),
    **_of("op", "equals, equal to", "="),
    **_of("op", "to the power of, to the power, to the", "^"),
    **_of("op", "squared", "^2"),
    **_of("op", "cubed", "^3"),
}
SMALL = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {
    **_numbered(
        "cardinal",
        (
            (word, number)
            for number, word in enumerate(
                SMALL.split(),
                1,
            )
        ),
    ),
    **_numbered(
        "cardinal",
        ((word, 10 * ten) for ten, word in enumerate(TENS.split(), 2)),
    ),
    **_numbered("cardinal", (("hundred", 100), ("dozen", 12))),
    **_numbered(
        "fraction",
        (
            ("half", Fraction(1, 2)),
            ("third,thirds", Fraction(1, 3)),
            ("quarter,quarters,fourth,fourths", Fraction(1, 4)),
            ("fifth,fifths", Fraction(1, 5)),
            ("sixth,sixths", Fraction(1, 6)),
            ("eighth,eighths", Fraction(1, 8)),
            ("tenth,tenths", Fraction(1, 10)),
            ("sixteenth,sixteenths", Fraction(1, 16)),
        ),
    ),
    **_numbered(
        "and-fraction",
        (
            ("and a half,and one half,and a half of", Fraction(1, 2)),
            ("and a third", Fraction(1, 3)),
            ("and a quarter", Fraction(1, 4)),
            ("and three quarters", Fraction(3, 4)),
        ),
    ),
    **_numbered(
        "multiple",
        (
            ("double,doubled,doubles,twice,twofold", 2),
            ("triple,tripled,triples,thrice,threefold", 3),
            ("quadruple,quadrupled,quadruples,fourfold", 4),
            ("fivefold", 5),
            ("sixfold", 6),
            ("eightfold", 8),
            ("tenfold", 10),
            ("sixteenfold", 16),
            ("halved,halves", Fraction(1, 2)),
        ),
    ),
    **_numbered("scale", tuple(SCALES.items())),
    **_of(
        "same",
        "same, the same, unchanged, stays the same, stay the same, remains the same, "
        "no change, no difference, does not change, doesn't change, equal, they are equal, "
        "identical, same as before, the same as before, it stays the same, "
        "remains unchanged, it's the same, no effect",
    ),
    **_of("none", "zero, nought, naught"),
    **_of("none", "none, nothing, nil", "read as zero"),
}
NOUNS = {
    "parameter": "param, params, parameter, parameters",
    "GPU": "gpu, gpus, card, cards, device, devices, rank, ranks, accelerator, accelerators",
    "node": "node, nodes, machine, machines, server, servers, host, hosts",
    "token": "token, tokens, tok, toks",
    "layer": "layer, layers, block, blocks",
    "sequence": "sequence, sequences, seq, seqs, sample, samples, example, examples",
    "user": "user, users, request, requests",
    "step": "step, steps",
    "head": "head, heads",
    "expert": "expert, experts",
    "element": "element, elements, weight",
}
COUNTED = {
    word: meaning
    for family, words in NOUNS.items()
    for word, meaning in _of("noun", words, family).items()
}
OTHERS = {
    **_of("per", "per, a piece per"),
    **_of("fold", "fold"),
    **_of(
        "comparator",
        "larger, bigger, higher, greater, more, longer, as much more, as many more",
        "more",
    ),
    **_of("comparator", "as much, as large, as many, as big, the size, as long, the memory"),
    **_of("article", "a, an"),
    **_of("multiple", "factor of, a factor of, by a factor of, factor, ratio of, a ratio of"),
}
SIZE = "a size in memory is asked; type one such as 16 GB"
CHANGE = "say the result rather than the change; type one such as 16 GB"
OTHER_UNIT = (
    "this unit measures something else; type a unit that the question asks for, such as GB"
)
REFUSED = {
    **_of(
        "refuse",
        "idk, i don't know, i do not know, dont know, don't know, dunno, no idea, "
        "no clue, skip, pass, n/a, na, unknown, not sure yet, tbd, help, hint, quit, exit",
        "no number was typed; type your best estimate with its unit, such as 16 GB",
    ),
    **_of(
        "refuse",
        "inf, infinity, infinite, nan, unlimited, unbounded, ∞",
        "this is no finite number; type one such as 16 GB",
    ),
    **_of(
        "refuse",
        "second, seconds, sec, secs, minute, minutes, hour, hours, s, ms, meter, meters, "
        "metre, metres, m/s, celsius, kelvin, fahrenheit, degrees, watt, watts, w, hz, ghz, mhz, "
        "flop, flops, tflops, gflops, tflop, dollar, dollars, usd, eur, kg, km, cm, mm, "
        "gbps, mbps, kbps, gbit/s, gb/s, years, days, day, year, lbs, grams, gauss, items",
        OTHER_UNIT,
    ),
    **_of(
        "refuse",
        "or, either, or maybe, or perhaps, versus, vs",
        "two answers stand here; type one of them",
    ),
    **_of(
        "refuse",
        "not, no, isn't, never, without, except, but, negative",
        "say what it is, not what it is not; type the number alone",
    ),
    **_of(
        "refuse",
        "smaller, less, fewer, lower",
        "which way is not clear; type a fraction such as 1/4, or a multiple such as 4x",
    ),
    **_of(
        "refuse",
        "increase, decrease, increases by, decreases by, extra, additional",
        CHANGE,
    ),
}

WORDS: Mapping[str, Word] = MappingProxyType({
    **SKIP, **APPROXIMATE, **REFUSED, **COUNTED, **REMARKS, **BOUNDS, **OPERATORS, **NUMBERS,
    **OTHERS,
})  # fmt: skip

# Behind "each": of how many it is one, which takes nothing times anything.
OF_THEM = re.compile(r" +of +(?:all +)?(?:the +)?\d+ +(?:gpu|rank|card|device)s?\b", re.IGNORECASE)


def past_them(line: str, at: int) -> int:
    """Return the place behind "of 8 GPUs" in a line where "each" ends at `at`, else `at`."""
    found = OF_THEM.match(line, at)
    return at if found is None else found.end()
