// The 3D view of the clip, where the study allows it. The video stays the clock, and what is
// judged: each clip starts with it. The script comes from player3d/, when it is first wanted.

const TURN = 15; // degrees a key press or click
const NEARER = 1.25;

class ClipView3D {
  constructor(root, player) {
    this.host = root.querySelector(".space");
    this.toggleButton = root.querySelector(".to-3d");
    this.why = root.querySelector(".off-3d");
    this.state = root.querySelector(".space-state");
    this.section = root.querySelector(".clip");
    this.sheet = root.querySelectorAll(".only-3d");
    this.player = player;
    this.watch = new Stopwatch();
    this.watch.start(0, false);
    this.used = {};
    this.view = null; // View3D of player3d/, once it has been asked for
    this.shown = null; // token of the clip it holds
    this.clip = null;
    this.loading = Promise.resolve();
    this.on = false;
    player.onFrame = (frame) => this.on && this.view?.show(frame);
    const on = (selector, action) => root.querySelector(selector).addEventListener("click", action);
    on(".to-3d", () => this.toggle());
    on(".turn-left", () => this.view?.turn(-TURN, 0));
    on(".turn-right", () => this.view?.turn(TURN, 0));
    on(".tilt-up", () => this.view?.turn(0, TURN));
    on(".tilt-down", () => this.view?.turn(0, -TURN));
    on(".nearer", () => this.view?.zoom(NEARER));
    on(".farther", () => this.view?.zoom(1 / NEARER));
    on(".reset-3d", () => this.view?.reset());
    for (const button of [this.toggleButton, ...this.host.querySelectorAll("button")]) {
      // The page keeps the keyboard: a click must not park the focus on a button.
      button.addEventListener("mousedown", (event) => event.preventDefault());
    }
  }

  // What the study offers: null, {off: why} or {script, body}.
  load(offer, clip, activity) {
    this.offer = offer;
    this.clip = clip?.has_3d ? clip : null;
    const { orbits = 0, zooms = 0, pans = 0, seconds_3d = 0 } = activity ?? {};
    this.used = { orbits, zooms, pans };
    this.watch.start(seconds_3d, false);
    this.leave();
    const off = offer?.off ?? (offer && !ClipView3D.supported() ? t("view_3d_unsupported") : null);
    this.able = Boolean(this.clip && !off);
    this.section.classList.toggle("has-3d", Boolean(this.clip));
    this.toggleButton.hidden = !this.able;
    this.why.hidden = !(this.clip && off);
    this.why.textContent = off ?? "";
    for (const row of this.sheet) row.hidden = !this.able;
  }

  static supported() {
    if (this.works === undefined) {
      const canvas = document.createElement("canvas");
      const context = canvas.getContext("webgl2");
      this.works = Boolean(context);
      context?.getExtension("WEBGL_lose_context")?.loseContext();
    }
    return this.works;
  }

  toggle() {
    if (this.on) this.leave();
    else if (this.able) this.enter();
  }

  leave() {
    this.on = false;
    this.watch.pause();
    this.host.hidden = true;
    this.toggleButton.setAttribute("aria-pressed", "false");
  }

  async enter() {
    const { clip, offer } = this;
    this.on = true;
    this.host.hidden = false;
    this.toggleButton.setAttribute("aria-pressed", "true");
    if (this.shown !== clip.token) {
      this.host.classList.add("loading");
      this.state.textContent = t("view_3d_loading");
      try {
        // One after the other: a clip that comes late must not replace the one after it.
        this.loading = this.loading.catch(() => {}).then(() => this.fetch(clip, offer));
        await this.loading;
      } catch {
        if (this.clip === clip) this.failed();
        return;
      }
    }
    if (this.clip !== clip || !this.on) return;
    this.host.classList.remove("loading");
    this.state.textContent = t("view_3d_note");
    this.view.show(this.player.frame);
    this.watch.resume();
  }

  async fetch(clip, offer) {
    // The component runs from a blob address, from which nothing can be imported by path.
    const address = (path) => new URL(path, location.href).href;
    if (this.shown === clip.token || this.clip !== clip) return;
    this.shown = null;
    if (!this.view) {
      const { View3D } = await import(address(offer.script));
      this.view = await View3D.create(this.host, address(offer.body), (use) => this.count(use));
      this.view.canvas.setAttribute("role", "img");
      this.view.canvas.setAttribute("aria-label", t("view_3d_canvas"));
    }
    await this.view.load(address(`/clip/${encodeURIComponent(clip.token)}/motion`));
    this.shown = clip.token;
  }

  failed() {
    this.leave();
    this.able = false;
    this.toggleButton.hidden = true;
    this.why.hidden = false;
    this.why.textContent = t("view_3d_failed");
  }

  count(use) {
    this.used[use] += 1;
  }

  visibility() {
    this.watch.visibility();
  }

  // The page lets go of the canvas; it is made again when it is wanted again.
  dispose() {
    this.leave();
    this.view?.dispose();
    this.view = this.shown = null;
  }

  // Returns whether the key was the 3D view's.
  key(event) {
    if (!this.able) return false;
    if (event.key === "v") this.toggle();
    else if (!this.on || !this.view) return false;
    else {
      const actions = {
        h: () => this.view.turn(-TURN, 0),
        l: () => this.view.turn(TURN, 0),
        k: () => this.view.turn(0, TURN),
        j: () => this.view.turn(0, -TURN),
        z: () => this.view.zoom(NEARER),
        Z: () => this.view.zoom(1 / NEARER),
        x: () => this.view.reset(),
      };
      if (!actions[event.key]) return false;
      actions[event.key]();
    }
    return true;
  }

  // Nothing where the study offers no 3D view.
  activity() {
    if (!this.clip) return {};
    return { ...this.used, seconds_3d: Math.round(this.watch.seconds() * 10) / 10 };
  }
}
