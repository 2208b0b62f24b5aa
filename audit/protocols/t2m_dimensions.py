"""The five rubric scores of T2MBench, as people give them (T2MBench 4.2.1).

Ranges and names are the paper's; the words of the rubric are ours.
"""

from __future__ import annotations

from audit.protocol import Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, points
from benchmarks.t2mbench import RUBRIC

_GUIDELINES = """\
You will see clips of one person moving, each made by a program for the text beside it. You give
**five scores**, each with a range of its own. More is always better. Language models score the
same clips by the same rubric; your scores say which of them comes nearest to people.

**The five scores**

- **Nothing extra (0–10).** Is there motion that the text does not ask for? 10: none but what the
  body needs to get there. 5: one clear extra action. 0: most of the clip is something else.
- **Completeness (0–20).** How much of what the text asks for happens? Take the actions it names,
  and share the 20 points among them. 20: all of them, each carried through. 10: half. 0: none.
  An action that is begun and broken off gets half its share.
- **Order (0–10).** Do the stages come in the order of the text? 10: yes, or there is only one.
  5: two of them are swapped. 0: no order can be recognised. Do not take off points here for a
  stage that is missing; that was counted above.
- **Body parts (0–10).** Are the named limbs and sides used, as named? 10: all of them. 5: the right
  kind of limb on the wrong side, or one of two wrong. 0: other parts altogether. When the text
  names no part, judge whether sensible ones are used.
- **Plausibility (0–10).** Could a body do this? 10: yes, with weight and balance. 5: sliding feet
  or a jerk that one sees at once. 0: floating, snapping, limbs through the body.

**What to keep in mind**

1. Read the text twice and count its actions before you play the clip.
2. Watch the clip through once, then again for each score you are unsure of. You can slow it down
   and step through it.
3. **One fault, one score.** Ask which of the five it belongs to, and take it off there only.
4. Left and right are the person's own; the coloured limbs show which side is their left.
5. Judge each clip on its own. The same text comes back with clips of other programs; you are not
   told which, and the order is different for everybody.
6. Face, hands and clothes of the figure are not judged, nor is a cut at the end of the clip.
7. Whole points only. Do not agonise between 6 and 7; several people score each clip.

The total is worked out by the computer. Work alone; your scores are saved as you go, and you can
come back by the same link.
"""

_EXAMPLES = (
    WorkedExample(
        title="One of three stages is missing",
        body=(
            "*Steps forward with the left foot, crouches, then leaps up.*  \n"
            "Step and crouch are clean; the leap never comes. **Nothing extra 10, completeness 13 "
            "(two of three), order 10, body parts 10, plausibility 9.**"
        ),
    ),
    WorkedExample(
        title="The wrong arm",
        body=(
            "*Swings the right arm in a wide circle.*  \n"
            "The left arm swings in a wide circle, smoothly. The action is complete; its side is "
            "wrong. **Nothing extra 10, completeness 20, order 10, body parts 5, plausibility "
            "10.**"
        ),
    ),
    WorkedExample(
        title="Something else is done as well",
        body=(
            "*Stands on one leg.*  \n"
            "Stands on one leg, then walks off, feet sliding. **Nothing extra 5, completeness 20, "
            "order 10, body parts 10, plausibility 5.**"
        ),
    ),
)

_WORDS: dict[str, tuple[str, str, dict[int, str]]] = {
    "extra_actions": (
        "Nothing extra",
        "Is there motion that the text does not ask for?",
        {0: "Mostly something else", 5: "One clear extra action", 10: "Nothing extra"},
    ),
    "completeness": (
        "Completeness",
        "How much of what the text asks for happens?",
        {0: "None of it", 10: "Half", 20: "All of it, carried through"},
    ),
    "order": (
        "Order",
        "Do the stages come in the order of the text?",
        {0: "No order to be seen", 5: "Two stages swapped", 10: "In order, or only one stage"},
    ),
    "body_parts": (
        "Body parts",
        "Are the named limbs and sides used, as named?",
        {0: "Other parts", 5: "Right limb, wrong side", 10: "As named"},
    ),
    "plausibility": (
        "Plausibility",
        "Could a body do this?",
        {0: "Impossible", 5: "A flaw seen at once", 10: "Like a person"},
    ),
}

T2M_DIMENSIONS = Protocol(
    name="t2m_dimensions",
    version=1,
    title="Five scores of a motion",
    paper="T2MBench, 4.2.1",
    benchmark="t2mbench",
    kinds=("judged_clip",),
    shows=("video", "prompt"),
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        *(
            Question(
                name=name,
                text=f"{_WORDS[name][0]}: {_WORDS[name][1]}",
                help="; ".join(f"{score}: {text}" for score, text in _WORDS[name][2].items()),
                kind="likert",
                options=points(criterion.top, _WORDS[name][2]),
                # Scores are averaged and subtracted (T2MBench 4.2.1), so their steps are equal.
                level="interval",
            )
            for name, criterion in RUBRIC.items()
        ),
        COMMENT,
    ),
    group_by="prompt_id",
    decision="none",
    ratings_per_item=5,
)
"""How well does a motion follow its prompt, by the rubric?"""
