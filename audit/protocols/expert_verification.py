"""Expert verification of NextMotionQA: accept, revise or reject (NextMotionQA 4.2, A.3, F).

Any failure mode forces reject; only unanimous acceptance accepts; what is to be revised is edited
together and judged again. That an edit must be proposed with *revise* is ours.
"""

from __future__ import annotations

from audit.protocol import Condition, Forced, Option, Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, VERDICTS
from benchmarks.nextmotionqa import FAILURE_MODES

_GUIDELINES = """\
You will see clips of one person moving, each with a drafted test item. A program will later be
asked the same item and scored on it. You decide whether the item is **fit to test with**: can
someone who sees the clip, and nothing else, answer it, and is there one answer they must come to?
You are not shown the answer that was drafted; that is on purpose.

**The three tasks**

- *Multiple choice*: a question and four options, of which one or more are right.
- *Caption*: a description of the motion. Judge whether it is true and complete on its axis.
- *Correction*: a caption with a deliberate mistake. Judge whether the mistake can be found by
  watching, and whether there is only one way to put it right.

**The three axes** say what an item is about: *which parts* of the body make the motion, *which
way* the body moves, or *what* the motion is. An item that can only be answered by something else
(mood, intention, an object that is not there) misses its axis.

**Difficulty** is a property of the clip: *easy* is a single plain action, *medium* two actions in
a row, *hard* three or more, or one with a stated direction, speed, manner or small body part.

**Your verdict**

- **Accept**: you would put your name to it as it stands.
- **Revise**: the idea is sound and a small change of wording makes it right. Write the wording
  you propose; three words are enough.
- **Reject**: no small change helps, or one of the four failures below is there. Tick a failure
  only when it is real: ticking one always means reject.

**The four failures**

- **F1, body parts collide.** Two answers name a part and the whole that contains it, *hand* and
  *arm*, and the motion fits both.
- **F2, no point of view.** *Right* or *forward* is asked for, and nothing says whose. In our clips
  left and right are the person's own; an item that says so is safe.
- **F3, no border in time.** The item asks what comes before or after something, and in the clip
  the two run into each other.
- **F4, several actions at once.** One action is asked for while the person walks *and* waves, and
  neither is the main one.

Watch the whole clip before you decide; it loops, and you can slow it down or step through it.
Judge alone. If the experts do not agree on a revision, you may meet in a room where everybody's
comments are shown without names, and the new wording then comes back to you as a fresh item.
Everything is saved as you go.
"""

_EXAMPLES = (
    WorkedExample(
        title="Accept",
        body=(
            "*Which of the person's own limbs are lifted above the shoulder? left arm, right arm, "
            "left leg, right leg.*  \n"
            "The clip shows the left arm go up and the others stay down. The item says whose left "
            "it is, the options exclude each other, and the clip decides. **Accept.**"
        ),
    ),
    WorkedExample(
        title="Revise, with an edit",
        body=(
            "*A person walks forward quick and sits down.*  \n"
            "True to the clip and complete, but not quite English. One word mends it. **Revise**, "
            "edit: *walks forward quickly*."
        ),
    ),
    WorkedExample(
        title="Reject because of F1",
        body=(
            "*What moves? right hand, right arm, left foot, head.*  \n"
            "The whole right arm stretches out, and the hand with it: two options are defensible, "
            "and nobody can say which was meant. **Reject, F1.**"
        ),
    ),
    WorkedExample(
        title="Reject because of F3",
        body=(
            "*What does the person do before turning? walk, jump, kneel, stand still.*  \n"
            "They turn while they walk; there is no *before*. **Reject, F3.**"
        ),
    ),
)

EXPERT_VERIFICATION = Protocol(
    name="expert_verification",
    version=1,
    title="Item verification",
    paper="NextMotionQA, 4.2, A.3 and F",
    benchmark="nextmotionqa",
    kinds=("choice", "caption", "correction"),
    shows=("video", "question", "options", "facts"),
    allows_3d=True,
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="verdict",
            text="Is this item fit to test with?",
            help="Someone who sees only the clip must come to one answer.",
            kind="verdict",
            options=VERDICTS,
            level="ordinal",
        ),
        Question(
            name="failures",
            text="Which failures does it show?",
            help="Any of them means reject. Leave it empty when there is none.",
            kind="multi",
            options=tuple(
                Option(value=code, text=f"{code}: {title}", help=definition)
                for code, (title, definition) in FAILURE_MODES.items()
            ),
            required=False,
            shown_when=Condition(question="verdict", values=("revise", "reject")),
            agreement=False,
        ),
        Question(
            name="edit",
            text="Which wording do you propose?",
            help="The new text, or the words that change.",
            kind="text",
            shown_when=Condition(question="verdict", values=("revise",)),
            agreement=False,
        ),
        COMMENT,
    ),
    forced=(
        Forced(
            question="failures",
            values=tuple(FAILURE_MODES),
            then="verdict",
            must_be="reject",
            message="An item that shows any of F1 to F4 must be rejected.",
        ),
    ),
    decision="verdict",
    ratings_per_item=3,
)
"""Is a drafted item fit to test with?"""
