// The 3D view of a clip. The player beside it owns the clock: it says which frame to show.

import { AnimationMixer } from "three";
import { loadPerson, loadTake, type Person, type Take } from "./load";
import { Orbit, type Use } from "./orbit";
import { Room } from "./scene";

export type { Use } from "./orbit";

let person: Promise<Person> | undefined;

/** Draws one body in one place of the page, for one clip after another. */
export class View3D {
  readonly canvas: HTMLCanvasElement;
  private readonly orbit: Orbit;
  private readonly mixer: AnimationMixer;
  private readonly watcher: ResizeObserver;
  private take: Take | null = null;
  private frame = 0;
  private due = 0;

  /**
   * @param host Element that the canvas fills.
   * @param body Address of the body.
   * @param used Told what the expert did with the camera.
   * @throws Where the browser has no WebGL or the body does not load.
   */
  static async create(host: HTMLElement, body: string, used: (use: Use) => void): Promise<View3D> {
    person ??= loadPerson(body);
    person.catch(() => (person = undefined));
    return new View3D(host, await person, used);
  }

  private constructor(private readonly host: HTMLElement, body: Person, used: (use: Use) => void) {
    this.room = new Room(body);
    this.canvas = this.room.canvas;
    this.mixer = new AnimationMixer(body.root);
    this.orbit = new Orbit(this.room.camera, this.canvas, () => this.invalidate(), used);
    host.append(this.canvas);
    this.watcher = new ResizeObserver(() => this.fit());
    this.watcher.observe(host);
  }

  private readonly room: Room;

  /** Show another clip, from the video's point of view. */
  async load(motion: string): Promise<void> {
    this.take = null;
    const take = await loadTake(motion);
    this.mixer.stopAllAction();
    this.mixer.clipAction(take.clip).play();
    this.take = take;
    this.room.setAngle(take.camera.fov);
    this.fit();
    this.orbit.start(take.camera.position, take.target);
    this.show(this.frame);
  }

  /** Show a frame, the first being 0. */
  show(frame: number): void {
    this.frame = frame;
    this.invalidate();
  }

  reset(): void {
    this.orbit.reset();
  }

  turn(around: number, up: number): void {
    this.orbit.turn(around, up);
  }

  zoom(factor: number): void {
    this.orbit.zoom(factor);
  }

  dispose(): void {
    cancelAnimationFrame(this.due);
    this.watcher.disconnect();
    this.orbit.dispose();
    this.room.dispose();
    person = undefined; // its mesh belongs to the context that is gone; the file is cached
  }

  private fit(): void {
    const { clientWidth, clientHeight } = this.host;
    if (!clientWidth || !clientHeight) return;
    this.room.resize(clientWidth, clientHeight);
    this.draw();
  }

  private invalidate(): void {
    cancelAnimationFrame(this.due);
    this.due = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    if (!this.take) return;
    const frame = Math.min(this.frame, this.take.frames - 1);
    this.mixer.setTime(frame / this.take.fps);
    this.room.draw();
    this.canvas.dataset.frame = String(frame);
  }
}
