"""What a report says, in sentences: the same on a screen and on a page."""

from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction

from problems.problem import TOPICS
from quiz.output.sections import Grid, counted, named
from quiz.progress.days import DAY, Days, Week, local
from quiz.progress.levels import Estimate
from quiz.progress.mistakes import OVERCOME, Made, Mistake
from quiz.progress.ranges import FEWEST, Held, Ranges
from quiz.progress.report import Report
from quiz.progress.shares import Effort

DUE_COMMAND = "memquiz practice --due"
UPCOMING = 5
INTERVIEWS = 5
JUDGED = {
    "few": f"fewer than {FEWEST} of late, which is too few to tell how sure you are",
    "narrower": "nearly all hold: they can be narrower, which earns more",
    "sound": "most hold, and some do not: they are about as wide as you are sure",
    "wider": "too many miss: make them wider",
}
NO_ANSWERS = "No answers yet. memquiz practice asks ten questions and keeps what you answer."
NO_LEVEL = "not kept"
UNMET = "not met yet"
TAKE = f"{DUE_COMMAND} asks what is due."
MEDIAN = "Time is the median, from the question to its answer."
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def title(topic: str) -> str:
    """Return the title of a topic."""
    return TOPICS.get(topic, topic)


def heading(report: Report) -> str:
    """Return what is reported on, and as of when."""
    of = "" if report.topic is None else f" in {title(report.topic)}"
    return f"Progress{of}, {dated(report.days.today)}"


def opening(report: Report) -> str:
    """Return how much there is to report on."""
    if report.first is None and report.passed:
        passed = counted(report.passed, "question")
        return f"No answers yet, and {passed} passed over, which count as 0."
    if report.first is None:
        return NO_ANSWERS
    said = f"{counted(report.answers, 'answer')} on {counted(len(report.days.counts), 'day')}"
    parts = [f"{said} since {dated(local(report.first, report.zone))}"]
    if report.passed:
        parts.append(f"{counted(report.passed, 'question')} passed over, which count as 0")
    if report.own:
        parts.append(f"{report.own:,} by your own mark")
    return "; ".join(parts) + "."


def skill(report: Report) -> Iterator[str]:
    """Yield which topics were not met, and which are hardly known."""
    unmet = [title(one.topic) for one in report.topics if one.estimate is None]
    vague = [title(one.topic) for one in report.topics if one.estimate and one.estimate.is_vague]
    if unmet:
        yield f"Not met yet: {', '.join(unmet)}."
    if vague:
        yield f"Too few answers to be sure of the level: {', '.join(vague)}."


def level(found: Estimate | None) -> str:
    """Return a level in words."""
    return UNMET if found is None else found.said


def number(found: Estimate | None) -> str:
    """Return a level as a number with how sure it is: "0.8 ± 0.3"."""
    if found is None:
        return ""
    at = round(found.at, 1) + 0.0  # a little below 0 is not "-0.0"
    return f"{at:.1f} ± {(found.high - found.low) / 2:.1f}"


def due(report: Report) -> Iterator[str]:
    """Yield what is due now and what will be."""
    now, later = report.due.now, report.due.days
    cards = len(report.due.concepts)
    if now:
        topics = ", ".join(f"{title(line.topic)} {line.due}" for line in report.topics if line.due)
        yield f"{now:,} of {counted(cards, 'concept')} due now: {topics}."
    elif cards:
        yield f"Nothing of {counted(cards, 'concept')} is due now."
    else:
        yield "Nothing is due: a concept comes up again once it was asked."
    if later:
        said = ", ".join(
            f"{number} {_on(when(day, report.days.today))}" for day, number in later[:UPCOMING]
        )
        yield f"Next: {said}{', and later' * (len(later) > UPCOMING)}."


def _on(day: str) -> str:
    return f"on {day}" if day[0].isdigit() else day


def streak(days: Days) -> str:
    """Return how many days in a row had an answer."""
    longest = f"the longest {counted(days.longest, 'day')}"
    if not days.streak:
        return f"No answer today or yesterday; {longest} in a row."
    today = "" if days.counts.get(days.today) else "; today has none yet"
    return f"{counted(days.streak, 'day')} in a row, {longest}{today}."


def ranges(found: Ranges) -> Iterator[str]:
    """Yield how many ranges held the answer, what that says, and how wide they are."""
    if not found.typed:
        yield "No range was typed yet: 80-90 GB in place of a number says how sure you are."
        return
    yield f"{found.held} of {found.typed} held the answer; {_lately(found)}"
    if found.lately.width is not None:
        before = found.before.width
        said = f", before {factor(before)}" if before is not None else ""
        yield f"Upper end over lower end, the median: {factor(found.lately.width)}{said}."


def _lately(found: Ranges) -> str:
    if found.typed <= found.lately.typed:
        return f"{JUDGED[found.judgement]}."
    before = f", {of(found.before)} before" if found.before.typed else ""
    return f"{of(found.lately)} of late{before}. Of late {JUDGED[found.judgement]}."


def of(held: Held) -> str:
    """Return "17 of 20"."""
    return f"{held.held} of {held.typed}"


def calendar(weeks: Sequence[Week]) -> Grid:
    """Return the answers of each day as a table with a row for each week."""
    return Grid(
        caption="Answers a day, a row for each week",
        head=("week of", *WEEKDAYS, "sum"),
        rows=tuple(
            (
                dated(week.start),
                *(
                    "" if day >= 7 - week.ahead else str(count)
                    for day, count in enumerate(week.counts)
                ),
                str(sum(week.counts)),
            )
            for week in weeks
        ),
        numbers=frozenset(range(1, 9)),
    )


def efforts(found: Sequence[Effort]) -> Grid:
    """Return what answers took as a table with a row for each level."""
    return Grid(
        caption="What answers took, by level",
        head=("level", "answers", "time", "hints", "share of credit"),
        rows=tuple(
            (
                one.level or NO_LEVEL,
                f"{one.answers:,}",
                lasting(one.seconds),
                f"{one.hints:,}",
                percent(one.share),
            )
            for one in found
        ),
        numbers=frozenset({1, 2, 3, 4}),
    )


def mistakes(report: Report) -> Iterator[str]:
    """Yield how many mistakes are open, and which are overcome."""
    if not report.mistakes:
        yield "No answer was traced to a mistake."
        return
    done = [one.name for one in report.mistakes if one.overcome]
    rest = len(report.mistakes) - len(done)
    yield f"{counted(rest, 'mistake') if rest else 'No mistake'} to work on."
    if done:
        yield f"Overcome, not made in {OVERCOME} or more that could tell them: {named(done)}."


def practise(one: Mistake) -> str:
    """Return the command that asks the questions in which a mistake is made; "" for none."""
    return "" if one.kind is None else f"memquiz practice --kind {one.kind}"


def made(some: Made) -> str:
    """Return how often a mistake was made: "3 of 12"; "none" where nothing could tell it."""
    return f"{some.times} of {some.chances}" if some.chances else "none"


def standing(one: Mistake) -> str:
    """Return whether a mistake is overcome."""
    if not one.since:
        return "made in the last question that could tell it"
    if one.since == 1:
        return "not made in the last question that could tell it"
    said = f"not made in the last {counted(one.since, 'question')} that could tell it"
    return f"overcome: {said}" if one.overcome else said


def percent(share: Fraction | None) -> str:
    """Return a share in whole percent; "" where there is none."""
    return "" if share is None else f"{round(share * 100)}%"


def factor(ratio: Fraction) -> str:
    """Return a ratio to two places: "1.35"."""
    return f"{float(ratio):,.2f}"


def lasting(seconds: float) -> str:
    """Return a time as people say it: "45 s", "2 min 05 s", "1 h 12 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60:02} min"


def day_of(moment: datetime | None, report: Report) -> str:
    """Return the day of a moment in the report's calendar; "" where there is none."""
    return "" if moment is None else dated(local(moment, report.zone))


def dated(day: date) -> str:
    """Return a day: "3 Mar 2026"."""
    return f"{day.day} {day:%b} {day.year}"


def when(day: date, today: date) -> str:
    """Return a day as one says it today: "today", "tomorrow", "yesterday", or its date."""
    near = {today: "today", today + DAY: "tomorrow", today - timedelta(days=1): "yesterday"}
    return near.get(day, dated(day))


def interviews(report: Report) -> Grid:
    """Return the marks of the last interviews as a table."""
    aspects = dict.fromkeys(name for one in report.interviews for name in one.marks)
    return Grid(
        caption="The marks of the last interviews, in percent",
        head=("interview", "level", "minutes", *aspects),
        rows=tuple(
            (
                day_of(one.at, report),
                one.level if one.mode == "alone" else f"{one.level}, of two",
                str(one.minutes),
                *(_mark(one.marks.get(name)) for name in aspects),
            )
            for one in report.interviews[-INTERVIEWS:]
        ),
        numbers=frozenset(range(2, 3 + len(aspects))),
    )


def _mark(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"
