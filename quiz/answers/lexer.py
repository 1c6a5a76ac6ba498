"""From the normalised text to tokens. Words that say nothing about the number end here."""

import re
from fractions import Fraction
from itertools import takewhile
from math import prod
from unicodedata import normalize

from quiz.answers.normal import SUPERSCRIPTS, Text
from quiz.answers.numerals import SPACE, read_numeral
from quiz.answers.phrases import advice, parts, phrase_at
from quiz.answers.quantity import RefusalError
from quiz.answers.question import Question
from quiz.answers.tokens import KINDS, OPERATOR, OPERATORS, Kind, Token, Tokens
from quiz.answers.units_typed import BILLION_B, BYTES_B, Option, choice, typed_unit
from quiz.answers.words import EACH, WORDS, Word, past_them

OPERAND_ENDS = {"number", "cardinal", "fraction", "unit", "scale", "symbol", "noun", "multiple"}
# What an article may stand before.
COUNTS = {"cardinal", "fraction", "multiple", "scale", "noun"}
# Suffixes that make millions: of these there are never as many.
SUFFIXES = {"k", "m", "g", "t", "b"}
# "ZeRO-3" is no range from 0 to 3.
STAGE = re.compile(r"zero[\s-]*\d", re.IGNORECASE)
FEW = {"GPU", "node", "layer", "head", "expert"}
PETA = Fraction(10) ** 15
ASIDES = {"approximate", "skip", "remark", "bound"}
# Words that a bracket right behind them would make a function of: max(1,2).
NO_FUNCTION = {*ASIDES, "upfront", "label", "same", "none"}
JOINED_BY_HYPHEN = {"scale", "fold", "noun", "approximate"}

LETTERS = re.compile(rf"[^\W\d_{''.join(SUPERSCRIPTS)}]+")
FOREIGN_BASE = re.compile(r"0[xXoObB][\da-fA-F]")
RAISED = re.compile(rf" *(?:\^|\*\*|[{''.join(SUPERSCRIPTS)}])")
# What makes a symbol before it part of another word; a power does not.
RUNS_ON = re.compile(rf"[^\W{''.join(SUPERSCRIPTS)}]")
VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"

BOUND_SIGNS = {
    ">": "read as the number itself, though a lower bound was typed",
    "≥": "read as the number itself, though a lower bound was typed",
    "<": "read as the number itself, though an upper bound was typed",
    "≤": "read as the number itself, though an upper bound was typed",
}


class Lexer:
    """Walks once over the normalised text; `tokens` is its only result."""

    def __init__(self, text: Text, question: Question) -> None:
        self._plain = text.plain
        self._question = question
        self._at = 0
        self._tokens: list[Token] = []
        self._approximate = False
        self._remarks: list[str] = []

    def tokens(self) -> Tokens:
        """Return the tokens of the text.

        Raises:
            RefusalError: with an index into the normalised text: a word or sign that is not known.
        """
        while self._at < len(self._plain):
            if self._plain[self._at] == " ":
                self._at += 1
            else:
                self._step(self._plain[self._at])
        return Tokens(tuple(self._tokens), self._approximate, tuple(dict.fromkeys(self._remarks)))

    def _step(self, character: str) -> None:
        at = self._at
        digit_next = self._plain[at + 1 : at + 2].isdigit()
        if character.isdecimal() or (character == "." and digit_next):
            if FOREIGN_BASE.match(self._plain, at):
                raise RefusalError(at, "this is in another base than ten; type a decimal number")
            numeral = read_numeral(self._plain, at)
            if numeral.options[0].said == SPACE:
                self._remarks.append("read the space as a thousands separator")
            self._add("number", numeral.end, options=numeral.options, key=numeral.key)
        elif character in VULGAR:
            spelled = normalize("NFKC", character).replace("\N{FRACTION SLASH}", "/")
            self._add("fraction", at + 1, options=(choice(Fraction(spelled)),), said="vulgar")
        elif character in SUPERSCRIPTS:
            self._superscript()
        elif run := LETTERS.match(self._plain, at):
            self._word(run.group())
        else:
            self._sign()

    def _add(
        self, kind: Kind, end: int, *, said: str = "", options: tuple[Option, ...] = (),
        key: str = "",
    ) -> None:  # fmt: skip
        at, tight = self._at, self._tight
        token = Token(kind=kind, start=at, tight=tight, said=said, options=options, key=key)
        self._tokens.append(token)
        self._at = end

    @property
    def _tight(self) -> bool:
        """Whether something stands right before."""
        return f" {self._plain}"[self._at] != " "

    def _superscript(self) -> None:
        run = takewhile(SUPERSCRIPTS.__contains__, self._plain[self._at :])
        typed = "".join(SUPERSCRIPTS[c] for c in run)
        if not re.fullmatch(r"[+-]?\d{1,3}", typed):
            raise RefusalError(self._at, "this is no power; type one such as 10^9")
        end = self._at + len(typed)
        self._add("op", self._at, said="^")
        self._add("number", end, options=(choice(int(typed)),))

    def _sign(self) -> None:
        match = OPERATOR.match(self._plain, self._at)
        if match is None and self._pause():
            self._at += len(", ")
            return
        if match is None:
            raise RefusalError(self._at, "this sign is not known; type a number with its unit")
        sign, end = OPERATORS[match.group()], match.end()
        first = not self._tokens
        self._clear(match.group(), end)
        if first and (sign in BOUND_SIGNS or match.group() == "=>"):
            self._remarks.append(BOUND_SIGNS["≥" if sign == "=" else sign])
            self._at = end
        elif sign in {"~", "≈"} and not self._after_operand():
            self._approximate = True
            self._at = end
        elif sign in BOUND_SIGNS:
            raise RefusalError(self._at, "a bound stands before the number; type one number")
        elif (sign == "=" and first) or (sign == "-" and self._hyphen(end)):
            self._at = end
        else:
            self._add("op", end, said="=" if sign == "≈" else sign)

    def _clear(self, typed: str, end: int) -> None:
        """Refuse a sign that has a second meaning where it stands."""
        if typed == "[" and self._tight and self._after_operand():
            raise RefusalError(self._at, "square brackets have other meanings; type round ones")
        leading = len(self._tokens) == 2 and self._tokens[0].kind == "per"
        spaced = self._tight and self._plain[end : end + 1] == " "
        if typed == ":" and spaced and self._after_operand() and not leading:
            raise RefusalError(self._at, "this may be a label or a ratio; type one number")
        between = self._plain[self._at - 1 : self._at].isdecimal()
        if typed == "·" and between and self._plain[end : end + 1].isdecimal():
            self._remarks.append("read the dot as times")
        if typed in {"..", "..."}:
            self._remarks.append("read the dots as a range")

    def _pause(self) -> bool:
        """Say whether a comma only sets off a word that says nothing about the number."""
        if (
            self._plain[self._at] not in {",", ";"}
            or self._plain[self._at + 1 : self._at + 2] != " "
        ):
            return False
        phrase = phrase_at(self._plain, self._past_blanks(self._at + 1))
        aside = phrase is not None and (phrase[0].kind in ASIDES or phrase[0].said == "±")
        return aside or not self._tokens

    def _after_operand(self) -> bool:
        last = self._tokens[-1] if self._tokens else None
        return last is not None and (last.kind in OPERAND_ENDS or last.said in {")", "%"})

    def _after_billions(self) -> bool:
        """Say whether a count stands before, as in "7B weights"; "14 GB weights" is a size."""
        last = self._tokens[-1] if self._tokens else None
        return last is not None and (last.kind == "scale" or last.options[:1] == (BILLION_B,))

    def _hyphen(self, end: int) -> bool:
        """Say whether the hyphen before `end` joins two halves of one word."""
        run = LETTERS.match(self._plain, end)
        if not (self._tokens and self._tight and run):
            return False
        before, word = self._tokens[-1].kind, run.group()
        if word.lower() == "ish" or before == "per":
            return True
        if not self._after_operand() or self._question.symbol(word) is not None:
            return False
        meaning = phrase_at(self._plain, end)
        if meaning is None:
            return word == "B" or bool(typed_unit(word))
        kind = meaning[0].kind
        if before == "cardinal" and kind == "cardinal":
            first = self._tokens[-1].options[0].factor
            return first >= 20 and first % 10 == 0 and WORDS[word.lower()].number < 10
        return kind in JOINED_BY_HYPHEN or (
            kind == "fraction" and before in {"cardinal", "number"}
        )

    def _word(self, run: str) -> None:
        phrase = phrase_at(self._plain, self._at)
        if STAGE.match(self._plain, self._at):
            raise RefusalError(self._at, "this names a stage of ZeRO; type a number")
        name = self._symbol_here()
        if name and (phrase is None or phrase[1] <= self._at + len(name)):
            self._symbol(name)
        elif phrase:
            self._meaning(*phrase)
        elif not any(self._resolved(part) for part in parts(run)):
            raise RefusalError(self._at, f"this word is not known; {advice(run)}")

    def _symbol_here(self) -> str:
        """Return the symbol of the question that stands here as a word of its own."""
        for name in self._question.symbols:
            end = self._at + len(name)
            alone = self._plain.startswith(name, self._at) and not RUNS_ON.match(self._plain, end)
            if alone and not self._article(name, end):
                return name
        return ""

    def _article(self, name: str, end: int) -> bool:
        """Say whether the symbol `name` is the word before a number, unit or noun: half a TB."""
        behind = self._past_blanks(end)
        run = LETTERS.match(self._plain, behind)
        if name != "a" or behind == end:
            return False
        if run is None:
            return self._plain[behind : behind + 1].isdecimal() and not self._after_operand()
        if self._question.symbol(run.group()) is not None:
            return False
        phrase = phrase_at(self._plain, behind)
        return bool(typed_unit(run.group())) or (phrase is not None and phrase[0].kind in COUNTS)

    def _symbol(self, name: str) -> None:
        value = self._question.symbols[name]
        option = Option(value, 0, "a symbol of the question", symbolic=True)
        units = self._units(name) if self._after_operand() else ()
        if units and self._is_also_a_suffix(name):
            what = f"{name} is a symbol here and a suffix; type 12 * {name}, or the number in full"
            raise RefusalError(self._at, what)
        plain = tuple(o for o in units if not o.last)
        key = f"symbol{self._at}"
        self._add("symbol", self._at + len(name), options=(option, *plain), key=key)

    def _is_also_a_suffix(self, name: str) -> bool:
        """Say whether "68k MB", or "12k" where numbers are asked for, may be thousands."""
        if self._tokens[-1].kind != "number":
            return False
        run = LETTERS.match(self._plain, self._at + len(name) + 1)
        before_unit = run is not None and bool(typed_unit(run.group()))
        return before_unit or self._question.wanted in {"number", "count", "seconds"}

    def _units(self, word: str) -> tuple[Option, ...]:
        few = self._question.wanted == "ratio" or self._question.family in FEW
        if few and word.lower() in SUFFIXES:
            return (BYTES_B,) if word in "Bb" else typed_unit(word)[:1]
        if word in {"B", "b"}:
            if not self._question.b_is_bytes:
                return (BILLION_B, BYTES_B)
            return (
                BYTES_B,
                Option(BILLION_B.factor, 0, BILLION_B.said, last=self._question.per_parameter),
            )
        return typed_unit(word)

    def _resolved(self, run: str) -> bool:
        """Take `run` as a unit or as symbols of the question, if it is either."""
        end = self._at + len(run)
        symbols = self._values(run)
        spelled = bool(run) and len(symbols) == len(run)
        options = self._units(run)
        near_value = self._question.near_symbol(run)
        if options:
            if options[0].factor >= PETA and self._question.symbol(run[:-1]) is not None:
                raise RefusalError(self._at, "this is a unit and a symbol; type 16 * P bytes")
            if spelled:
                options = (*options, _product(symbols))
            key = f"B{self._at}" if run in {"B", "b"} else run
            self._add("unit", end, options=options, key=key)
        elif near_value is not None:
            self._remarks.append(
                "read a letter in another case or script as the question's symbol"
            )
            option = Option(near_value, symbolic=True)
            self._add("symbol", end, options=(option,))
        elif spelled:
            self._symbols(run)
        elif run in {"x", "X"} and self._symbols_at(end):
            self._add("op", end, said="*")
        else:
            return False
        return True

    def _symbols(self, run: str) -> None:
        """Take symbols written together; a power behind them is that of the last alone."""
        end = self._at + len(run)
        raised = RAISED.match(self._plain, end)
        last = end - 1 if raised else end
        for start, stop in ((self._at, last), (last, end)):
            if start < stop:
                self._add(
                    "symbol", stop, options=(_product(self._values(self._plain[start:stop])),)
                )

    def _values(self, run: str) -> list[Fraction]:
        """Return the values of the symbols among the letters of `run`."""
        return [value for c in run if (value := self._question.symbol(c)) is not None]

    def _noun_at(self, start: int) -> bool:
        phrase = phrase_at(self._plain, self._past_blanks(start))
        return phrase is not None and phrase[0].kind == "noun"

    def _past_blanks(self, at: int) -> int:
        return len(self._plain) - len(self._plain[at:].lstrip(" "))

    def _symbols_at(self, start: int) -> bool:
        match = LETTERS.match(self._plain, start)
        return match is not None and None not in map(self._question.symbol, match.group())

    def _sensible(self, word: Word, end: int) -> None:
        if word.kind == "refuse":
            raise RefusalError(self._at, word.said)
        limit = word.kind in {"bound", "upfront"}
        behind = self._past_blanks(end) if limit else end
        if word.kind in NO_FUNCTION and self._plain.startswith("(", behind):
            raise RefusalError(end, "functions are not worked out; type one number")
        if word.kind == "none" and word.said:
            self._remarks.append(word.said)

    def _meaning(self, word: Word, end: int) -> None:
        self._sensible(word, end)
        if word.said == EACH and self._noun_at(end):
            self._add("per", end)
        elif self._plain[self._at : end].lower() == "weights" and self._after_billions():
            self._add("noun", end, said="parameter")
        elif word.kind == "upfront" and self._after_operand():
            if self._plain[self._at : end].lower() != "over":
                raise RefusalError(self._at, "a bound stands before the number; type one number")
            self._add("op", end, said="/")
        elif word.kind == "approximate":
            self._approximate = True
            self._at = end
        elif word.kind == "skip":
            self._at = end
        elif word.kind in {"remark", "bound", "upfront"}:
            self._remarks.append(word.said)
            self._at = past_them(self._plain, end) if word.said == EACH else end
        else:
            self._add(KINDS[word.kind], end, said=word.said, options=_options(word))


def _product(values: list[Fraction]) -> Option:
    return Option(Fraction(prod(values)), 0, "symbols of the question", symbolic=True)


def _options(word: Word) -> tuple[Option, ...]:
    numbered = word.kind in {"cardinal", "fraction", "and-fraction", "multiple", "scale"}
    return (choice(word.number),) if numbered else ()
