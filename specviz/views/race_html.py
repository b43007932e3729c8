"""A race in words and numbers: the figures, the formula with its numbers filled in, and the reasons. HTML.

What a visitor or a model wrote is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.config import RunConfig
from specviz.i18n import t
from specviz.race import Race, Result
from specviz.race_theory import AT_ONCE
from specviz.trace import Finish
from specviz.views.numbers import prob
from specviz.views.tokens import markup

NONE = "–"
TERMS = 4  # positions that are written out in the formula


@dataclass(frozen=True, slots=True)
class Entry:
    """A race of the session, by its number."""

    number: int
    race: Race
    result: Result


def drafter(config: RunConfig, lang: str) -> str:
    """Who drafted, and how much, in plain text."""
    if config.is_tree:
        much = t(lang, "race.of_tree", n=len(config.tree) or config.nodes)
    else:
        much = t(lang, "race.of_auto" if config.adapt else "race.of_k", k=config.k)
    return t(lang, "race.drafter", method=t(lang, f"ui.method_{config.method}"), much=much)


def label(entry: Entry, lang: str) -> str:
    """An entry in one line of plain text."""
    config = entry.race.fast.config
    return t(
        lang,
        "race.label",
        n=entry.number,
        drafter=drafter(config, lang),
        temperature=f"{config.temperature:g}",
        x=f"{entry.result.speedup:.2f}",
    )


def figures(entry: Entry, lang: str) -> str:
    """The tiles over the charts, and what there is to say about the two texts."""
    r, race = entry.result, entry.race
    c, o = r.costs, r.outlook
    tiles = [
        ("speedup", f"{r.speedup:.2f}×"),
        ("plain_speed", f"{r.plain.tokens_per_second:.1f}"),
        ("fast_speed", f"{r.fast.tokens_per_second:.1f}"),
        ("per_round", f"{r.fast.tokens / r.fast.rounds:.2f}"),
        ("alpha", prob(o.alpha)),
        ("c", NONE if c.c is None else f"{c.c:.2f}"),
        ("checking", NONE if not c.usual else f"{c.checking:.2f}"),
    ]
    made = "".join(
        f"<div{_kind(name, r)}><dt>{markup(t(lang, f'race.tile_{name}'))}</dt><dd>{value}</dd></div>"
        for name, value in tiles
    )
    return f'<dl class="sv-race-tiles">{made}</dl>' + paragraphs(
        [*_because(r, lang), _texts(race, lang), *_notes(race, r, lang)]
    )


def _kind(name: str, r: Result) -> str:
    return f' class="sv-race-{"faster" if r.speedup > 1 else "slower"}"' if name == "speedup" else ""


def _because(r: Result, lang: str) -> list[str]:
    """Why the first thing that is seen is no gain."""
    if r.speedup >= 1:
        return []
    spent = r.costs.drafting + r.costs.checking
    key = "because_costs" if spent >= r.outlook.accepted else "because_rest"
    return [t(lang, f"race.{key}", tokens=f"{r.outlook.accepted:.2f}", spent=f"{spent:.2f}")]


def _texts(race: Race, lang: str) -> str:
    config = race.fast.config
    if config.lossless and config.temperature == 0:
        at = race.parts_at
        key = "texts_same" if at is None else "texts_part"
        return t(lang, f"race.{key}", n=0 if at is None else at + 1, dtype=race.fast.models.dtype)
    return t(lang, "race.texts_drawn" if config.lossless else "race.texts_lossy", temperature=f"{config.temperature:g}")


def _notes(race: Race, r: Result, lang: str) -> list[str]:
    """What else should be known before the figures are believed."""
    found = []
    config = race.fast.config
    if config.adapt:
        drafted = sum(len(one.draft.tokens) for one in race.fast.rounds) / r.fast.rounds
        key = "auto_fell_back" if 2 * r.undrafted > r.fast.rounds else "auto_k"
        found.append(t(lang, f"race.{key}", n=r.undrafted, rounds=r.fast.rounds, k=f"{drafted:.1f}"))
    elif config.method == "lookup" and r.undrafted:
        found.append(t(lang, "race.nothing_found", n=r.undrafted, rounds=r.fast.rounds))
    if Finish.STOP in (race.plain.finish, race.fast.finish) and r.plain.tokens != r.fast.tokens:
        found.append(t(lang, "race.lengths", plain=r.plain.tokens, fast=r.fast.tokens))
    if r.uneven:
        found.append(t(lang, "race.uneven"))
    if race.waited:
        found.append(t(lang, "race.waited"))
    return found


def formula(entry: Entry, lang: str) -> str:
    """Tokens a round and speed-up by theory, with the measured numbers in them, and what explains the difference."""
    r, race = entry.result, entry.race
    c, o = r.costs, r.outlook
    reached, terms = 1.0, ["1"]
    for chance in o.conditional[:TERMS]:
        reached *= chance
        terms.append(f"{reached:.2f}")
    more = " + …" if len(o.conditional) > TERMS else ""
    tokens = f"1 + a<sub>1</sub> + a<sub>1</sub>a<sub>2</sub> + … = {' + '.join(terms)}{more} = <b>{o.accepted:.2f}</b>"
    speed = (
        f"{_fraction('E', 'd + v')} = {_fraction(f'{o.accepted:.2f}', f'{c.drafting:.2f} + {c.checking:.2f}')}"
        f" = <b>{o.predicted:.2f}×</b>"
    )
    made = (
        f'<div class="sv-formula"><p><i>E</i> = {tokens}</p>'
        f"<p>{markup(t(lang, 'race.formula_speedup'))} = {speed}</p></div>"
    )
    stepped = c.c is not None and c.steps >= 1 and race.fast.config.method not in AT_ONCE
    drafting = "legend_drafting" if stepped else "legend_drafting_at_once"
    legend = [
        t(lang, "race.legend_tokens"),
        t(lang, f"race.{drafting}", d=f"{c.drafting:.2f}", c=f"{c.c or 0:.2f}", steps=f"{c.steps:.1f}"),
        t(lang, "race.legend_checking", v=f"{c.checking:.2f}"),
    ]
    return made + _list(legend) + paragraphs([*_checking(race, r, lang), _gap(r, lang)])


def _checking(race: Race, r: Result, lang: str) -> list[str]:
    """The sentence on which most of the difference to the textbook hangs."""
    c, o, models = r.costs, r.outlook, race.fast.models
    if not c.usual:
        return []
    key = "checking_costs" if c.checking >= 1.05 else "checking_free"
    kind = t(lang, "race.device_gpu" if models.device.startswith("cuda") else "race.device_cpu")
    words = {"n": c.usual + 1, "x": f"{c.checking:.2f}", "device": kind, "dtype": models.dtype}
    return [t(lang, f"race.{key}", **words, textbook=f"{o.textbook:.2f}", predicted=f"{o.predicted:.2f}")]


def _gap(r: Result, lang: str) -> str:
    c, o = r.costs, r.outlook
    words = {"measured": f"{o.measured:.2f}", "predicted": f"{o.predicted:.2f}"}
    percent = f"{100 * abs(o.measured / o.predicted - 1):.0f}"
    return t(lang, f"race.gap_{r.gap}", **words, percent=percent, rest=f"{c.rest:.2f}", plain=f"{c.plain_rest:.2f}")


def why(entry: Entry, lang: str) -> str:
    """Which of acceptance, drafting and checking eats the gain, what would have to change, and the best k by theory."""
    r = entry.result
    c, o = r.costs, r.outlook
    words = {
        "possible": f"{o.possible:.2f}",
        "accepted": f"{o.accepted:.2f}",
        "drafting": f"{c.drafting:.2f}",
        "checking": f"{c.checking:.2f}",
        "loss": f"{o.losses[r.culprit]:.2f}",
        "n": c.usual + 1,
        "rest": f"{c.rest:.2f}",
    }
    title = t(lang, "race.why_faster" if r.speedup > 1 else "race.why_slower")
    changes = _gains(r, lang) if o.predicted > 1 else _needs(entry, lang)
    return (
        f"<h4>{markup(title)}</h4>"
        + paragraphs([t(lang, f"race.most_{r.culprit}", **words), *_best(entry, lang)])
        + _list(changes)
    )


def _gains(r: Result, lang: str) -> list[str]:
    """The speed-up if one thing were ideal, where that would be one worth naming."""
    c, o = r.costs, r.outlook
    ideal = {
        "acceptance": o.possible / (c.drafting + c.checking),
        "drafting": o.accepted / c.checking,
        "checking": o.textbook,
    }
    return [t(lang, f"race.gain_{name}", x=f"{x:.2f}") for name, x in ideal.items() if x > 1.02 * o.predicted]


def _needs(entry: Entry, lang: str) -> list[str]:
    """What one thing would have to be to break even."""
    r = entry.result
    c, o, need = r.costs, r.outlook, r.break_even
    now = {
        "spent": f"{c.drafting + c.checking:.2f}",
        "accepted": f"{o.accepted:.2f}",
        "possible": f"{o.possible:.2f}",
        "drafting": f"{c.drafting:.2f}",
        "checking": f"{c.checking:.2f}",
        "alpha": prob(o.alpha),
        "c": f"{c.c or 0:.2f}",
    }
    wanted = {
        "alpha": need.alpha,
        "drafting" if entry.race.fast.config.method in AT_ONCE else "c": need.drafting,
        "checking": need.checking,
    }
    found = []
    for name, value in wanted.items():
        if value is None:
            found.append(t(lang, f"race.never_{name}", **now))
        else:
            x = need.c if name == "c" and need.c is not None else value
            found.append(t(lang, f"race.need_{name}", **now, x=prob(x) if x < 1 else f"{x:.2f}"))
    return found


def _best(entry: Entry, lang: str) -> list[str]:
    best = entry.result.best
    if best is None:
        return []
    k, x = best
    key = "best_none" if k == 0 else "best_same" if k == entry.race.fast.config.k else "best_k"
    return [t(lang, f"race.{key}", k=k, x=f"{x:.2f}")]


def _fraction(top: str, bottom: str) -> str:
    return f'<span class="sv-fraction"><span>{top}</span><i>/</i><span>{bottom}</span></span>'


def paragraphs(texts: Sequence[str]) -> str:
    """Plain texts."""
    return "".join(f"<p>{markup(text)}</p>" for text in texts)


def _list(texts: Sequence[str]) -> str:
    return '<ul class="sv-list">' + "".join(f"<li>{markup(text)}</li>" for text in texts) + "</ul>"
