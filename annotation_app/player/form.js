// The form: draws the questions of any protocol from data, and takes answers by mouse or key.
// Everything that comes from the study is set with textContent, never as markup.

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// Whether the answers are the numbers themselves, more than there are digits to choose by place.
function numeric(question) {
  return question.options?.length > 9 && question.options.every((o) => /^[0-9]+$/.test(o.text));
}

class AnswerForm {
  constructor(root, onChange) {
    this.root = root;
    this.box = root.querySelector(".questions");
    this.onChange = onChange;
    this.questions = [];
    this.answers = {};
    this.rows = new Map();
    this.active = null;
    this.locked = false;
    this.typed = null; // the score whose next digit may come
  }

  load(questions, answers, forced = []) {
    this.questions = questions;
    this.forced = forced;
    this.answers = structuredClone(answers ?? {});
    this.rows.clear();
    this.box.replaceChildren();
    for (const question of questions) this.box.append(this.draw(question));
    this.locked = false;
    this.force();
    this.refresh();
    this.activateOpen();
  }

  draw(question) {
    const scale = numeric(question);
    const row = make("div", `question ${question.kind}${scale ? " scale" : ""}`);
    row.dataset.name = question.name;
    row.setAttribute("role", "group");
    const label = `q-${question.name}`;
    row.setAttribute("aria-labelledby", label);
    const words = make("div", "words");
    const title = make("p", "text", question.text);
    title.id = label;
    if (!question.required) title.append(make("span", "optional", ` ${t("optional")}`));
    words.append(title);
    if (question.help) words.append(make("p", "help", question.help));
    const because = make("p", "because");
    because.setAttribute("role", "status");
    because.hidden = true;
    words.append(because);
    const outcome = make("p", "outcome");
    outcome.hidden = true;
    words.append(outcome);
    row.append(words);
    row.addEventListener("pointerdown", () => this.activate(question.name));
    row.addEventListener("focusin", () => this.activate(question.name));
    if (question.kind === "text") {
      const area = make("textarea");
      area.rows = 1;
      area.maxLength = 2000;
      area.setAttribute("aria-labelledby", label);
      area.value = this.answers[question.name] ?? "";
      area.addEventListener("input", () => {
        this.answers[question.name] = area.value;
        this.onChange(true);
      });
      row.append(area);
    } else {
      const options = make("div", "options");
      question.options.forEach((option, index) => {
        const button = make("button", "option");
        button.type = "button";
        button.dataset.value = option.value;
        if (option.help) button.title = option.help;
        if (index < 9 && !scale) button.append(make("kbd", "", String(index + 1)));
        button.append(make("span", "", option.text));
        // The page keeps the keyboard: a click must not park the focus on a button.
        button.addEventListener("pointerdown", (event) => event.preventDefault());
        button.addEventListener("mousedown", (event) => event.preventDefault());
        button.addEventListener("click", () => this.choose(question, option.value));
        options.append(this.explained(question, option, button));
      });
      row.append(options);
      // On a scale of scores the line below the question says it.
      if (question.kind !== "multi" && !scale && question.options.some((o) => o.help)) {
        words.append(this.meanings(question));
      }
    }
    this.rows.set(question.name, row);
    return row;
  }

  // Where several may be ticked, what each means stands beside it.
  explained(question, option, button) {
    if (question.kind !== "multi" || !option.help) return button;
    const line = make("div", "explained");
    const meaning = make("p", "meaning", option.help);
    meaning.id = `m-${question.name}-${option.value}`;
    button.setAttribute("aria-describedby", meaning.id);
    line.append(button, meaning);
    return line;
  }

  // What the answers mean, behind a line that opens by mouse or with Tab and Enter.
  meanings(question) {
    const box = make("details", "meanings");
    box.append(make("summary", "", t("meanings")));
    const list = make("dl");
    for (const { text, help } of question.options) {
      if (help) list.append(make("dt", "", text), make("dd", "", help));
    }
    box.append(list);
    return box;
  }

  choose(question, value, stay = false) {
    if (this.locked) return;
    this.typed = null;
    this.active = question.name;
    const rule = this.rule(question.name);
    if (rule && value !== rule.must_be) return this.told(question.name, rule.message);
    if (question.kind === "multi") {
      const now = new Set(this.answers[question.name] ?? []);
      if (!now.delete(value)) now.add(value);
      this.answers[question.name] = question.options.map((o) => o.value).filter((v) => now.has(v));
    } else if (this.answers[question.name] === value && !question.required) {
      delete this.answers[question.name];
    } else {
      this.answers[question.name] = value;
      if (!stay) this.advance();
    }
    this.rows.get(question.name).classList.remove("missing");
    this.force();
    this.refresh();
    this.onChange(false);
  }

  advance() {
    const open = this.shown().find((q) => q.required && !this.answered(q));
    if (open) this.active = open.name;
  }

  // Digits typed on a scale of numbers are the score itself; one that may grow waits for the next.
  number(question, digit) {
    const before = this.typed?.name === question.name ? this.typed.text : "";
    const has = (text) => question.options.some((o) => o.value === text);
    if (before && !has(before + digit)) {
      this.typed = null;
      this.advance();
      const next = this.questions.find((q) => q.name === this.active);
      if (next !== question && numeric(next)) return this.number(next, digit);
    }
    const text = has(before + digit) ? before + digit : digit;
    if (!has(text)) return false;
    const grows = question.options.some((o) => o.value !== text && o.value.startsWith(text));
    this.choose(question, text, grows);
    this.typed = grows ? { name: question.name, text } : null;
    return true;
  }

  // The rule whose answer leaves no choice in this question, where one is in force.
  rule(name) {
    return this.forced.find((rule) => {
      if (rule.then !== name) return false;
      const given = [this.answers[rule.question] ?? []].flat();
      return given.some((value) => rule.values.includes(value));
    });
  }

  // What the answers leave no choice in is answered so, and its line says why.
  force() {
    for (const { then } of this.forced) {
      const rule = this.rule(then);
      if (rule) this.answers[then] = rule.must_be;
      this.told(then, rule?.message ?? "");
    }
  }

  told(name, text) {
    const place = this.rows.get(name)?.querySelector(".because");
    if (!place) return;
    place.hidden = !text;
    place.textContent = text;
  }

  // Questions whose condition on another answer holds.
  shown() {
    return this.questions.filter((question) => {
      const rule = question.shown_when;
      if (!rule) return true;
      const answer = this.answers[rule.question];
      const given = Array.isArray(answer) ? answer : [answer];
      return given.some((value) => rule.values.includes(value));
    });
  }

  answered(question) {
    const answer = this.answers[question.name];
    return Array.isArray(answer) ? answer.length > 0 : Boolean(answer?.trim());
  }

  // What is sent: answers of the questions that are shown.
  value() {
    const names = this.shown().filter((q) => this.answered(q)).map((q) => q.name);
    return Object.fromEntries(names.map((name) => [name, this.answers[name]]));
  }

  missing() {
    return this.shown().filter((q) => q.required && !this.answered(q));
  }

  mark(names) {
    for (const [name, row] of this.rows) row.classList.toggle("missing", names.includes(name));
    if (names.length) this.activate(names[0]);
  }

  refresh() {
    const shown = new Set(this.shown().map((q) => q.name));
    for (const question of this.questions) {
      const row = this.rows.get(question.name);
      row.hidden = !shown.has(question.name);
      const answer = this.answers[question.name];
      for (const button of row.querySelectorAll(".option")) {
        const value = button.dataset.value;
        const on = Array.isArray(answer) ? answer.includes(value) : answer === value;
        button.setAttribute("aria-pressed", String(on));
      }
    }
    if (!shown.has(this.active)) this.active = this.shown()[0]?.name ?? null;
    this.activate(this.active);
  }

  activate(name) {
    if (!name) return;
    if (this.typed && this.typed.name !== name) this.typed = null;
    this.active = name;
    for (const [key, row] of this.rows) row.classList.toggle("active", key === name);
  }

  // The next question that must be answered, or the first: never one that takes no keys.
  activateOpen() {
    this.activate((this.missing()[0] ?? this.shown()[0])?.name);
  }

  lock(on) {
    this.locked = on;
    for (const node of this.box.querySelectorAll("button, textarea")) node.disabled = on;
  }

  feedback(perQuestion) {
    for (const [name, row] of this.rows) {
      const told = perQuestion[name];
      const place = row.querySelector(".outcome");
      place.hidden = !told;
      row.classList.remove("right", "wrong");
      if (!told) continue;
      row.classList.add(told.right ? "right" : "wrong");
      place.textContent = `${told.right ? "✓" : "✗"} ${t(told.right ? "right" : "wrong")} ${told.explanation}`;
    }
  }

  // Returns whether the key was the form's.
  key(event) {
    if (this.locked) return false;
    const shown = this.shown();
    const at = shown.findIndex((q) => q.name === this.active);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const to = shown[at + (event.key === "ArrowDown" ? 1 : -1)];
      if (to) this.activate(to.name);
      return true;
    }
    if (event.key === "t") {
      const text = shown.find((q) => q.kind === "text");
      if (!text) return false;
      this.rows.get(text.name).querySelector("textarea").focus();
      return true;
    }
    const question = shown[at];
    if (!question || question.kind === "text") return false;
    if (numeric(question) && /^[0-9]$/.test(event.key)) return this.number(question, event.key);
    const option = /^[1-9]$/.test(event.key)
      ? question.options[Number(event.key) - 1]
      : question.options.find((o) => this.letter(o) === event.key.toLowerCase());
    if (!option) return false;
    this.choose(question, option.value);
    return true;
  }

  letter(option) {
    const value = option.value.toLowerCase();
    const letter = { yes: "y", no: "n", unsure: "u" }[value] ?? value;
    return /^[a-z]$/.test(letter) && !"rcstgbvxhjklz".includes(letter) ? letter : null;
  }
}
