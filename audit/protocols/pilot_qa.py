"""The pilot: experts answer another benchmark's questions, with confidence (NextMotionQA 3, A.1).

It measures whether the gold answers can be found by watching at all; nothing is decided.
"""

from __future__ import annotations

from audit.protocol import Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, CONFIDENCE

_GUIDELINES = """\
You will see clips of one person moving, each with a question and a list of answers. Choose **the
one answer you would defend** to a colleague, and say how sure you are. That is all.

The questions come from an existing collection in which they were made by a program from labels.
Some are clear, some are not; that is what we want to find out. There is no trick and no time
limit, and nobody is ranked by how many they get right.

**What to keep in mind**

1. Watch the whole clip first. It loops; slow it down or step frame by frame as often as you like.
2. Answer from what you **see**. Do not guess what the program that wrote the question had in mind,
   and do not choose an answer because it sounds like the usual one.
3. **Left and right are the person's own**, unless the question says otherwise. The coloured limbs
   show which side is their left.
4. When two answers fit (the hand moves, and so does the arm it hangs on), take the one you would
   rather defend, and let your confidence say that it was close.
5. When no answer fits, take the least wrong one and set your confidence to 1. Say in the comment
   what is missing.
6. *Before* and *after* mean the action next to the one named, not the first or last of the clip.
7. The order of the answers is different for everybody and means nothing.

**Confidence**, from 1 to 5, is about this one answer. 1 is a guess between two or more, 3 means
you lean to it, 5 that you would be astonished to be wrong. Please use the whole scale: a 5
everywhere tells us nothing.

You cannot see what others answered or what the collection says is right, and they cannot see your
answers. Please do not talk about single clips until everybody is done. A comment is welcome where
a question has no good answer: say in a few words why.

Your answers are saved as you go. You can stop at any time and come back by the same link, and
you can go back to your last answer and change it while the study is open.
"""

_EXAMPLES = (
    WorkedExample(
        title="A clear question",
        body=(
            "*What does the person do after they walk? sit, jump, wave, kneel.*  \n"
            "They walk, stop, and go down on one knee. One answer is seen, and the two actions do "
            "not overlap. **Kneel, confidence 5.**"
        ),
    ),
    WorkedExample(
        title="Two answers fit",
        body=(
            "*Which body part moves? right hand, right arm, left leg, head.*  \n"
            "The whole right arm reaches out. *Right hand* is not wrong, but the motion is the "
            "arm's. **Right arm, confidence 2 or 3**, because the other could be meant."
        ),
    ),
    WorkedExample(
        title="No answer fits",
        body=(
            "*What action is the person doing? run, throw, sit.*  \n"
            "The person walks slowly in a circle. *Run* is nearest and still wrong. **Run, "
            "confidence 1**, comment: *walking is not among the answers.*"
        ),
    ),
)

PILOT_QA = Protocol(
    name="pilot_qa",
    version=1,
    title="Questions about motions",
    paper="NextMotionQA, 3 and A.1",
    benchmark="nextmotionqa",
    kinds=("pilot_question",),
    shows=("video", "question"),
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="answer",
            text="Your answer",
            help="The one you would defend; take the least wrong when none fits.",
            kind="choice",
            options_from="item",
        ),
        Question(
            name="confidence",
            text="How sure are you?",
            kind="likert",
            options=CONFIDENCE,
            level="ordinal",
        ),
        COMMENT,
    ),
    decision="none",
    ratings_per_item=3,
)
"""Can experts find the gold answers of a question set by watching?"""
