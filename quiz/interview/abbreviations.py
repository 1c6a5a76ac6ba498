"""Short forms that people type in place of a word, each known here once as the long one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from quiz.claims.stems import stem
from quiz.claims.text import Kind, Token

LONG_FORMS: Final[Mapping[str, str]] = {
    # What a run keeps.
    "act": "activation", "acts": "activations", "wt": "weight", "wts": "weights",
    "grad": "gradient", "grads": "gradients", "param": "parameter", "params": "parameters",
    "opt": "optimizer", "optim": "optimizer", "optims": "optimizers",
    "temp": "temporary", "temps": "temporaries", "tmp": "temporary", "tmps": "temporaries",
    "buf": "buffer", "bufs": "buffers", "emb": "embedding", "embs": "embeddings",
    "embeds": "embeddings", "probs": "probabilities", "proj": "projection",
    "projs": "projections", "ln": "layer norm", "ref": "reference", "refs": "references",
    # Its sizes.
    "bs": "batch size", "bsz": "batch size", "mbs": "micro batch size", "seq": "sequence",
    "seqs": "sequences", "len": "length", "lens": "lengths", "seqlen": "sequence length",
    "tok": "token", "toks": "tokens", "num": "number of", "mem": "memory",
    "gig": "gb", "gigs": "gb", "b =": "batch size", "p =": "parameter count",
    "g =": "gradients", "g :": "gradients",
    "w =": "weights", "w :": "weights",
    # What it does.
    "fwd": "forward", "fwds": "forwards", "bwd": "backward", "bwds": "backwards",
    "iter": "step", "iters": "steps", "iteration": "step", "iterations": "steps",
    # The reader of words takes cause for because, which it is not behind these.
    "the because": "the cause", "a because": "a cause", "root because": "root cause",
    "main because": "main cause", "likely because": "likely cause",
    "1 st": "first", "2 nd": "second", "3 rd": "third", "init": "initialization",
    "accum": "accumulation", "grad acc": "gradient accumulation", "ga": "gradient accumulation",
    "ckpt": "checkpoint", "ckpts": "checkpoints", "ckpting": "checkpointing",
    "ckpted": "checkpointed", "ac": "activation checkpointing", "recomp": "recompute",
    "ag": "all gather", "ags": "all gathers", "rs": "reduce scatter", "comm": "communication",
    "comms": "communication",
    # How it is set.
    "prec": "precision", "attn": "attention", "fa": "flash attention",
    "fa2": "flash attention 2", "fa3": "flash attention 3", "impl": "implementation",
    "ce": "cross entropy", "xent": "cross entropy", "dp": "data parallel",
    "tp": "tensor parallel", "pp": "pipeline parallel", "z1": "zero 1", "z2": "zero 2",
    "z3": "zero 3",
    # What is outside of it.
    "alloc": "allocated", "frag": "fragmentation", "ctx": "context", "proc": "process",
    "procs": "processes", "vs": "versus", "wrt": "with respect to",
    # These are words of their own.
    "opt for": "opt for", "opt in": "opt in", "opt out": "opt out", "act as": "act as",
    "acts as": "acts as", "opt to": "opt to",
}  # fmt: skip
MOST_WORDS = 2
# Behind these a letter stands for a size, where no number is before it: "b = 2", not "4 b = 2".
SIGNS = frozenset({"=", ":"})


def spelled_out(said: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens with each short form as the words that it stands for, at its own place."""
    at = 0
    while at < len(said):
        size = next((size for size in range(MOST_WORDS, 0, -1) if _is_short(said, at, size)), 0)
        if size:
            yield from _long(said[at : at + size])
        else:
            yield said[at]
        at += size or 1


def _is_short(said: Sequence[Token], at: int, size: int) -> bool:
    part = said[at : at + size]
    if len(part) < size or _form(part) not in LONG_FORMS:
        return False
    return part[-1].word not in SIGNS or at == 0 or said[at - 1].kind != "number"


def _form(part: Sequence[Token]) -> str:
    return " ".join(token.word for token in part)


def _long(part: Sequence[Token]) -> Iterator[Token]:
    typed = part[:-1] if part[-1].word in SIGNS else part
    for word in LONG_FORMS[_form(part)].split():
        kind: Kind = "number" if word.isdigit() else "word"
        yield replace(typed[0], kind=kind, word=word, stem=stem(word), end=typed[-1].end)
    yield from part[len(typed) :]
