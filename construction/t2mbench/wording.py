"""What a language model is told of each category."""

from __future__ import annotations

ABOUT: dict[str, str] = {
    "dance": "dance technique, ballet to street dance, told by what the limbs do.",
    "explosive": "quick motion with force: jumps, sprints, throws, pushes.",
    "martial_arts": "strikes, kicks, blocks and stances of martial arts, limb by limb.",
    "multi_stage": "several stages in a fixed order, joined by words of order (then, finally).",
    "asymmetric": "left and right side of the body do different things at the same time.",
    "balance": "keeping balance on one leg, on the toes or heel to toe; say what bears the weight.",
    "intent": (
        "motion with a purpose that can be seen, such as greeting, refusing, dodging, pointing; "
        "say what the limbs do and what it is for (to greet someone)."
    ),
    "invisible_object": (
        "handling a thing that is not there; call it invisible and say how the limbs lift, push, "
        "pull, throw or hold it."
    ),
    "numerical": "motion with a number: repetitions, steps or seconds.",
    "whole_body": (
        "one displacement in meters, one speed in meters per second or one turn in degrees of the "
        "whole body, with its direction."
    ),
    "body_part": (
        "where one part of the body is held from another, in cm, in one direction (in front of, "
        "behind, above, below, to the left of, to the right of)."
    ),
}
"""What a category is, in words (ours; the paper names the categories only)."""
