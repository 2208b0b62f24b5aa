// The clip player: loops, changes speed, steps exact frames, scrubs, counts what was watched.
// No text of the study passes through here; frames and fps come from the render's record.

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];

class ClipPlayer {
  constructor(root) {
    this.stage = root.querySelector(".stage");
    this.wait = root.querySelector(".wait");
    this.range = root.querySelector(".scrub input");
    this.counter = root.querySelector(".frame");
    this.rate = root.querySelector(".rate");
    this.playButton = root.querySelector(".play");
    this.clip = null; // {token, fps, frames}
    this.video = null;
    this.spare = null; // {token, video}: the next clip, loading out of sight
    this.speed = 3;
    this.frame = 0; // the frame on the screen
    this.wanted = null; // the frame a seek is under way to
    this.plays = 0;
    this.stepped = 0;
    this.onFrame = null; // told each frame that comes to the screen
    const on = (selector, action) => root.querySelector(selector).addEventListener("click", action);
    on(".restart", () => this.restart());
    on(".back", () => this.step(-1));
    on(".next", () => this.step(1));
    on(".play", () => this.toggle());
    on(".slower", () => this.changeSpeed(-1));
    on(".faster", () => this.changeSpeed(1));
    this.range.addEventListener("input", () => {
      this.video?.pause();
      this.seek(Number(this.range.value));
    });
  }

  load(clip, activity) {
    this.plays = activity?.plays ?? 0;
    this.stepped = activity?.frames_stepped ?? 0;
    this.frame = 0;
    this.wanted = null;
    this.clip = clip;
    if (this.video) {
      this.video.pause();
      this.video.removeAttribute("src");
      this.video.load();
      this.video.remove();
      this.video = null;
    }
    this.stage.parentElement.hidden = !clip;
    if (!clip) return;
    let video = this.spare?.token === clip.token ? this.spare.video : null;
    if (video) this.spare = null;
    else video = this.element(clip.token);
    video.className = "shown";
    video.setAttribute("aria-label", t("clip_looping"));
    this.video = video;
    if (!video.isConnected) this.stage.append(video);
    video.removeAttribute("aria-hidden");
    this.range.max = String(clip.frames - 1);
    this.wait.hidden = video.readyState >= 2;
    video.addEventListener("loadeddata", () => (this.wait.hidden = true));
    video.addEventListener("error", () => this.failed());
    for (const name of ["play", "pause"]) video.addEventListener(name, () => this.drawState());
    this.follow(video);
    video.currentTime = 0;
    this.setSpeed(this.speed);
    this.play();
    this.drawState();
  }

  preload(token) {
    if (!token || token === this.clip?.token || this.spare?.token === token) return;
    this.spare?.video.remove();
    const video = this.element(token);
    video.className = "spare";
    video.setAttribute("aria-hidden", "true");
    video.tabIndex = -1;
    this.stage.append(video);
    this.spare = { token, video };
  }

  element(token) {
    const video = document.createElement("video");
    video.loop = true;
    video.muted = true;
    video.playsInline = true;
    video.preload = "auto";
    video.disablePictureInPicture = true;
    video.src = "/clip/" + encodeURIComponent(token);
    return video;
  }

  failed() {
    this.wait.hidden = false;
    this.wait.textContent = t("load_failed");
  }

  // The counter follows the frame that the browser put on the screen, not the clock.
  follow(video) {
    const shown = (seconds) => {
      if (video !== this.video) return;
      const frame = Math.min(this.clip.frames - 1, Math.max(0, Math.round(seconds * this.clip.fps)));
      if (!video.paused && frame < this.frame - this.clip.frames / 2) this.plays += 1;
      this.frame = frame;
      if (this.wanted === frame) this.wanted = null;
      this.drawFrame();
    };
    if ("requestVideoFrameCallback" in video) {
      const next = (_now, info) => {
        shown(info.mediaTime);
        if (video === this.video) video.requestVideoFrameCallback(next);
      };
      video.requestVideoFrameCallback(next);
    } else {
      // currentTime lies within the frame shown; half a frame back makes rounding exact.
      const read = () => shown(video.currentTime - 0.5 / this.clip.fps);
      for (const name of ["seeked", "timeupdate"]) video.addEventListener(name, read);
    }
    this.drawFrame();
  }

  drawFrame() {
    const { frames, fps } = this.clip;
    this.range.value = String(this.frame);
    const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    const seconds = (this.frame / fps).toLocaleString(words.language, digits);
    const at = { frame: this.frame, last: frames - 1, seconds };
    this.range.setAttribute("aria-valuetext", t("frame_spoken", at));
    this.onFrame?.(this.frame);
    this.counter.textContent = t("frame_counter", at);
  }

  drawState() {
    const paused = this.video?.paused ?? true;
    this.playButton.classList.toggle("paused", paused);
    this.playButton.setAttribute("aria-label", t(paused ? "play" : "pause"));
  }

  play() {
    this.wanted = null;
    // Refused where the browser forbids autoplay; the play button then starts it.
    this.video?.play().then(() => { if (!this.plays) this.plays = 1; }, () => this.drawState());
  }

  toggle() {
    if (!this.video) return;
    if (this.video.paused) this.play();
    else this.video.pause();
  }

  restart() {
    if (!this.video) return;
    this.seek(0);
    this.plays += 1;
    this.play();
  }

  step(by) {
    if (!this.video) return;
    this.video.pause();
    this.stepped += 1;
    const { frames } = this.clip;
    this.seek(((this.wanted ?? this.frame) + by + frames) % frames);
  }

  seek(frame) {
    this.wanted = frame;
    // The middle of the frame: no rounding can land on a neighbour.
    this.video.currentTime = (frame + 0.5) / this.clip.fps;
  }

  changeSpeed(by) {
    this.setSpeed(Math.min(SPEEDS.length - 1, Math.max(0, this.speed + by)));
  }

  setSpeed(index) {
    this.speed = index;
    this.rate.textContent = `${SPEEDS[index]}×`;
    if (this.video) {
      this.video.defaultPlaybackRate = SPEEDS[index];
      this.video.playbackRate = SPEEDS[index];
    }
  }

  // Returns whether the key was the player's.
  key(event) {
    if (!this.video) return false;
    const actions = {
      " ": () => this.toggle(),
      ",": () => this.step(-1),
      ArrowLeft: () => this.step(-1),
      ".": () => this.step(1),
      ArrowRight: () => this.step(1),
      "[": () => this.changeSpeed(-1),
      "-": () => this.changeSpeed(-1),
      "]": () => this.changeSpeed(1),
      "+": () => this.changeSpeed(1),
      "=": () => this.changeSpeed(1),
      0: () => this.restart(),
      Home: () => this.restart(),
    };
    const action = actions[event.key];
    action?.();
    return Boolean(action);
  }

  activity() {
    return { plays: this.plays, frames_stepped: this.stepped, speed: SPEEDS[this.speed] };
  }
}
