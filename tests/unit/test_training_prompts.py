"""The training prompts are many and varied, and none of them is a prompt of the evaluation."""

import re
from collections import Counter

from specviz.training.prompts import SLOT, compose, evaluation, heldout, same, templates, words


def every_template():
    for kind, several in templates().items():
        for template in several:
            yield from ((kind, turn) for turn in ([template] if isinstance(template, str) else template))


def pattern(template):
    """What `template` can become, for `same` texts."""
    parts, end = [], 0
    for slot in SLOT.finditer(template):
        name, low, _ = slot.groups()
        parts += [re.escape(same(template[end : slot.start()])), r"\d+" if low else any_of(name)]
        end = slot.end()
    return re.compile("".join([*parts, re.escape(same(template[end:]))]))


def any_of(name):
    return "(?:" + "|".join(re.escape(same(word)) for word in words()[name]) + ")"


def test_no_template_can_become_an_evaluation_prompt():
    for _, template in every_template():
        could = pattern(template)
        assert not [prompt for prompt in heldout() if could.fullmatch(prompt)], template


def test_the_pattern_of_a_template_knows_what_it_becomes():
    could = {turn: pattern(turn) for _, turn in every_template()}
    for index in range(500):
        for turn in compose(3, index).turns:
            assert any(one.fullmatch(same(turn)) for one in could.values()), turn


def test_evaluation_has_six_kinds_of_ten_and_more():
    assert len(evaluation()) == 6
    assert all(len(set(prompts)) >= 10 for prompts in evaluation().values())
    assert len(heldout()) == sum(map(len, evaluation().values())) >= 60


def test_prompts_are_thousands_and_of_all_kinds():
    prompts = [compose(0, index) for index in range(8000)]
    assert len({prompt.turns for prompt in prompts}) > 4000
    kinds = Counter(prompt.kind for prompt in prompts)
    assert kinds.keys() == templates().keys() | {"magpie"}
    assert min(kinds.values()) > 300
    assert len({prompt.temperature for prompt in prompts}) == 5
    assert any(len(prompt.turns) > 1 for prompt in prompts)
    assert compose(0, 5) == prompts[5]
    assert compose(1, 5) != prompts[5]


def test_every_slot_has_a_list_and_every_list_a_slot():
    slots = {slot[1] for _, template in every_template() for slot in SLOT.finditer(template) if not slot[2]}
    assert slots == words().keys()
    assert all(len(set(several)) == len(several) for several in words().values())
