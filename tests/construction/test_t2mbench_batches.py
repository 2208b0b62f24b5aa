"""T2MBench's rounds of expansion through batch files: no endpoint is there, nothing is sent."""

from __future__ import annotations

import json

import pytest

from construction.batches import Batches
from construction.stages import Stages
from construction.t2mbench.book import Cell
from construction.t2mbench.prompts import draft_prompts
from llm.budget import Budget
from llm.cache import ResponseCache
from tests.construction.test_t2mbench_prompts import asked_count, good
from tests.llm.server import completion, user_text
from tests.llm.world import model

NOWHERE = "http://127.0.0.1:9/v1"
SIX = [Cell("dance", "short", 6)]
BROKEN = "A person dances beautifully with the left arm."


class Service:
    """Answers the lines of batch files by ``answers``, in order; what they run out of is good."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.made = 0
        self.asked = []

    def __call__(self, folder):
        lines = []
        for file in sorted(folder.rglob("batch-*.jsonl")):
            for line in file.read_text("utf-8").splitlines():
                asked = json.loads(line)
                self.asked.append(user_text(asked["body"]))
                reply = self._reply(asked["body"])
                if reply is not None:
                    came = {"status_code": 200, "body": reply.body}
                    lines.append(json.dumps({"custom_id": asked["custom_id"], "response": came}))
        back = folder / "answers.jsonl"
        back.write_text("\n".join(lines), encoding="utf-8")
        return back

    def _reply(self, body):
        what = self.answers.pop(0) if self.answers else "good"
        if what == "absent":
            return None
        if what == "refused":
            return completion(None, refusal="no")
        if what == "invalid":
            return completion("no JSON at all")
        texts = [good(self.made + k) for k in range(asked_count(body))]
        self.made += len(texts)
        return completion(
            json.dumps({"prompts": [*texts[:-1], BROKEN] if what == "broken" else texts})
        )


def run(cache, out=None, answers=(), rounds=3):
    """Draft with batch files; return the draft, the lines written and the stages."""
    stages = Stages(
        {"expand": model(NOWHERE, ResponseCache(cache))},
        budget=Budget(calls=0),
        batches=Batches(out, answers),
    )
    found = draft_prompts(SIX, 0, stages, per_call=2, rounds=rounds)
    return found, stages.batches.lines, stages


@pytest.mark.parametrize("given", ["all files", "the last file"])
def test_what_a_round_leaves_short_goes_out_in_the_next(tmp_path, given):
    service = Service("good", "refused", "broken", "invalid")
    files, written = [], []
    for number in range(4):
        _, lines, _ = run(tmp_path / "c", tmp_path / str(number), files)
        written.append(lines)
        if lines:
            back = service(tmp_path / str(number))
            files = [*files, back] if given == "all files" else [back]
    # 3 questions for 6 prompts; 3 are kept; 2 questions bring 1; 1 brings the last 2.
    assert written == [3, 2, 1, 0]
    assert "beautifully" not in service.asked[2]
    # The second round is told what the first got wrong.
    assert service.asked[3] != service.asked[0]
    found, _, stages = run(tmp_path / "c", answers=files if given == "all files" else ())
    assert len(found.items) == 6
    use = stages.uses()["expand"]
    assert (use.calls, use.coverage.asked, use.coverage.usable) == (0, 6, 4)
    codes = sorted(refusal.code for refusal in found.rejected)
    lost = ["invalid", "refused"] if given == "all files" else ["error", "error"]
    assert codes == [*lost, "vague_word"]
    assert found.notes == []


def test_the_limit_of_rounds_ends_it_and_the_shortfall_is_seen(tmp_path):
    service = Service("good", "refused", "good")
    back = []
    for number, wanted in enumerate((3, 0)):
        _, lines, _ = run(tmp_path / "c", tmp_path / str(number), back, rounds=1)
        assert lines == wanted
        back = [service(tmp_path / str(number))] if lines else back
    found, _, stages = run(tmp_path / "c", answers=back, rounds=1)
    assert len(found.items) == 4
    assert stages.uses()["expand"].calls == 0


def test_a_question_that_the_service_left_out_goes_out_again_before_the_next_round(tmp_path):
    service = Service("good", "absent", "good")
    _, lines, _ = run(tmp_path / "c", tmp_path / "0")
    back = service(tmp_path / "0")
    _, again, _ = run(tmp_path / "c", tmp_path / "1", [back])
    service(tmp_path / "1")
    assert (lines, again) == (3, 1)
    assert service.asked[3] == service.asked[1]
