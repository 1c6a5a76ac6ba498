"""A typed order in one spelling: small letters, and one sign for those that look alike."""

from quiz.answers.normal import Text, look_alike
from quiz.answers.quantity import RefusalError

# Ten long names and what stands between them.
LONGEST_ORDER = 600

ORDER_SIGNS = {
    **dict.fromkeys("→⇒➔➜➝➞➡⟶⟹↦\u203a»≻▸▶►", ">"),
    **dict.fromkeys("←⇐⟵\u2039«≺", "<"),
    **dict.fromkeys("≡⇔↔\u223c", "="),
    **dict.fromkeys("¦\u2223", "|"),
}


def plain_line(typed: str) -> Text:
    """Return `typed` with each character in the spelling that the words and names are in.

    Raises:
        RefusalError: the text is too long, blank, or has a character that cannot be seen.
    """
    if len(typed) > LONGEST_ORDER:
        raise RefusalError(LONGEST_ORDER, f"type the order in {LONGEST_ORDER} characters at most")
    plain: list[str] = []
    where: list[int] = []
    for index, character in enumerate(typed):
        seen = _seen(index, character)
        plain.extend(seen)
        where.extend([index] * len(seen))
    return Text("".join(plain), (*where, len(typed)))


def plain_character(character: str) -> str:
    """Return what stands for a character that can be seen."""
    small = character.lower()
    one = small if len(small) == 1 else character
    return ORDER_SIGNS.get(one) or look_alike(0, one)


def _seen(index: int, character: str) -> str:
    if character in "\r\n":
        return "\n" if character == "\n" else " "
    try:
        return plain_character(character)
    except RefusalError as refusal:
        raise RefusalError(index, refusal.unreadable.reason) from refusal
