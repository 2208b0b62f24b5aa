"""Is a target that was read from a prompt what the prompt says (T2MBench 3.3.3)?

"All data have been manually verified to be consistent with the test texts." Verdict, form and rule
are ours: nothing counts as verified unless everybody who looked accepts it.
"""

from __future__ import annotations

from audit.protocol import Condition, Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, VERDICTS

_GUIDELINES = """\
Each text asks a program for a motion and names a number: how far, how fast, how much of a turn, or
where one part of the body is to be from another. From the text somebody, or a program, took a
**target** that motions will be measured against. You say whether the target is what the text says.
There is no clip to watch.

**How targets are to be read**

- All directions are **the person's own at the first moment**: to their left, to their right,
  forward, backward, up, down. They do not turn with the person later.
- A **turn** says how much further the body faces to the left or right at the end. Seen from above,
  *clockwise* is to the right. Half a turn is the same either way round.
- A **displacement** says where the body is at the end, seen from where it began. Directions that
  are not named are zero: *2 m forward* is also *neither to the left nor to the right*.
- A **speed** is along one direction; a time is named only where the text names one.
- **One part from another** is measured from joint to joint: a *hand* is its wrist, a *heel* its
  ankle, the *toes* or *foot* the ball of the foot, the *chest* the upper spine, the *waist* the
  pelvis. *In front of the head* is forward of it and neither higher nor to the side.

**Your verdict**

- **Accept**: number, unit, direction and parts are all as the text says. A number in other units
  (*15 cm* for *0.15 m*) is the same number.
- **Revise**: the text has a target, and this one gets something wrong. Write the target as it
  should be, in the form it is shown in.
- **Reject**: the text has no such target: it counts repetitions or steps, bends one joint by an
  angle, or leaves the number open (*at least*, *about a metre or two*).

**What to keep in mind**

- Judge the target, not the text: a text that is odd or hard to do may still have a right target.
- *Left* and *right* are mixed up most often, and *in front of* with *behind*. Read them twice.
- A text may have several targets; each is shown by itself. Accept one that is right even though
  the text asks for more.

Work alone. A target is used only where everybody who saw it accepted it. Your answers are saved as
you go; you can stop at any time and come back by the same link.
"""

_EXAMPLES = (
    WorkedExample(
        title="Accept: another unit, the same number",
        body=(
            "*A person keeps the right hand 15 cm in front of the head.*  \n"
            "Target: *the right wrist is 15 cm forward of the head.* **Accept.**"
        ),
    ),
    WorkedExample(
        title="Revise: the side is wrong",
        body=(
            "*A person turns counterclockwise by 40 degrees.*  \n"
            "Target: *the body faces 40° further right.* Seen from above, counterclockwise is to "
            "the left. **Revise**: *root rotation: 40 deg left*"
        ),
    ),
    WorkedExample(
        title="Reject: nothing to measure",
        body=(
            "*A person takes 4 steps forward.*  \n"
            "Target: *at the end the whole body is 4 m forward of where it began.* Steps are no "
            "metres, and how long they are is open. **Reject.**"
        ),
    ),
)

TARGET_CHECK = Protocol(
    name="target_check",
    version=1,
    title="Targets",
    paper="T2MBench, 3.3.3",
    benchmark="t2mbench",
    kinds=("target",),
    shows=("prompt", "facts"),
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="verdict",
            text="Is the target what the text says?",
            help="Number, unit, direction and parts of the body.",
            kind="verdict",
            options=VERDICTS,
            level="ordinal",
        ),
        Question(
            name="edit",
            text="What should the target be?",
            help="In the form it is shown in, e.g. root translation: 2.8 m backward",
            kind="text",
            shown_when=Condition(question="verdict", values=("revise",)),
            agreement=False,
        ),
        COMMENT,
    ),
    decision="verdict",
    ratings_per_item=2,
)
"""Is a target read from a prompt what the prompt says?"""
