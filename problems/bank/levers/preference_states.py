"""Topic E, levers: the states of several models at once, as DPO and PPO need them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from engine.accelerator import Accelerator
from engine.catalog import CatalogModel, models
from problems import scenarios
from problems.answers.ledger import LedgerAnswer
from problems.draft import Draft
from problems.draw import Draw
from problems.kind import kind_at_levels
from problems.problem import Level, Mistake, Step
from problems.terms_asked import UNIT_SAID, last_step, of_term, size_term, total_term
from problems.wording import (
    all_of,
    billions,
    bytes_of,
    card,
    listed,
    number,
    paper,
    rounded,
    short,
)
from problems.wrong_sizes import wrong_size

FROZEN = 2
# Bytes a parameter of what is trained, and how they are said.
RECIPES = {
    16: "AdamW in mixed precision trains the {}: 16-bit weights and gradients, fp32 master copy "
    "and moments",
    18: "AdamW in mixed precision trains the {}: 16-bit weights, fp32 gradients, master copy and "
    "moments",
    8: "AdamW in pure bf16 trains the {}: 16-bit weights, gradients and moments, no master copy",
}
POLICY, REFERENCE, CRITIC, REWARD = "policy", "reference", "critic", "reward model"
ALIASES: Mapping[str, tuple[str, ...]] = {
    POLICY: ("actor", "trained", "policy model"),
    REFERENCE: ("ref", "frozen", "reference model"),
    CRITIC: ("value", "value model", "critic model"),
    REWARD: ("reward", "rm"),
}
DPO: tuple[str, ...] = (POLICY, REFERENCE)
PPO: tuple[str, ...] = (POLICY, CRITIC, REFERENCE, REWARD)
TRAINS = {POLICY, CRITIC}
LARGEST = 80 * 10**9
RANKS = (2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, kw_only=True)
class Models:
    """Which models there are, of how many parameters each, and over how many GPUs they lie.

    Args:
        parameters: of each model, by its part in the training.
        ranks: GPUs.
        frozen_sharded: whether ZeRO-3 shards the frozen models too.
        trained: bytes for each parameter of what is trained.
    """

    parameters: Mapping[str, int]
    ranks: int = 1
    frozen_sharded: bool = True
    trained: int = 16

    def each(self, name: str) -> Fraction:
        """Bytes for each parameter of a model on a GPU."""
        whole = Fraction(self.trained if name in TRAINS else FROZEN)
        shared = name in TRAINS or self.frozen_sharded
        return whole / self.ranks if shared else whole

    def size(self, name: str) -> int:
        """Bytes of a model on a GPU."""
        return ceil(self.each(name) * self.parameters[name])

    @property
    def answer(self) -> LedgerAnswer:
        """Every model and their sum."""
        rows = [size_term(name, self.size(name), *ALIASES[name]) for name in self.parameters]
        return LedgerAnswer(terms=(*rows, total_term(rows)))


@kind_at_levels(
    name="preference-states",
    topic="E",
    levels=("junior", "mid", "senior"),
    title="States of all the models that DPO or PPO holds",
    sources=(
        "huggingface/trl#1245",
        "OpenRLHF/OpenRLHF#254",
    ),
)
def preference_states(draw: Draw, level: Level) -> Draft | None:
    """Ask for the states of each model of a preference training, and of all."""
    dense = [
        model
        for model in models().values()
        if model.architecture.experts is None and model.parameters < LARGEST
    ]
    policy = draw.choice(dense)
    parts = draw.choice({"junior": (DPO,), "mid": (PPO,), "senior": (DPO, PPO)}[level])
    other = policy
    if len(parts) > 2 and draw.chance(60):
        other = draw.choice([m for m in dense if m.parameters <= policy.parameters])
    of = {name: other if name in {CRITIC, REWARD} else policy for name in parts}
    ranks = draw.choice(RANKS) if level == "senior" else 1
    trained = draw.weighted(((16, 3), (18, 1), (8, 0 if level == "junior" else 1)))
    gpu = scenarios.gpu_for(draw, ranks, precision="pure-bf16")
    return _Asked(
        of=of,
        held=Models(
            parameters={name: model.parameters for name, model in of.items()},
            ranks=ranks,
            frozen_sharded=draw.chance(50),
            trained=trained,
        ),
        gpu=gpu,
    ).draft()


@dataclass(frozen=True, kw_only=True)
class _Asked:
    of: Mapping[str, CatalogModel]
    held: Models
    gpu: Accelerator

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.of)

    def draft(self) -> Draft:
        answer = self.held.answer
        trained = listed([name for name in self.names if name in TRAINS])
        each = listed([f"{name} {short(self.held.each(name))}" for name in self.names])
        return Draft(
            prompt=self._prompt(),
            answer=answer,
            hints=(
                "Which of the models get gradients and an optimizer, and which only run forward?",
                (
                    f"Trained: {trained}, {self.held.trained} bytes a parameter in all. Frozen "
                    f"models have weights alone, {FROZEN} bytes."
                ),
                f"Bytes a parameter on a GPU: {each}. Multiply by the parameters and add up.",
            ),
            solution=tuple(self._steps(answer)),
            mistakes=tuple(self._mistakes()),
        )

    def _prompt(self) -> str:
        method = "DPO" if len(self.names) == len(DPO) else "PPO"
        trained = [name for name in self.names if name in TRAINS]
        frozen = [name for name in self.names if name not in TRAINS]
        sizes = [
            f"{listed([name for name in self.names if self.of[name] is model])}: "
            f"{model.title} ({number(model.parameters)} parameters{' each' if many > 1 else ''})"
            for model, many in self._counted()
        ]
        where = f"Everything lies on one {card(self.gpu)}."
        if self.held.ranks > 1:
            also = (
                "shards the frozen models too"
                if self.held.frozen_sharded
                else ("leaves the frozen models whole on every GPU")
            )
            where = (
                f"ZeRO-3 over {self.held.ranks} × {card(self.gpu)} shards all states of what is "
                f"trained, and {also}."
            )
        return (
            f"{method} with full fine-tuning. {'; '.join(sizes)[:1].upper()}"
            f"{'; '.join(sizes)[1:]}. {RECIPES[self.held.trained].format(listed(trained))}. "
            f"Only run forward, in 16 bits: the {listed(frozen)}. {where} "
            "Activations and generation are not asked for.\n"
            f"How much do the states of {listed(self.names)} take each on {self._gpu}, and how "
            f"much in total? {UNIT_SAID.format(2)}"
        )

    @property
    def _gpu(self) -> str:
        return "the GPU" if self.held.ranks == 1 else "a GPU"

    def _counted(self) -> list[tuple[CatalogModel, int]]:
        """Return each model with the number of parts that it plays."""
        seen = {model.name: model for model in self.of.values()}
        names = [model.name for model in self.of.values()]
        return [(model, names.count(name)) for name, model in seen.items()]

    def _steps(self, answer: LedgerAnswer) -> Iterator[Step]:
        sizes = []
        for name in self.names:
            on_paper, each = rounded(self.of[name].parameters), self.held.each(name)
            sizes.append(each * on_paper)
            text = f"{name}: {billions(on_paper)} billion × {bytes_of(each)} = {paper(sizes[-1])}"
            yield Step(text=text, depth="whiteboard")
        yield Step(text=f"total: {paper(sum(sizes, Fraction(0)))}", depth="whiteboard")
        for name in self.names:
            yield Step(
                text=f"{name}: {number(self.of[name].parameters)} parameters, "
                f"{'trained' if name in TRAINS else 'frozen'}"
            )
        yield last_step(answer, "With nothing rounded")

    def _mistakes(self) -> Iterator[Mistake]:
        for name in self.names:
            yield from of_term(name, self._of_one(name))
        right = sum(self.held.size(name) for name in self.names)
        for name in self.names:
            why = f"leaves out the {name}, {{off}}."
            wrong = right - self.held.size(name)
            yield from of_term("total", [wrong_size(wrong, right, f"{name} forgotten", why)])
        why = (
            f"has {self.held.trained} bytes for each parameter of {all_of(len(self.names))} "
            "models; what is frozen has weights alone, {off} less."
        )
        wrong = sum(
            self.held.size(name) * (1 if name in TRAINS else self.held.trained // FROZEN)
            for name in self.names
        )
        yield from of_term("total", [wrong_size(wrong, right, "frozen taken as trained", why)])

    def _of_one(self, name: str) -> Iterator[Mistake]:
        right, ranks = self.held.size(name), self.held.ranks
        if name in TRAINS:
            whole = self.held.trained
            moments, gradients = (4 if whole == 8 else 8), (4 if whole == 18 else 2)
            for called, each, why in (
                ("weights only", 2, "is its weights alone; it is trained, {off} more."),
                ("master copy forgotten", whole - 4, "leaves out its master copy, {off}."),
                ("moments forgotten", whole - moments, "leaves out its two moments, {off}."),
                ("gradients forgotten", whole - gradients, "leaves out its gradients, {off}."),
            )[: None if whole > 8 else 1]:
                yield wrong_size(right * each // whole, right, called, why)
        else:
            why = "has gradients and optimizer; it only runs forward, so its weights are all."
            wrong = right * self.held.trained // FROZEN
            yield wrong_size(wrong, right, "frozen taken as trained", why)
            why = "is fp32 weights; it runs in 16 bits, {off} less."
            yield wrong_size(2 * right, right, "weights in fp32", why)
        if ranks > 1:
            sharded = name in TRAINS or self.held.frozen_sharded
            called = "a sharded part left whole" if sharded else "a whole part sharded"
            wrong = right * ranks if sharded else right // ranks
            how = "shards it" if sharded else "leaves it whole"
            yield wrong_size(wrong, right, called, f"is off by {{off}}: ZeRO-3 {how} here.")
