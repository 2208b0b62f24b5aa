// Turning, tilting and zooming, by pointer or by step, and the way back; counts what was done.

import { MathUtils, type PerspectiveCamera, Spherical, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";

export type Use = "orbits" | "zooms" | "pans";

/** Lowest camera: a little above the floor, radians from straight up. */
const LOWEST = Math.PI / 2 - 0.03;
const NEAREST = 0.8;
/** Wheel ticks within this time are one zoom. */
const PAUSE_MS = 500;

export class Orbit {
  private readonly controls: OrbitControls;
  private readonly home = { eye: new Vector3(), target: new Vector3() };
  private before = { place: new Spherical(), target: new Vector3() };
  private lastZoom = -Infinity;

  constructor(
    private readonly camera: PerspectiveCamera,
    canvas: HTMLCanvasElement,
    changed: () => void,
    private readonly used: (use: Use) => void,
  ) {
    this.controls = new OrbitControls(camera, canvas);
    this.controls.minDistance = NEAREST;
    this.controls.maxPolarAngle = LOWEST;
    this.controls.addEventListener("change", changed);
    this.controls.addEventListener("start", () => (this.before = this.place()));
    this.controls.addEventListener("end", () => this.ended());
  }

  /** Take the camera of the video as the way back, and go there. */
  start(eye: Vector3, target: Vector3): void {
    this.home.eye.copy(eye);
    this.home.target.copy(target);
    this.controls.maxDistance = 3 * eye.distanceTo(target) + 5;
    this.reset();
  }

  reset(): void {
    this.camera.position.copy(this.home.eye);
    this.controls.target.copy(this.home.target);
    this.controls.update();
  }

  /** Turn to the person's left around them and upwards, degrees. */
  turn(around: number, up: number): void {
    const { place } = this.place();
    place.theta += MathUtils.degToRad(around);
    place.phi = MathUtils.clamp(place.phi - MathUtils.degToRad(up), 0.02, LOWEST);
    this.moveTo(place);
    this.used("orbits");
  }

  /** Come nearer by a factor; below 1 moves away. */
  zoom(factor: number): void {
    const { place } = this.place();
    place.radius = MathUtils.clamp(place.radius / factor, NEAREST, this.controls.maxDistance);
    this.moveTo(place);
    this.count("zooms");
  }

  dispose(): void {
    this.controls.dispose();
  }

  private place() {
    const target = this.controls.target.clone();
    const place = new Spherical().setFromVector3(this.camera.position.clone().sub(target));
    return { place, target };
  }

  private moveTo(place: Spherical): void {
    this.camera.position.setFromSpherical(place).add(this.controls.target);
    this.controls.update();
  }

  private ended(): void {
    const { place, target } = this.place();
    const old = this.before;
    const turned = Math.abs(place.theta - old.place.theta) + Math.abs(place.phi - old.place.phi);
    if (target.distanceTo(old.target) > 1e-3) this.used("pans");
    else if (turned > 1e-3) this.used("orbits");
    if (Math.abs(place.radius / old.place.radius - 1) > 1e-3) this.count("zooms");
  }

  private count(use: Use): void {
    const now = performance.now();
    if (now - this.lastZoom > PAUSE_MS) this.used(use);
    this.lastZoom = now;
  }
}
