"""The letters in which formulas are asked for: what each is, and how a prompt defines them."""

from problems.answers.symbolic import Letter

LETTERS = {
    one.name: one
    for one in (
        Letter(name="P", says="parameters"),
        Letter(name="A", says="parameters of the adapters"),
        Letter(name="N", says="data-parallel GPUs", aliases=("DP", "dp")),
        Letter(name="G", says="GPUs in all"),
        Letter(name="n", says="GPUs of a shard group"),
        Letter(name="t", says="tensor-parallel GPUs", aliases=("TP", "tp")),
        Letter(name="p", says="pipeline stages", aliases=("PP", "pp")),
        Letter(name="c", says="context-parallel GPUs", aliases=("CP", "cp")),
        Letter(name="L", says="layers", aliases=("n_layers",)),
        Letter(name="V", says="entries of the vocabulary"),
        Letter(name="h", says="hidden size", aliases=("d_model",)),
        Letter(name="a", says="query heads", aliases=("n_q",)),
        Letter(name="k", says="key-value heads", aliases=("h_kv", "n_kv", "kv")),
        Letter(name="d", says="head size", aliases=("d_head",)),
        Letter(name="f", says="MLP width", aliases=("d_ff",)),
        Letter(name="E", says="experts of a layer"),
        Letter(name="s", says="tokens of a sequence", aliases=("seq",)),
        Letter(name="b", says="sequences of a micro-batch"),
        Letter(name="w", says="tokens of a window"),
        Letter(name="u", says="tokens of a shared prefix"),
        Letter(name="r", says="rows of a chunk"),
        Letter(name="m", says="micro-batches of a step"),
    )
}


def some(names: str, **says: str) -> tuple[Letter, ...]:
    """Return the letters of these names; `says` is what some of them are here instead."""
    return tuple(
        Letter(name=one.name, says=says.get(name, one.says), aliases=one.aliases)
        for name, one in ((name, LETTERS[name]) for name in names)
    )


def letters_said(letters: tuple[Letter, ...]) -> str:
    """Return "P = parameters, N = data-parallel GPUs"."""
    return ", ".join(f"{one.name} = {one.says}" for one in letters)
