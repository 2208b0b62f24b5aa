"""The judge study of NextMotionQA: realism and semantic consistency, 1 to 5 (NextMotionQA 4.3).

The paper does not print its scale or its words; five points and these words are ours.
"""

from __future__ import annotations

from audit.protocol import Option, Protocol, Question, WorkedExample
from audit.protocols.scales import COMMENT
from benchmarks.nextmotionqa import STUDY_VERSIONS

_GUIDELINES = """\
You will see short clips of one person moving. Each was made for the text beside it: some by a
program, some recorded from a real person. You are not told which, and the same text comes back
with other clips. Give each clip **two marks from 1 to 5**.

**Realism: could a person move like this?** Look at the motion only and forget the text.

- **5** A recording of a person could look like this.
- **4** Natural, with a small flaw one has to look for.
- **3** Some of it is natural; one flaw is plain (feet slide, a jerk, a stiff part).
- **2** Mostly unnatural; several plain flaws.
- **1** No person moves like this: limbs pass through the body, the body floats, joints snap.

**Consistency: does the motion do what the text says?** Look at the text and forget how well it is
done.

- **5** Everything the text says happens, in its order, with its sides and counts.
- **4** The main motion and nearly all of the rest; one small thing is off.
- **3** The main motion happens, but a named part is missing or wrong.
- **2** Only a trace of the text can be seen.
- **1** Something else altogether.

**Keep the two apart.** A beautiful walk is 5 for realism and 1 for consistency when the text says
*sits down*. A stumbling, sliding kick can be 1 for realism and 5 for consistency. That is not a
contradiction; it is what we need to know.

**What to keep in mind**

1. Watch the clip once through before you mark it; play it again, slower or frame by frame, as you
   like. It starts and ends where it does: do not take off marks for a cut at the end.
2. Left and right are the person's own; the coloured limbs show which side is their left.
3. Judge each clip **on its own**. Do not try to remember how another clip of the same text did,
   and do not try to guess what made it.
4. The figure, its face, hands and clothes are the same in all clips and are not judged.
5. Extra motion that the text does not forbid costs little; extra motion that changes what is seen
   costs more.
6. Use the whole scale. If everything is a 3, we learn nothing.

Work alone. Your marks are saved as you go; you can stop at any time and come back by the same
link.
"""

_EXAMPLES = (
    WorkedExample(
        title="Lifelike, and not what was asked",
        body=(
            "*A person picks something up with the left hand.*  \n"
            "A smooth, lifelike reach to the floor, with the right hand. **Realism 5. Consistency "
            "3**: the main motion is there, the named side is wrong."
        ),
    ),
    WorkedExample(
        title="What was asked, and not lifelike",
        body=(
            "*A person jumps twice.*  \n"
            "Two jumps, but the feet slide on landing and the knees snap straight. **Realism 2. "
            "Consistency 5.**"
        ),
    ),
    WorkedExample(
        title="A part is missing",
        body=(
            "*A person walks forward, turns around and waves.*  \n"
            "A natural walk and turn; the clip ends without a wave. **Realism 5. Consistency 3.**"
        ),
    ),
)

LIKERT = Protocol(
    name="likert",
    version=1,
    title="Realism and consistency",
    paper="NextMotionQA, 4.3",
    benchmark="nextmotionqa",
    kinds=("judged_clip",),
    shows=("video", "prompt"),
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="realism",
            text="Could a person move like this?",
            help="The motion only; forget the text.",
            kind="likert",
            options=(
                Option(value="1", text="No person moves so"),
                Option(value="2", text="Mostly unnatural"),
                Option(value="3", text="One plain flaw"),
                Option(value="4", text="A small flaw"),
                Option(value="5", text="Like a recording"),
            ),
            level="ordinal",
        ),
        Question(
            name="semantic_consistency",
            text="Does the motion do what the text says?",
            help="The text only; forget how well it is done.",
            kind="likert",
            options=(
                Option(value="1", text="Something else"),
                Option(value="2", text="A trace"),
                Option(value="3", text="A part is missing"),
                Option(value="4", text="Nearly all"),
                Option(value="5", text="Everything"),
            ),
            level="ordinal",
        ),
        COMMENT,
    ),
    group_by="prompt_id",
    study_labels=tuple(STUDY_VERSIONS),
    decision="none",
    ratings_per_item=3,
)
"""How real is a motion, and how true to its text?"""
