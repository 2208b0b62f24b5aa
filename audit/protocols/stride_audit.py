"""The human audit of STRIDE: three checks of a caption pair, four for Action Identity.

STRIDE 2.2 names the checks (fluency, one property changed, told apart by the motion); appendix
A.1 adds that the two actions be distinct and mutually exclusive. Confidence, the comment and the
rule are ours.
"""

from __future__ import annotations

from audit.protocol import Condition, Option, Protocol, Question, WorkedExample
from benchmarks.stride import STRUCTURAL_AXES

_YES_NO = (Option(value="yes", text="Yes"), Option(value="no", text="No"))

_GUIDELINES = """\
You will see short clips of one person moving, each with two captions, A and B. One of them came
with the clip; the other was made from it, mostly by changing one thing. You are not asked which
is which. You are asked whether the **pair is a fair question**: could someone who watches the
clip tell the two captions apart by that one thing, and by nothing else?

**Ten things to know**

1. Watch the whole clip once before you answer. It loops; slow it down or step frame by frame
   when you need to.
2. **Left and right are the person's own.** When the person faces you, their left hand is on
   the right of your screen. The coloured limbs help: the legend below the clip says which
   colour is their left.
3. *Fluent English* means that both captions read like something a person would write. Plain,
   clumsy or short is fine. Answer No for broken grammar, a missing word, a sentence that
   contradicts itself, or words that do not go together ("waves his foot goodbye").
4. *Differ only in …* names the one thing that may change. Answer No if anything else changed
   as well: another action, another body part, another number, a detail lost or added. Small
   wording that the change makes necessary ("then", "first", a comma) does not count. Some pairs
   are two unrelated captions, as a control; you are not asked this about them.
5. *Told apart by watching the clip* is the heart of it. Answer Yes only if the clip shows
   **which of the two captions is right**. Answer No if both fit, if neither fits, or if the
   difference cannot be seen (too small, too fast, hidden, or about what the person thinks).
6. For pairs about one action you are also asked whether the two actions are *distinct and
   exclusive*: nobody could be doing both at once, and nobody would mix them up. Walking and
   running are; running and jogging are not.
7. You judge the captions, not the animation. Shaking feet or stiff hands do not matter unless
   they hide what you need to see.
8. *Confidence* is about your answers on this clip: 1 is a guess, 5 is certain. There is no
   good number; say what is true.
9. Write a comment when the form does not say what is wrong. It is optional.
10. Work alone. Do not ask colleagues about a clip: your independent answer is what counts.

Your answers are saved as you go. You can stop at any time and come back by the same link.
"""

_EXAMPLES = (
    WorkedExample(
        title="A fair pair: every answer is Yes",
        body=(
            "*A: a person raises their left arm and waves.*  \n"
            "*B: a person raises their right arm and waves.*  \n"
            "The clip shows one arm going up. Both captions are plain English. Only the side "
            "changed. The clip shows which arm it is, so one caption is right and the other is "
            "wrong. **Fluent: Yes. Only that changed: Yes. Told apart: Yes.**"
        ),
    ),
    WorkedExample(
        title="Cannot be told apart: the last answer is No",
        body=(
            "*A: someone walks in a circle and swings both arms, left and right.*  \n"
            "*B: someone walks in a circle and swings both arms, right and left.*  \n"
            "Both captions are fluent and only left and right changed places, but both describe "
            "the same motion. Nothing in the clip can favour one. **Fluent: Yes. Only that "
            "changed: Yes. Told apart: No.**"
        ),
    ),
    WorkedExample(
        title="More than one thing changed: the middle answer is No",
        body=(
            "*A: a man walks forward, then sits down on a chair.*  \n"
            "*B: a man sits down, then walks forward quickly.*  \n"
            "The order of the events should be the only change, but *on a chair* was lost and "
            "*quickly* was added. Both captions are fluent, and the clip does show which event "
            "comes first. **Fluent: Yes. Only that changed: No. Told apart: Yes.**"
        ),
    ),
    WorkedExample(
        title="One action changed, to another word for it: the last two answers are No",
        body=(
            "*A: a person walks across the room.*  \n"
            "*B: a person strolls across the room.*  \n"
            "One word changed, but whoever strolls also walks, and the clip favours neither. "
            "**Fluent: Yes. Only that changed: Yes. Told apart: No. Distinct and exclusive: No.**"
        ),
    ),
)

STRIDE_AUDIT = Protocol(
    name="stride_audit",
    version=1,
    title="Caption pairs",
    paper="STRIDE, 2.2 and A.1",
    benchmark="stride",
    shows=("video", "captions"),
    allows_3d=True,
    guidelines=_GUIDELINES,
    examples=_EXAMPLES,
    questions=(
        Question(
            name="fluent",
            text="Are both captions fluent English?",
            help="Plain or short is fine. No for broken grammar or words that do not go together.",
            kind="choice",
            options=_YES_NO,
        ),
        Question(
            name="single_change",
            text="Do the captions differ only in {target}?",
            help="No if anything else changed as well, or a detail was lost or added.",
            kind="choice",
            options=_YES_NO,
            # A Random Content reference replaces the whole caption (STRIDE 2.1).
            shown_when=Condition(stratum="axis", values=STRUCTURAL_AXES),
        ),
        Question(
            name="distinguishable",
            text="Can the two captions be told apart by watching the clip?",
            help="Yes only if the clip shows which of the two is right.",
            kind="choice",
            options=_YES_NO,
        ),
        Question(
            name="exclusive",
            text="Are the two actions distinct and mutually exclusive?",
            help="Nobody could be doing both at once, and nobody would mix them up.",
            kind="choice",
            options=_YES_NO,
            shown_when=Condition(stratum="axis", values=("action_identity",)),
        ),
        Question(
            name="confidence",
            text="How sure are you of these answers?",
            kind="likert",
            options=(
                Option(value="1", text="A guess"),
                Option(value="2", text="Unsure"),
                Option(value="3", text="Fairly sure"),
                Option(value="4", text="Sure"),
                Option(value="5", text="Certain"),
            ),
            level="ordinal",
        ),
        Question(
            name="comment",
            text="Anything the form does not say?",
            kind="text",
            required=False,
            agreement=False,
        ),
    ),
    checks=("fluent", "single_change", "distinguishable", "exclusive"),
    decision="checks_majority",
    ratings_per_item=3,
)
"""Are the pair's captions fluent, one property apart, and told apart by the motion?"""
