"""Words that say whether a thing is there, divided, or left as it is."""

from functools import cache

from quiz.claims.stems import stem

NEGATORS = frozenset(
    {"not", "never", "no", "nor", "neither", "without", "nothing", "none", "nobody"}
)
# "No" and "without" deny what stands behind them, the others what their clause says.
BEFORE_THINGS = frozenset({"no", "without"})
# These deny the thing that comes next: "not the moments", "nobody holds the graph".
RIGHT_BEFORE = frozenset({"not", "never", "nobody", "nothing", "nor", "neither"})
# Behind "not" these make no denial: "not only the weights".
CANCELLING = frozenset({"only", "just", "merely"})
# A new clause begins at these.
JOINTS = frozenset(
    {
        *("but", "while", "whereas", "because", "since", "so", "although", "though", "however"),
        *("then", "plus", "which", "that"),
    }
)
# "Which" goes on behind these: "I do not care which optimizer".
ASKED_WHICH = frozenset({"care", "matter", "mind", "ask", "know", "say", "tell"})
# "That" goes on behind these: "scratch that".
TAKEN_BACK = frozenset({"scratch", "forget", "ignore", "strike", "take"})
# "Everything but the weights" is one clause.
ALL = frozenset({"everything", "all", "anything", "nothing"})
# These may stand within a phrase: "the copy of the weights".
FILLERS = frozenset({"the", "a", "an", "of", "its", "their", "per", "each", "in", "for", "s"})
# After these a "no" at the beginning answers and denies nothing.
ANSWERED = frozenset(
    {
        *("the", "it", "they", "each", "every", "that", "this", "i", "we", "only"),
        *("wait", "sorry", "actually"),
    }
)
# What is between names where something is said of them.
CONNECTING = (
    FILLERS
    | NEGATORS
    | JOINTS
    | {
        *("and", "or", "at", "on", "to", "by", "with", "from", "into", "than", "as", "if", "when"),
        *(
            "after",
            "before",
            "until",
            "again",
            "twice",
            "during",
            "between",
            "around",
            "more",
            "less",
        ),
    }
)
VERBS = (
    "is do have shard divide split partition stay keep live take get need count ignore leave "
    "forget hold fall drop shrink grow go remain cost add include exist reduce save store use "
    "cut replicate want ask assume say help change touch affect come sit cover "
    "mind care"
)
# With a negator: the thing is not there, or does nothing.
PRESENCE = (
    "count include need have keep store exist require use add there want present necessary hold "
    "reason cause culprit explain matter gather send repeat do-not-free do-not-hide do-not-cost "
    "allocate create save lazily thing useful help overlap"
)
# With a negator before the thing: it is not done.
DOING = "take look measure check trust rely run do read profile print bother care use log compare"
# What is said by a lack: "not contiguous", "without detaching".
BY_LACK = "contiguous create allocate initialise initialize make release free detach item hide set"
# With a negator: who speaks does not know.
KNOWING = "know sure remember idea certain tell"
# With a negator: who speaks does not ask.
ASKING = "ask care matter mind bother want-to-know need-to-know have-to-know"
UNASKED = "irrelevant whatever regardless"
# With a negator: the answer stays.
TURNING = "change matter overturn affect help turn alter difference influence flip move role"
# With "no" before the thing: it is there, but not in the sum.
IN_THE_SUM = "include count contain inside in-it in-this in-that in-my in-the-sum in-the-number"
# Without a negator: it is in the sum.
SUMMED = "in-it in-my-sum in-the-sum in-the-number in-this-number inside-this inside-the-sum"
# A thing is there only under these, or may be.
ON_A_CONDITION = (
    "if unless would could might tensor tp sequence-parallel context-parallel pipeline offload"
)
# What sharding does, and nothing else does.
SHARDING = "shard divide split partition distribute"
# Who speaks corrects what was said before.
CORRECTING = (
    "wait sorry actually oops nope correction i-mean i-was-wrong scratch-that forget-that "
    "ignore-that strike-that take-that-back take-it-back"
)
TAKING_BACK = (
    "scratch-that forget-that ignore-that strike-that take-that-back take-it-back "
    "that-is-wrong it-is-wrong this-is-wrong not-true not-right"
)
# "Oh no", "ah wait".
INTERJECTIONS = frozenset(
    {"oh", "ah", "no", "nope", "hm", "hmm", "wait", "well", "sorry", "actually", "but", "and"}
)
# A width of another recipe than the run's.
ELSEWHERE = "with other usual paper megatron deepspeed compare"
# What was said before is spoken of.
POINTING = frozenset({"they", "it", "these", "those", "that", "both", "all"})
# Behind "everything" these leave something: "everything else is sharded".
LEAVING_SOMETHING = "else other rest but except besides apart-from aside-from almost nearly most"
LEAVING_OUT = "ignore forget skip omit exclude neglect disregard drop leave-out left-out set-aside"
# With a negator: the thing is not divided, not reached.
DIVIDING = (
    "shard divide split partition slice scatter cut reduce shrink fall change help touch affect "
    "save include contain count inside cover distribute spread drop benefit decrease go less "
    "smaller shared lower halve improve part go-down "
    "in-it in-this in-that in-my in-there in-the-number in-the-sum are-in is-in"
)
WHOLE = (
    "whole full entire intact same constant complete replicate duplicate unsharded undivided "
    "untouched unchanged unaffected unpartitioned outside extra except besides alone own still "
    "every-rank each-rank all-ranks every-gpu each-gpu all-gpus every-card each-card "
    "on-top as-is apart-from aside-from other-than in-full on-every on-each on-all per-rank "
    "per-gpu everything-but all-but additional everywhere"
)

# Bytes of an element.
BITS = {"bf16": 2, "fp16": 2, "bfloat16": 2, "float16": 2, "half": 2, "fp32": 4, "float32": 4}
BITS |= {"fp8": 1, "int8": 1, "fp64": 8, "float64": 8}
BYTES = frozenset({"byte", "bytes", "b"})
BETWEEN_NUMBERS = frozenset({"+", "*", "x"})
# A width of one of several tensors.
EACH = frozenset({"each", "apiece", "both", "two", "2", "first", "second", "every", "twice"})
BEFORE_COUNTS = frozenset(
    {"adam", "adamw", "the", "and", "with", "have", "has", "its", "+", "keeps"}
)
# A width that a tensor has on the way, not where it is kept.
ON_THE_WAY = "gather all-gather cast compute reduce communicate forward"
# "One" is more often no number.
SINGLE = frozenset({"one", "ones"})
# A number is no width behind these, nor before those.
NO_WIDTH_BEFORE = frozenset({"zero", "stage", "step", "over", "/", "~", "adam"})
NO_WIDTH_BEHIND = frozenset(
    {
        *("gb", "gib", "mb", "mib", "billion", "bn", "gpu", "gpus", "layer", "layers", "rank"),
        *("ranks", "k", "m", "p", "percent", "%", "/", "^", "copies", "copy", "tensors", "states"),
        *("times", "parts", "terms", "things", "entries"),
    }
)


@cache
def stems_of(words: str) -> tuple[tuple[str, ...], ...]:
    """Return the entries of a list of words, each as the stems of what its hyphens join."""
    return tuple(tuple(map(stem, word.split("-"))) for word in words.split())
