"""The stem that the forms of a word share. Rules for plurals and verb endings, and a few words."""

import re
from functools import lru_cache

IRREGULAR = {
    form: stem
    for stem, forms in {
        "keep": "kept", "hold": "held", "free": "freed frees freeing", "freeze": "froze frozen",
        "live": "living lived", "run": "ran running", "grow": "grew grown", "fall": "fell fallen",
        "shrink": "shrank shrunk", "take": "took taken", "get": "got gotten getting",
        "give": "gave given", "go": "went goes going", "make": "made", "build": "built",
        "lose": "lost", "sit": "sat sitting", "say": "said", "pay": "paid", "show": "shown",
        "stick": "stuck", "leave": "left", "throw": "thrown threw", "see": "saw seen",
        "come": "came", "do": "does did done doing", "have": "has had having", "eat": "ate eaten",
        "be": "is are was were been being am", "big": "bigger biggest",
        "large": "larger largest", "small": "smaller smallest", "high": "higher highest",
        "low": "lower lowest", "matrix": "matrices", "put": "putting",
        "cut": "cutting", "split": "splitting", "read": "reading", "die": "died dies dying",
        "tie": "tied ties", "lie": "lying lies", "think": "thought", "know": "knew known",
        "write": "wrote written", "bring": "brought", "buy": "bought", "draw": "drew drawn",
        "begin": "began begun", "long": "longer longest", "spread": "spreading",
        "halve": "halves halved halving", "axis": "axes", "bias": "biases",
        "forget": "forgot forgotten", "stay": "stays stayed", "less": "lesser",
        "gpu": "gpus", "cpu": "cpus", "index": "indices",
        "buffer": "buffers buffered", "mean": "means meant",
    }.items()
    for form in forms.split()
}  # fmt: skip
# "Zero" is a name here more often than a number.
NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        (
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
        )
    )
} | {
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "zero": "zero",
    "ones": "1",
}
VOWEL = re.compile(r"[aeiouy]")
SHORTEST = 4
UNDOUBLED = re.compile(r"([bdgmnprt])\1$")


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the stem of a word in small letters."""
    word = IRREGULAR.get(word, word)
    if word in NUMERALS:
        return NUMERALS[word]
    if len(word) < SHORTEST or not word.isalpha():
        return word
    return _bare(_without_ending(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if re.search(r"(?:[sxz]|ch|sh)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _without_ending(word: str) -> str:
    if word.endswith("eed"):
        return word
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 1 and VOWEL.search(rest):
            return UNDOUBLED.sub(r"\1", rest)
    return word


def _bare(word: str) -> str:
    word = word[:-1] if word.endswith("e") and len(word) > 2 else word
    return word[:-1] + "i" if word.endswith("y") and len(word) > 2 else word
