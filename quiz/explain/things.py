"""What can be explained: each thing by its names, and what is told of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from engine.every_line import KnownLine, every_line, formula, known_line
from engine.example_runs import RUNS, Lines, lines_for, lines_typed, scenario_of, shown, words_of
from engine.ledger import Category, Phase
from engine.levers.lever import Lever, WhyNot
from engine.levers.registry import levers
from engine.optimizers import Optimizer, optimizers
from engine.precisions import PRECISIONS, Precision
from engine.scenario import CACHES, WEIGHTS
from problems.answers.numbers import counted
from problems.kind import Kind
from problems.mistakes import KnownMistake, mistakes
from problems.own_kinds import is_own
from problems.problem import TOPICS
from problems.registry import build, kinds
from quiz.explain import catalogued, file_keys, words
from quiz.explain.explanation import Explanation
from quiz.explain.questions import SEED, TOPIC_OF, of_topic, on_paper, with_mistake
from quiz.options.kinds import kinds_typed

SERVED = "In inference it is one of the formats of serving.weights and serving.cache."


@dataclass(frozen=True, kw_only=True)
class Thing:
    """Something that can be explained: its names, the first the one that is shown.

    Args:
        catalogued: whether it is a model or a card, of which some may be meant at once: "H100".
    """

    names: tuple[str, ...]
    explain: Callable[[], Explanation]
    catalogued: bool = False


def things() -> Iterator[Thing]:
    """Yield everything that can be explained; of those of one name the first is the widest."""
    yield from _of_memory()
    yield from _of_runs()
    for names, explain in (*words.told(), *file_keys.told()):
        yield Thing(names=names, explain=explain)
    for names, explain in catalogued.told():
        yield Thing(names=names, explain=explain, catalogued=True)
    for kind in kinds().values():
        yield Thing(names=(kind.name, kind.title), explain=partial(_kind, kind))
    for mistake in mistakes().values():
        yield Thing(names=(mistake.name,), explain=partial(_mistake, mistake))


def _of_memory() -> Iterator[Thing]:
    for key, title in TOPICS.items():
        yield Thing(names=(title, key, f"topic {key}"), explain=partial(_topic, key))
    for category in Category:
        yield Thing(names=(_spoken(category), category), explain=partial(_category, category))
    for line in every_line().values():
        yield Thing(names=(line.name,), explain=partial(_line, line))


def _of_runs() -> Iterator[Thing]:
    for optimizer in optimizers().values():
        names = (optimizer.name, optimizer.title)
        yield Thing(names=names, explain=partial(_optimizer, optimizer))
    for row in PRECISIONS.values():
        yield Thing(names=(row.name,), explain=partial(_precision, row))
    for lever in levers().values():
        yield Thing(names=(lever.name, *lever.short), explain=partial(_lever, lever))


def _spoken(category: Category) -> str:
    return category.replace("_", " ")


def _topic(key: str) -> Explanation:
    of = {category for category, topic in TOPIC_OF.items() if topic == key}
    asked = of_topic(key)
    return Explanation(
        sort="topic",
        name=TOPICS[key],
        says=(f"Topic {key}.",),
        lines=tuple(line for line in every_line().values() if line.category in of),
        on_paper=on_paper(asked),
        kinds=asked,
    )


def _category(category: Category) -> Explanation:
    asked = of_topic(TOPIC_OF[category])
    lines = tuple(line for line in every_line().values() if line.category is category)
    return Explanation(
        sort="category",
        name=_spoken(category),
        says=() if lines else ("The ledger has no line of it.",),
        lines=lines,
        on_paper=on_paper(asked),
        kinds=asked,
    )


def _line(line: KnownLine) -> Explanation:
    asked = of_topic(TOPIC_OF[line.category])
    return Explanation(
        sort="line", name=line.name, lines=(line,), on_paper=on_paper(asked), kinds=asked
    )


def _optimizer(optimizer: Optimizer) -> Explanation:
    found = lines_typed({"recipe.optimizer": optimizer.name})
    does = optimizer.says.removeprefix(optimizer.title)
    return Explanation(
        sort="optimizer",
        name=optimizer.name,
        says=(
            f"{optimizer.title}: {optimizer.says}." if does else f"{optimizer.title}.",
            _kept(optimizer),
            *([f"In its step it makes {optimizer.makes}."] if optimizer.makes else []),
        ),
        sources=(optimizer.source,),
        lines=_lines_of(
            f"mixed precision with {optimizer.title}",
            {
                key: line
                for key, line in found.items()
                if line.category is Category.OPTIMIZER_STATE
                or (line.category is Category.TEMPORARY and line.phases == (Phase.STEP,))
            },
        ),
        kinds=of_topic("A"),
        on_paper=on_paper(of_topic("A")),
    )


# Of what there is one state, by its form; else of a parameter.
ONE_FOR = {
    "factored": "a row and column of a matrix",
    "hidden": (
        "a parameter of the layers' matrices, and AdamW's 2 moments for each of the others "
        "(embedding, head, norms, biases)"
    ),
}


def _kept(optimizer: Optimizer) -> str:
    if not optimizer.states:
        return "It keeps no state from step to step."
    states = f"{optimizer.states} {counted(optimizer.states, 'states')} ({optimizer.called})"
    return f"It keeps {states} for {ONE_FOR.get(optimizer.form, 'a parameter')}."


def _precision(row: Precision) -> Explanation:
    found = lines_typed({"recipe.precision": row.name})
    states = {key: line for key, line in found.items() if TOPIC_OF[line.category] == "A"}
    return Explanation(
        sort="precision",
        name=row.name,
        says=(
            f"{row.name}: {row.says}.",
            (
                f"Bytes a parameter: weights {row.weights}, gradients {row.gradients}, master "
                f"copy {row.master}; each state of the optimizer {row.stepped}."
            ),
            *([SERVED] if row.name in {*WEIGHTS} & {*CACHES} else []),
        ),
        sources=(row.source,),
        lines=_lines_of(f"AdamW in {row.name}", states),
        kinds=of_topic("A"),
        on_paper=on_paper(of_topic("A")),
    )


def _lines_of(run: str, found: Lines) -> tuple[KnownLine, ...]:
    return tuple(known_line({run: line}) for line in found.values())


def _lever(lever: Lever) -> Explanation:
    run, changed = _first_change(lever)
    where = f"What it changes in the run “{run}” of docs/model.md, in bytes:" if changed else ""
    numerics = "Training goes on with other numbers." if lever.changes_numerics else ""
    return Explanation(
        sort="lever",
        name=lever.name,
        says=(f"In a scenario file: {lever.says}", *filter(None, (numerics, where))),
        sources=("docs/levers.md",),
        changed=changed,
        kinds=of_topic("E"),
    )


def _first_change(lever: Lever) -> tuple[str, tuple[tuple[str, str, str], ...]]:
    """Return the first example run to which a lever applies, and the lines that it changes."""
    for run in RUNS:
        after = lever.applied(scenario_of(words_of(run)))
        if not isinstance(after, WhyNot) and (changed := _changed(shown()[run], lines_for(after))):
            return run, changed
    return "", ()


def _changed(before: Lines, after: Lines) -> tuple[tuple[str, str, str], ...]:
    said = (
        (
            name,
            formula(before[key].size) if (key := (category, name)) in before else "",
            formula(after[key].size) if key in after else "",
        )
        for category, name in dict.fromkeys((*before, *after))
    )
    return tuple(row for row in said if row[1] != row[2])


def _kind(kind: Kind) -> Explanation:
    of = {category for category, topic in TOPIC_OF.items() if topic == kind.topic}
    scenario = build(kind.name, SEED).scenario
    has = set() if scenario is None else {key for key in lines_for(scenario) if key[0] in of}
    return Explanation(
        sort="kind",
        name=kind.name,
        says=(
            f"{kind.title}: {TOPICS[kind.topic]}, {', '.join(kind.levels)}.",
            f"memquiz practice --kind {kind.name}" + (kinds_typed() if is_own(kind) else ""),
        ),
        sources=kind.sources,
        lines=tuple(line for key, line in every_line().items() if key in has),
        on_paper=on_paper((kind.name,)),
        kinds=(kind.name,),
    )


def _mistake(mistake: KnownMistake) -> Explanation:
    asked = with_mistake(mistake.name)
    return Explanation(
        sort="mistake",
        name=mistake.name,
        says=(mistake.says, f"An answer with it earns {mistake.share} of the credit at least."),
        on_paper=on_paper(asked),
        kinds=asked,
    )
