"""Review of prompts before any motion is made: the "Clay Figurine Rule" (T2MBench 3.1).

The rule asks for precise kinematic language that can be executed, without vague adjectives, and
without Arabic numerals except in numerical tasks. Verdict and majority are ours.
"""

from __future__ import annotations

from audit.protocol import Condition, Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT, VERDICTS, YES_NO

_GUIDELINES = """\
You will read short texts. Each will be given to programs that make a motion from it, so each must
say **what the body does** and nothing else. There is no clip to watch yet. Imagine a clay figurine
on your desk: could you bend it, step by step, into what the text says, without asking what is
meant?

**You answer three questions, then give a verdict**

1. *Does it describe motion of the body?* Yes when it names parts of the body (head, torso, arms,
   legs) and where they go: raised, bent, turned, forward, to the side. No when it describes what
   the person feels, wants or looks like, or names an action without saying how the body does it.
2. *Can a person do it?* Yes when a healthy adult could perform it in the time it would take, in
   the order given. No when limbs would have to be in two places, when balance is impossible, or
   when the steps contradict each other.
3. *Is it free of banned wording?* No when it has a vague adjective or adverb (*graceful*,
   *powerful*, *sadly*), a comparison (*like a swan*), something other than the person that must be
   seen (a room, music, a partner; an invisible object that is handled is allowed where the category
   asks for it), or digits. Digits are allowed in tasks about numbers only.

**Your verdict**

- **Accept**: all three are Yes, and you would know how to bend the figurine.
- **Revise**: the motion is there, and a few words put it right. Write the text as it should be.
- **Reject**: it would have to be written anew.

**What to keep in mind**

- Long is not bad, and short is not bad. A text may have one stage or many.
- *Left* and *right* are the person's own. A text about one side must say which.
- A named technique (*roundhouse kick*, *plié*) is fine when the text also says how the body
  does it.
- Speed, height and angle are motion: *quickly*, *to shoulder height*, *a quarter turn* are all
  right.
- Do not correct style that does not get in the way, and do not judge whether programs will manage.
- If you are torn between revise and reject, write the text anew in your head: if that takes one
  sentence, revise.

Work alone; several people read each text and the majority decides. Your answers are saved as you
go; you can stop at any time and come back by the same link.
"""

_EXAMPLES = (
    WorkedExample(
        title="Accept",
        body=(
            "*Shift the weight onto the left leg, lift the right knee to hip height, then swing "
            "the right foot forward until the leg is straight.*  \n"
            "Parts, directions and order are all there. **Motion: Yes. Can be done: Yes. Wording: "
            "Yes. Accept.**"
        ),
    ),
    WorkedExample(
        title="Revise: one vague word",
        body=(
            "*Gracefully raise both arms to the sides until they are level with the shoulders.*  \n"
            "Without the first word it is a clear motion. **Motion: Yes. Can be done: Yes. "
            "Wording: No. Revise**: *Slowly raise both arms …*"
        ),
    ),
    WorkedExample(
        title="Reject: no motion is described",
        body=(
            "*Dance with the sorrow of someone who has lost everything.*  \n"
            "Nobody could bend a figurine by that. **Motion: No. Can be done: Yes. Wording: No. "
            "Reject.**"
        ),
    ),
)

PROMPT_REVIEW = Protocol(
    name="prompt_review",
    version=1,
    title="Prompts",
    paper="T2MBench, 3.1",
    benchmark="t2mbench",
    kinds=("prompt",),
    shows=("prompt",),
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="kinematic",
            text="Does it describe motion of the body?",
            help="Parts of the body and where they go; not feelings, wishes or looks.",
            kind="choice",
            options=YES_NO,
        ),
        Question(
            name="executable",
            text="Can a person do it?",
            help="A healthy adult, in the order given.",
            kind="choice",
            options=YES_NO,
        ),
        Question(
            name="wording",
            text="Is it free of banned wording?",
            help="No vague adjectives, comparisons or scenery; digits in numerical tasks only.",
            kind="choice",
            options=YES_NO,
        ),
        Question(
            name="verdict",
            text="Your verdict",
            kind="verdict",
            options=VERDICTS,
            level="ordinal",
        ),
        Question(
            name="edit",
            text="How should it read?",
            help="The whole text, or the words that change.",
            kind="text",
            shown_when=Condition(question="verdict", values=("revise",)),
            agreement=False,
        ),
        COMMENT,
    ),
    decision="verdict_majority",
    ratings_per_item=3,
)
"""Does a prompt describe a motion that a body can make, in plain terms?"""
