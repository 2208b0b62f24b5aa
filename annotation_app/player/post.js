// Saves to the app's own routes, ids for submissions, and the time the page was looked at.

// 128 random bits; randomUUID is missing where the page is not served over https.
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function post(path, body) {
  const response = await fetch("/work/" + path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-MotionJury": "1",
      "Accept-Language": words.language,
    },
    body: JSON.stringify(body),
    keepalive: true, // a save outlives the tab that sent it
  });
  const answer = await response.json();
  return { ok: response.ok, status: response.status, ...answer };
}

// Seconds during which the page was visible; pauses are not counted, nothing is counted twice.
class Stopwatch {
  start(seconds, running = true) {
    this.sum = seconds;
    this.since = null;
    this.running = running;
    this.visibility();
  }
  pause() {
    this.running = false;
    this.visibility();
  }
  resume() {
    this.running = true;
    this.visibility();
  }
  visibility() {
    if (!this.running || document.visibilityState !== "visible") {
      this.sum = this.seconds();
      this.since = null;
    } else this.since ??= performance.now();
  }
  seconds() {
    return this.sum + (this.since === null ? 0 : (performance.now() - this.since) / 1000);
  }
}
