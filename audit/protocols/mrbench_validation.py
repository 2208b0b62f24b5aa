"""Manual validation of MRBench: captions, hierarchy, category (MRBench, Multi-granular Expansion).

The paper says that quality, taxonomy and hierarchy were reviewed by hand, not how; the questions
and the rule are ours.
"""

from __future__ import annotations

from audit.protocol import Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, YES_NO

_GUIDELINES = """\
You will see clips of one person moving, each with **three captions** of the same motion and the
category it was filed under. Caption **A** is meant to be short, **B** of usual length, **C**
detailed. A search engine will be tested on finding the clip from each of them, so each must be
true, and a more detailed one must not contradict a shorter one.

**You answer five questions**

1. *Is caption A right?* It names the main motion, in few words. Answer No when it is false, or when
   it is so general that it says nothing (*a person moves*). Left-out detail is fine: it is short.
2. *Is caption B right?* Everything it says must be seen in the clip. No when one thing is wrong:
   a side, a direction, a count, an action that is not there.
3. *Is caption C right?* The same standard, part by part. A long caption has more chances to be
   wrong; read it to the end with the clip running. One wrong detail is a No.
4. *Do they build on each other?* Everything A says must also be said, or follow, in B, and
   everything in B in C. No when a longer caption drops a thing a shorter one names, or says another
   thing in its place. Other words for the same thing are fine.
5. *Is the category right?* Read it from left to right, from the wide group to the narrow one. Yes
   when the **main** motion belongs there. No when you would look for this clip elsewhere.

**What to keep in mind**

- Left and right are the person's own; the coloured limbs show which side is their left.
- The clip decides, not your sense of what usually happens. A hand that might hold a cup holds
  nothing unless it is seen to.
- The questions are independent: a false detail in C does not make B wrong, and three true captions
  can still be filed in the wrong place. When C alone is false and it contradicts B, both the
  question on C and the one on building are No.
- Style does not matter as long as it can be understood. Shaking feet or stiff hands do not matter
  either.
- Do not look for a reason to say No. If you had to stop and think whether *strides* and *walks*
  differ, they do not.

Work alone, and use the comment for what should be put right. Your answers are saved as you go; you
can stop at any time and come back by the same link.
"""

_EXAMPLES = (
    WorkedExample(
        title="Everything is right",
        body=(
            "*A: a person kicks. B: a person kicks forward with the right foot. C: from standing, "
            "the person lifts the right knee, kicks forward at hip height and sets the foot "
            "down.* Category: *Sports / Combat / Kick*.  \n"
            "The clip shows just that. **Yes to all five.**"
        ),
    ),
    WorkedExample(
        title="A detail of the long caption is false",
        body=(
            "*A: a person walks and turns. B: a person walks forward, then turns left. C: the "
            "person takes four steps forward, then turns to the right, arms hanging.*  \n"
            "The clip shows a turn to the left. **A: Yes. B: Yes. C: No. Building: No**, since C "
            "says the opposite of B."
        ),
    ),
    WorkedExample(
        title="Filed in the wrong place",
        body=(
            "Three true captions of someone kneeling to tie a shoe; category *Sports / Gymnastics "
            "/ Floor*.  \n"
            "**Captions: Yes. Building: Yes. Category: No**; it belongs to daily activities."
        ),
    ),
)


def _right(name: str, letter: str, help_text: str) -> Question:
    return Question(
        name=name,
        text=f"Is caption {letter} right?",
        help=help_text,
        kind="choice",
        options=YES_NO,
    )


MRBENCH_VALIDATION = Protocol(
    name="mrbench_validation",
    version=1,
    title="Captions of three lengths",
    paper="MRBench, Multi-granular Text Expansion",
    benchmark="mrbench",
    kinds=("caption_set",),
    shows=("video", "captions", "facts"),
    allows_3d=True,
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        _right("concise_right", "A", "The short one: is the main motion named, and nothing false?"),
        _right("standard_right", "B", "The usual one: is everything it says seen in the clip?"),
        _right("fine_right", "C", "The detailed one: is every single detail seen in the clip?"),
        Question(
            name="hierarchy",
            text="Do the captions build on each other, A in B and B in C?",
            help="No when a longer caption drops or contradicts what a shorter one says.",
            kind="choice",
            options=YES_NO,
        ),
        Question(
            name="category_right",
            text="Is the category right?",
            help="Yes when the main motion belongs there.",
            kind="choice",
            options=YES_NO,
        ),
        COMMENT,
    ),
    checks=("concise_right", "standard_right", "fine_right", "hierarchy", "category_right"),
    decision="checks_majority",
    ratings_per_item=3,
)
"""Are three captions of a motion true, nested, and filed where they belong?"""
