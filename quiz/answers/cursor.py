"""A place among tokens."""

from quiz.answers.quantity import RefusalError
from quiz.answers.tokens import Token, Tokens

NESTING = 16


class Cursor:
    """Reads tokens once, left to right."""

    def __init__(self, tokens: Tokens, end: int) -> None:
        self._tokens = tokens.tokens
        self._approximate = tokens.approximate
        self._remarks = list(tokens.remarks)
        self._end = end
        self._at = 0
        self._depth = 0

    @property
    def _token(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    @property
    def _start(self) -> int:
        return self._token.start if self._token else self._end

    def _ahead(self, steps: int = 1) -> Token | None:
        at = self._at + steps
        return self._tokens[at] if at < len(self._tokens) else None

    def _sees(self, *signs: str) -> bool:
        return self._token is not None and self._token.kind == "op" and self._token.said in signs

    def _is(self, *kinds: str) -> bool:
        return self._token is not None and self._token.kind in kinds

    def _takes(self, *signs: str) -> Token | None:
        token = self._token
        if token is None or not self._sees(*signs):
            return None
        self._advance()
        return token

    def _advance(self, steps: int = 1) -> None:
        self._at += steps

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > NESTING:
            raise RefusalError(self._start, "the brackets are nested too deep; type a simpler sum")
