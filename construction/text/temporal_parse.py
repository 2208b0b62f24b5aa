"""Which constructions put events in an order, and where their events stand."""

from __future__ import annotations

from construction.text.events import (
    Plan,
    Slot,
    Unparsed,
    check_head,
    check_nouns,
    finite_tags,
    head_at,
    listed,
    noun_openings,
    pick_tag,
    same_subject,
    subject_end,
)
from construction.text.morphology import Tag
from construction.text.tables import words
from construction.text.tokens import Token

_FINITE: tuple[Tag, ...] = ("VBZ", "VBD", "VB", "VBG")
_STOPS = frozenset({".", "!", "?", ";"})
_BE = frozenset({"is", "was", "are", "were"})
_BOUNDARY = _STOPS | {",", "and"}
_END = frozenset({"end"})


class Parser:
    """Reads one caption into a plan; every failure is an ``Unparsed`` with a reason."""

    def __init__(self, tokens: list[Token]) -> None:
        """Keep the tokens; the closing full stop is not read."""
        end = len(tokens)
        while end and tokens[end - 1].low in _STOPS | {","}:
            end -= 1
        self.tokens = tokens
        self.end = end
        self.low = [t.low for t in tokens]
        self.subject: tuple[int, int] | None = None
        self.slots: list[Slot] = []
        self.names: list[str] = []
        self.progressive = False

    def word(self, i: int) -> str:
        """Return the lower-case word at i, or '' outside the caption."""
        return self.low[i] if 0 <= i < self.end else ""

    def parse(self) -> Plan:
        """Read the caption.

        Raises:
            Unparsed: No construction of the grammar fits.
        """
        i = self._openings(0)
        if self.word(i) in {"after", "before", "having", "once"}:
            return self._fronted(i)
        i = self._subject(i)
        if self.word(i) == "," and self._gerund(i + 1):
            raise Unparsed("unparsed", "an -ing form between the subject and its verb")
        i = self._openings(i)
        i, tags = self._lead(i)
        self._events(i, tags)
        return self._finish()

    @property
    def _nominal(self) -> bool:
        """Whether the events are told by nouns: "starts with a jump and ends with a bow"."""
        return self.names[:1] == ["starts with"]

    def _finish(self) -> Plan:
        names = [n for n in self.names if n]
        if len(self.slots) < 2:
            raise Unparsed("single_event", "one event only")
        if "after" in names and len(self.slots) != 2:
            raise Unparsed("unparsed", "'after' beside other connectives")
        if {"after", "before"} & set(names) and "comma list" in names:
            raise Unparsed("unparsed", "'before' or 'after' inside a list of events")
        stray = listed("stray") | listed("sequence")
        edges = listed("start_nouns") | _END
        for slot in self.slots:
            found = next((w for w in self.low[slot.start : slot.end] if w in stray), None)
            if not found and any(self._edge(j, edges) for j in range(slot.start, slot.end)):
                found = "at the end"
            if found:
                raise Unparsed("unparsed", f"'{found}' inside an event")
        return Plan(tuple(self.slots), " / ".join(names))

    def _openings(self, i: int) -> int:
        if self._edge(i, listed("start_nouns")):
            i += 3
        elif (self.word(i), self.word(i + 1)) == ("at", "first"):
            i += 2
        while self.word(i) in listed("openings") or (i and self.word(i) == ","):
            i += 1
        return i

    def _edge(self, i: int, nouns: frozenset[str]) -> bool:
        """Whether "at the start", "in the end" stands at i, and not of something."""
        begins = self.word(i) in {"at", "in"} and self.word(i + 1) == "the"
        return begins and self.word(i + 2) in nouns and self.word(i + 3) != "of"

    def _subject(self, i: int) -> int:
        """Skip a subject; the caption may also begin with the verb itself."""
        if head_at(self.tokens, i, self.end) is not None and subject_end(self.tokens, i) is None:
            return i
        after = subject_end(self.tokens, i)
        if after is None:
            raise Unparsed("unparsed", "no subject that the rules know")
        if self.subject is None:
            self.subject = (i, after)
        elif not same_subject(self.tokens, self.subject, (i, after)):
            raise Unparsed("two_actors", "the events have different subjects")
        return after

    def _lead(self, i: int) -> tuple[int, tuple[Tag, ...]]:
        """Skip "is", "starts by", "appears to be" before the first event."""
        if self.word(i) in listed("begin"):
            j = i + 1 + (self.word(i + 1) in {"off", "out"})
            if self.word(j) in {"by", "with"} and self._gerund(j + 1):
                self.names.append("starts by")
                return j + 1, ("VBG",)
            if self.word(j) == "with" and self.word(j + 1) in noun_openings():
                self.names.append("starts with")
                return j + 1, ()
        if self.word(i) in _BE and self._gerund(i + 1):
            self.progressive = True
            later = [j for j in range(i + 2, self.end) if self._core(j)]
            starts = [self._past_be(self._core_end(j)) for j in later]
            if starts and all(self._gerund(j) for j in starts):
                return i + 1, ("VBG",)
            raise Unparsed("unparsed", "progressive and simple forms together")
        return i, _FINITE

    def _past_be(self, i: int) -> int:
        """Skip a repeated "is" of the progressive, with its subject: "and then he is waving"."""
        if not self.progressive:
            return i
        after = subject_end(self.tokens, i) or i
        return after + 1 if self.word(after) in _BE and self._gerund(after + 1) else i

    def _gerund(self, i: int) -> bool:
        head = head_at(self.tokens, i, self.end) if i < self.end else None
        return head is not None and pick_tag(self.low[head], ("VBG",)) is not None

    def _core(self, i: int) -> bool:
        """Whether a word at i puts what follows later in time."""
        word = self.word(i)
        if word in listed("sequence"):
            return self.word(i - 1) not in listed("false_then_before")
        if word in listed("ordinals"):
            return self._counts_events(i)
        if word in {"at", "in"}:
            return self.word(i - 1) in _BOUNDARY and self._edge(i, _END)
        return word == "after" and self.word(i + 1) in {"that", "which"}

    def _counts_events(self, i: int) -> bool:
        """Whether "second" counts events: "first he waves, second he claps"."""
        k = i + 1 + (self.word(i + 1) == ",")
        if self.word(i - 1) not in {",", ";", ".", "and"}:
            return False
        told = self.word(k) in listed("pronouns") or bool(finite_tags(self.word(k)) - {"VB"})
        return told or (k > i + 1 and subject_end(self.tokens, k) is not None)

    def _core_end(self, i: int) -> int:
        i += {"after": 2, "at": 3, "in": 3}.get(self.word(i), 1)
        while self.word(i) in listed("sequence") | {","}:
            i += 1
        return i

    def _joint(self, i: int) -> tuple[int, str, tuple[Tag, ...]] | None:
        """Recognise a connective from token i on: (first token of the event, name, tags)."""
        j = i
        marks = ""
        while self.word(j) in _STOPS | {","}:
            marks += self.word(j)
            j += 1
        conj = self.word(j) in {"and", "but"}
        j += conj
        while conj and self.word(j) == ",":
            j += 1
        new_sentence = any(m in _STOPS for m in marks)
        if new_sentence:
            after = subject_end(self.tokens, j)
            if after is not None and self._core(after):
                self._subject(j)
                return self._core_end(after), "then", _FINITE
        if (marks or conj) and self.progressive and self.word(j) in _BE and self._core(j + 1):
            return self._core_end(j + 1), "then", ("VBG",)
        if self._core(j):
            k = self._skip_subject(self._core_end(j))
            k += self.progressive and self.word(k) in _BE and self._gerund(k + 1)
            if self.word(k) in listed("end") and self._end_phrase(k):
                return self._end_phrase(k), "ends by", ("VBG",)
            k += self.word(k) in listed("sequence")
            return k, "then", _FINITE
        if (marks or conj) and self.word(j) in listed("end") and self._end_phrase(j):
            return self._end_phrase(j), "ends by", ("VBG",)
        if conj and (
            self._says_when(j) or (self.word(j) in listed("nearness") and self._says_when(j + 1))
        ):
            raise Unparsed("unparsed", "'and' in front of 'before' or 'after'")
        if self._says_when(j):
            return self._before_after(j)
        if self.word(j) in listed("nearness") and self._says_when(j + 1):
            if self.word(j) == "right":
                raise Unparsed("unparsed", f"'right {self.word(j + 1)}': a side, or at once")
            return self._before_after(j + 1)
        if (self.word(j), self.word(j + 1)) == ("followed", "by"):
            return j + 2, "followed by", ("VBG",)
        if new_sentence:
            raise Unparsed("implicit_order", "sentences side by side without a word for order")
        return self._list_joint(i, j, marks, conj)

    def _list_joint(
        self, i: int, j: int, marks: str, conj: bool
    ) -> tuple[int, str, tuple[Tag, ...]] | None:
        """Recognise the joints of "walks, turns, and sits"."""
        head = head_at(self.tokens, j, self.end) if marks or conj else None
        after = subject_end(self.tokens, j) if marks and head is None else None
        if after is not None and head_at(self.tokens, after, self.end) is not None:
            # "he looks left, he looks right": one event more, of the same person
            self._subject(j)
            j, head = after, head_at(self.tokens, after, self.end)
        if head is None or not self.slots:
            return None
        tag = self.slots[0].tag
        if tag is None or pick_tag(self.low[head], (tag,)) is None:
            if marks and pick_tag(self.low[head], ("VBG",)) and tag != "VBG":
                raise Unparsed("simultaneous", "an -ing form beside the main verb")
            return None
        if marks:
            return j, "comma list", (tag,)
        listed_before = "comma list" in self.names and self.names[-1] in {"", "comma list"}
        last = not any(self._core(k) for k in range(i, self.end))
        return (j, "comma list", (tag,)) if listed_before and last else None

    def _skip_subject(self, i: int) -> int:
        """Skip a repeated subject after a connective."""
        after = subject_end(self.tokens, i)
        verb_here = head_at(self.tokens, i, self.end) is not None
        if after is None or (verb_here and finite_tags(self.word(i))):
            return i
        if self.subject is None or not same_subject(self.tokens, self.subject, (i, after)):
            raise Unparsed("two_actors", "the events may have different subjects")
        return after

    def _end_phrase(self, i: int) -> int:
        """Return the token after "ends by", "finishes with", "ends up"; 0 when it is none."""
        j = i + 1 + (self.word(i + 1) in {"off", "up"})
        j += self.word(j) in {"by", "with"}
        if self._nominal:
            return j if self.word(j - 1) == "with" and self.word(j) in noun_openings() else 0
        return j if j > i + 1 and self._gerund(j) else 0

    def _says_when(self, j: int) -> bool:
        """Whether "before", "after" or "prior to" stands at j."""
        before = (self.word(j), self.word(j + 1)) == ("prior", "to")
        return before or self.word(j) in {"before", "after"}

    def _before_after(self, j: int) -> tuple[int, str, tuple[Tag, ...]] | None:
        name = self.word(j)
        if self.word(j - 1) in listed("spans"):
            raise Unparsed("unparsed", f"'{self.word(j - 1)} {name}': a measured distance in time")
        k = j + (2 if name == "prior" else 1)
        name = "before" if name == "prior" else name
        k += self.word(k) == "finally"
        if self._gerund(k):
            return k, name, ("VBG",)
        after = subject_end(self.tokens, k)
        if after is not None and head_at(self.tokens, after, self.end) is not None:
            k = self._skip_subject(k)
            return k, name, ("VBZ", "VBD", "VB")
        return None

    def _events(self, i: int, tags: tuple[Tag, ...]) -> None:
        """Read events and connectives to the end of the caption."""
        name = ""
        while True:
            begin = i
            head = head_at(self.tokens, begin, self.end)
            i = max(begin + 1, (head or begin) + 1)
            self.slots.append(Slot(begin, self.end, head if head is not None else begin, "", None))
            if head is not None:
                self._set_head(head, tags, begin)
            found = None
            while i < self.end:
                found = self._joint(i)
                if found:
                    break
                i += 1
            last = self.slots[-1]
            self.slots[-1] = Slot(begin, min(i, self.end), last.head, last.lemma, last.tag)
            if begin >= self.end:
                raise Unparsed("unparsed", "a connective without an event")
            self._check_event(name)
            if not found:
                return
            i, name, tags = found
            self.names.append(name)

    def _set_head(self, head: int, tags: tuple[Tag, ...], begin: int) -> None:
        first = next((s.tag for s in self.slots[:-1] if s.tag), None)
        if tags == _FINITE and first in {"VBD", "VBG"}:
            tags = (first, *_FINITE)
        reading = pick_tag(self.low[head], tags)
        if reading is None:
            raise Unparsed(
                "unparsed", f"'{self.tokens[head].text}' does not fit after its connective"
            )
        if reading.tag == "VB" and not self._plural():
            raise Unparsed("unparsed", f"'{self.tokens[head].text}' is perhaps no verb here")
        self.slots[-1] = Slot(begin, self.end, head, reading.lemma, reading.tag)

    def _plural(self) -> bool:
        plural = words("verb_use", "plural_subjects")
        subject = self.subject and self.low[self.subject[1] - 1] in plural
        return bool(subject) or "they" in self.low or self.subject is None

    def _check_event(self, name: str) -> None:
        slot = self.slots[-1]
        check_head(self.tokens, slot)
        if self._nominal:
            check_nouns(self.tokens, slot)
            return
        if slot.lemma or name == "followed by":
            return
        first = self.low[slot.start]
        direction = first in listed("directions") or first in {"to", "in", "on", "toward", "with"}
        direction = direction or first in noun_openings()
        if len(self.slots) == 1 or not direction:
            raise Unparsed("unparsed", f"no verb that the rules know at '{first}'")

    def _main_subject(self, i: int) -> int:
        """Skip the subject after a fronted part; either of the two may be a pronoun."""
        after = subject_end(self.tokens, i)
        if after is None:
            raise Unparsed("unparsed", "no subject after the comma")
        known = self.subject
        found = (i, after)
        if known is not None:
            alike = same_subject(self.tokens, known, found) or same_subject(
                self.tokens, found, known
            )
            if not alike:
                raise Unparsed("two_actors", "the events may have different subjects")
        self.subject = found
        return after

    def _fronted(self, i: int) -> Plan:
        """Read "after kicking, the man spins" and "having kicked, the man spins"."""
        name = self.word(i)
        k = i + 1
        if name == "having" or (name == "after" and self.word(k) == "having"):
            k += name == "after"
            self.names.append("having")
        if (
            name == "after"
            and not self.names
            and not self._gerund(k)
            and subject_end(self.tokens, k) is None
        ):
            raise Unparsed("false_connective", "'after' names no event here")
        comma = next((j for j in range(k, self.end) if self.low[j] == ","), None)
        if comma is None:
            raise Unparsed("unparsed", f"no comma ends the part that begins with '{name}'")
        if name == "once" and self._gerund(k):
            raise Unparsed("unparsed", "'once' without a subject")
        tags: tuple[Tag, ...] = ("VBN",) if self.names else ("VBG",)
        if not self.names and not self._gerund(k):
            after = subject_end(self.tokens, k)
            if after is None:
                raise Unparsed("false_connective", f"'{name}' names no event here")
            self.subject = (k, after)
            k, tags = after, ("VBZ", "VBD", "VB")
        head = head_at(self.tokens, k, comma)
        reading = pick_tag(self.low[head], tags) if head is not None else None
        if head is None or reading is None:
            raise Unparsed("unparsed", f"no verb that the rules know after '{name}'")
        self.slots.append(Slot(k, comma, head, reading.lemma, reading.tag))
        check_head(self.tokens, self.slots[-1])
        j = self._main_subject(comma + 1)
        self.names.append(f"{name} (fronted)")
        self._events(j, _FINITE)
        if name == "before" and len(self.slots) != 2:
            raise Unparsed("unparsed", "'before' in front of several events")
        return self._finish()
