// The labelling page: one key handler, autosave, submit, and the next clip loaded beforehand.
// Saves go to the app's own routes, so that each has an answer of its own and can be retried.

const RETRY_MS = 2000;
const TYPING_MS = 400;

// Whether the same request may be taken later, so that the page keeps its content and tries again.
function passing(answer) {
  return [0, 401].includes(answer.status) || answer.status >= 500;
}

class Desk {
  constructor(root) {
    this.root = root;
    this.find = (selector) => root.querySelector(selector);
    this.player = new ClipPlayer(root);
    this.space = new ClipView3D(root, this.player);
    this.form = new AnswerForm(root, (typing) => this.changed(typing));
    this.watch = new Stopwatch();
    this.state = null;
    this.finished = new Set(); // tasks submitted here
    this.left = false; // nothing to do here; what comes next is the script's to say
    this.phase = "answer"; // answer | sending | feedback | stopped
    // The second click of a double click was meant for what stood there before.
    this.find(".submit").addEventListener("click", (event) => {
      if (event.detail < 2) this.act();
    });
    this.find(".submit").addEventListener("mousedown", (event) => event.preventDefault());
    this.find(".back-to").addEventListener("click", () => this.turnBack());
    this.find(".guide").addEventListener("click", () => this.guide());
    this.find(".exit").addEventListener("click", (event) => {
      if (this.state?.task.kind !== "preview") return;
      event.preventDefault();
      this.leave();
    });
    this.find(".sheet").addEventListener("click", () => this.find("dialog.keys").showModal());
    this.find(".close").addEventListener("click", () => this.find("dialog.keys").close());
    this.find(".notice button").addEventListener("click", () => location.reload());
    this.onKey = (event) => this.key(event);
    this.onVisibility = () => {
      this.watch.visibility();
      this.space.visibility();
      // The last chance before the tab goes away: the request outlives it.
      if (document.visibilityState === "hidden") this.save();
    };
  }

  attach(triggers) {
    this.triggers = triggers;
    document.addEventListener("keydown", this.onKey, true);
    document.addEventListener("visibilitychange", this.onVisibility);
  }

  detach() {
    document.removeEventListener("keydown", this.onKey, true);
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.player.video?.pause();
    // After a rerun the page is still there; only one that is gone gives its canvas back.
    setTimeout(() => { if (!this.root.isConnected) this.space.dispose(); });
  }

  // Called on every rerun of the Streamlit script. What the page holds is newer, until it has
  // nothing left to do or a coordinator looks at another item; what was sent must not come back.
  offer(state) {
    const { id, kind } = state.task ?? {};
    if (this.state?.study.id === state.study.id) {
      if (this.finished.has(id) && kind !== "revision") return;
      if (!this.left && (kind !== "preview" || this.state.task.id === id)) return;
    }
    this.show(state);
  }

  show(state) {
    const { task } = state;
    if (!task) return this.leave();
    this.state = state;
    this.left = false;
    this.root.setAttribute("aria-busy", "false");
    this.drawBar();
    this.notice(null);
    this.phase = "answer";
    this.submission = randomId();
    this.version = task.version;
    this.dirty = false;
    this.saving = null;
    this.watch.start(task.activity?.seconds ?? 0);
    this.player.load(task.clip, task.activity);
    this.player.preload(state.preload);
    this.space.load(state.view3d, task.clip, task.activity);
    this.drawStimulus(task);
    this.form.load(task.questions, task.answers, task.forced);
    this.saved(task.kind === "work" && Object.keys(task.answers).length ? t("restored") : "");
    this.say("");
    this.button();
    this.find(".ask").scrollTop = 0;
  }

  drawBar() {
    const { study, task, progress } = this.state;
    this.find(".study").textContent = study.title;
    const training = task.kind === "training";
    const revision = task.kind === "revision";
    const at = Math.min(progress.done + 1, progress.total);
    const preview = task.kind === "preview";
    const exit = this.find(".exit");
    exit.textContent = t(preview ? "preview_leave" : "leave");
    exit.title = preview ? "" : t("leave_title");
    this.find(".count").textContent = revision || preview
      ? t(preview ? "preview" : "changing")
      : t(training ? "training_of" : "item_of", { at, total: progress.total });
    const back = this.find(".back-to");
    back.hidden = !(revision || (task.kind === "work" && progress.done > 0));
    back.querySelector("span").textContent = t(revision ? "leave_as_is" : "change_previous");
    const bar = this.find("progress");
    bar.hidden = revision || preview;
    bar.max = Math.max(progress.total, 1);
    bar.value = progress.done;
    const left = progress.minutes;
    this.find(".left").textContent =
      left === null || training || preview ? "" : t(left < 1 ? "under_a_minute" : "minutes_left", { n: left });
  }

  drawStimulus(task) {
    const swatches = this.state.legend.map(({ text, colour }) => {
      const entry = make("li", "", text);
      entry.style.setProperty("--swatch", colour);
      return entry;
    });
    this.find(".legend").replaceChildren(...swatches);
    const lead = this.find(".lead");
    lead.textContent = task.lead;
    lead.hidden = !task.lead;
    const prompt = this.find(".prompt");
    prompt.textContent = task.prompt;
    prompt.hidden = !task.prompt;
    const cards = task.captions.map((caption) => {
      const card = make("div", "caption");
      card.append(make("span", "letter", caption.letter));
      const text = make("p", "", caption.text);
      text.dir = "auto";
      card.append(text);
      return card;
    });
    const options = task.options.map(({ letter, text }) => {
      const card = make("div", "caption");
      card.append(make("span", "letter", letter));
      const words = make("p", "", text);
      words.dir = "auto";
      card.append(words);
      return card;
    });
    this.find(".captions").replaceChildren(...cards, ...options);
    const facts = task.facts.flatMap(({ name, text }) => [make("dt", "", name), make("dd", "", text)]);
    this.find(".facts").replaceChildren(...facts);
    this.find(".facts").hidden = !facts.length;
    this.root.classList.toggle("no-clip", !task.clip);
  }

  say(text, kind = "") {
    const message = this.find(".message");
    message.textContent = text;
    message.className = `message ${kind}`;
  }

  saved(text, kind = "") {
    const place = this.find(".saved");
    place.textContent = text;
    place.className = `saved ${kind}`;
  }

  notice(text, action = t("reload")) {
    const notice = this.find(".notice");
    notice.hidden = !text;
    notice.querySelector("p").textContent = text ?? "";
    notice.querySelector("button").textContent = action;
    notice.querySelector("button").hidden = !action;
  }

  button() {
    const submit = this.find(".submit");
    const verbs = { training: "check", revision: "save_change", work: "submit", preview: "submit" };
    const keys = { answer: verbs[this.state.task.kind],
      sending: "sending", feedback: this.next ? "continue" : "try_again", stopped: "stopped" };
    submit.querySelector("span").textContent = t(keys[this.phase]);
    submit.disabled = this.phase === "sending" || this.phase === "stopped";
  }

  activity() {
    const seconds = Math.round(this.watch.seconds() * 10) / 10;
    return { seconds, ...this.player.activity(), ...this.space.activity() };
  }

  // --- autosave -------------------------------------------------------------------------

  changed(typing) {
    if (this.phase !== "answer") return;
    this.say("");
    if (this.state.task.kind !== "work") return;
    this.dirty = true;
    if (!this.offline) this.saved(t("saving")); // "Saved" must not stand over what is not
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), typing ? TYPING_MS : 0);
  }

  body() {
    const { id } = this.state.task;
    return { task: id, answers: this.form.value(), activity: this.activity() };
  }

  // One save at a time, so that versions go up in order; what changed meanwhile goes next.
  save() {
    if (!this.saving && this.dirty && this.phase === "answer") {
      this.saving = this.saveNow().finally(() => {
        this.saving = null;
        if (this.dirty && this.phase === "answer" && !this.offline) this.save();
      });
    }
    return this.saving;
  }

  async saveNow() {
    const { id } = this.state.task;
    this.dirty = false;
    this.saved(t("saving"));
    let answer;
    try {
      answer = await post("draft", { ...this.body(), version: this.version });
    } catch {
      answer = { ok: false, status: 0 };
    }
    if (this.state.task?.id !== id) return;
    this.offline = false;
    if (answer.ok) {
      this.version = answer.version;
      this.saved(t(this.dirty ? "saving" : "saved"));
      this.notice(null);
    } else if (passing(answer)) {
      // Signed out: the page stays as it is until the personal link was opened in another tab.
      this.notice(answer.status === 401 ? answer.error : null, "");
      this.dirty = true;
      this.retry();
    } else this.stop(answer);
  }

  // What is not saved is tried again until it is, whatever else was tried meanwhile.
  retry() {
    this.offline = true;
    this.saved(t("not_saved"), "bad");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => { this.offline = false; this.save(); }, RETRY_MS);
  }

  stop(answer) {
    this.phase = "stopped";
    this.form.lock(true);
    this.saved("");
    this.button();
    this.notice(answer.error, answer.action ?? t("reload"));
  }

  // --- submit ---------------------------------------------------------------------------

  async act() {
    if (this.phase === "feedback") return this.afterFeedback();
    if (this.phase !== "answer") return undefined;
    const missing = this.form.missing();
    if (missing.length) {
      this.form.mark(missing.map((q) => q.name));
      return this.say(many("open", missing.length), "bad");
    }
    const { task, study } = this.state;
    if (task.kind === "preview") return this.say(t("preview_note"));
    this.phase = "sending";
    this.say("");
    clearTimeout(this.timer);
    this.form.lock(true);
    this.button();
    await this.saving;
    if (this.phase !== "sending") return undefined;
    const path = { training: "training", revision: "revise", work: "submit" }[task.kind];
    const body = { ...this.body(), study: study.id, submission: this.submission };
    let answer;
    try {
      answer = await post(path, body);
    } catch {
      answer = { ok: false, status: 0 };
    }
    if (answer.ok && task.kind === "training") return this.feedback(answer);
    if (answer.ok) {
      this.finished.add(task.id);
      return this.show(answer.state);
    }
    if (answer.status === 422) {
      this.phase = "answer";
      this.form.lock(false);
      this.form.mark(Object.keys(answer.questions ?? {}));
      this.say(answer.error, "bad");
    } else if (passing(answer)) {
      // The same submission id goes again: however often it arrives, it is one label.
      this.phase = "answer";
      this.form.lock(false);
      this.say(answer.status === 401 ? answer.error : t("not_sent"), "bad");
      if (this.dirty) this.retry();
    } else return this.stop(answer);
    return this.button();
  }

  feedback(answer) {
    this.phase = "feedback";
    this.passed = answer.passed;
    this.next = answer.state;
    this.form.feedback(answer.questions);
    this.say(answer.message, answer.passed ? "good" : "bad");
    this.button();
  }

  afterFeedback() {
    // There is something next when the item is passed, and when no try at it is left.
    if (this.passed) this.finished.add(this.state.task.id);
    if (this.next) return this.show(this.next);
    this.phase = "answer";
    this.form.lock(false);
    this.form.feedback({});
    this.say("");
    return this.button();
  }

  // To the answer before, or from there on again without a change.
  async turnBack() {
    const { task, study } = this.state;
    if (this.phase !== "answer" || this.find(".back-to").hidden) return;
    await this.save();
    let answer;
    try {
      answer = await post(task.kind === "revision" ? "next" : "recall", { study: study.id });
    } catch {
      return this.say(t("no_answer"), "bad");
    }
    if (answer.ok) return this.show(answer.state);
    if (passing(answer)) return this.say(answer.error ?? t("no_answer"), "bad");
    return this.stop(answer);
  }

  // Nothing left here: the script decides what comes (done page, next study).
  leave() {
    this.left = true;
    this.phase = "stopped";
    this.player.load(null, null);
    this.space.load(null, null, null);
    this.triggers.setTriggerValue("left", true);
  }

  guide() {
    this.triggers.setTriggerValue("guide", true);
  }

  // --- keys -----------------------------------------------------------------------------

  key(event) {
    const target = event.composedPath()[0];
    const sheet = this.find("dialog.keys");
    if (event.altKey || event.metaKey || document.querySelector("[data-testid=stDialog]")) return;
    if (sheet.open) {
      if (event.key === "?") sheet.close();
      return;
    }
    if (target.matches?.("textarea, input:not([type=range]), select, [contenteditable]")) {
      if (event.key === "Escape") {
        target.blur();
        this.form.activateOpen(); // digits choose answers again
      } else if (event.key === "Enter" && event.ctrlKey) this.act();
      else return;
      event.preventDefault();
      return;
    }
    if (event.ctrlKey) return;
    // A button reached with Tab keeps its own Enter and Space.
    if (["Enter", " "].includes(event.key) && target.matches?.("button, a, summary")) return;
    if (this.command(event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  command(event) {
    if (event.key === "Enter" || event.key === "s") {
      if (!event.repeat) this.act();
      return true;
    }
    if (event.key === "?") this.find("dialog.keys").showModal();
    else if (event.key === "g") this.guide();
    else if (event.key === "b") this.turnBack();
    else if (event.key === "r" || event.key === "c") return true; // Streamlit's own, kept from it
    else if (event.key === "0" && this.form.key(event)) return true; // a score, where 0 is one
    else return this.player.key(event) || this.space.key(event) || this.form.key(event);
    return true;
  }
}

const desks = new WeakMap();

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".mj");
  words = data.words;
  root.lang = words.language;
  let desk = desks.get(root);
  if (!desk) {
    desk = new Desk(root);
    desks.set(root, desk);
  }
  desk.attach({ setTriggerValue });
  desk.offer(data);
  return () => desk.detach();
}
