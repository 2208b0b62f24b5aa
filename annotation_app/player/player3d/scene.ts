// The room of the video around the person: the same floor, shadow, colours and first view.

import {
  BufferAttribute,
  Color,
  ColorManagement,
  LinearSRGBColorSpace,
  Mesh,
  PerspectiveCamera,
  PlaneGeometry,
  Scene,
  SkinnedMesh,
  WebGLRenderer,
} from "three";
import type { Look, Person } from "./load";
import { bodyMaterial, floorMaterial, floorUniforms, shadowMaterial } from "./materials";

// Colours are sRGB numbers throughout, as in the video.
ColorManagement.enabled = false;

/** Width of the floor that is drawn, metres; beyond, it has faded. */
const FLOOR_SIZE = 300;

export class Room {
  readonly camera = new PerspectiveCamera();
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly shared: ReturnType<typeof floorUniforms>;
  private readonly ground: Mesh;
  /** Vertical angle of the video, radians. */
  private angle = 0.5;

  constructor(person: Person) {
    const { look } = person;
    this.renderer = new WebGLRenderer({ antialias: true });
    this.renderer.outputColorSpace = LinearSRGBColorSpace;
    this.renderer.setClearColor(new Color(...look.backdrop.map((x) => x / 255)));
    this.canvas = this.renderer.domElement;
    this.shared = floorUniforms(look);
    const plane = new PlaneGeometry(FLOOR_SIZE, FLOOR_SIZE).rotateX(-Math.PI / 2);
    this.ground = new Mesh(plane, floorMaterial(look, this.shared));
    this.ground.renderOrder = -1;
    this.scene.add(this.ground, person.root);
    this.dress(person.mesh, look);
  }

  private dress(mesh: SkinnedMesh, look: Look): void {
    mesh.geometry.setAttribute("tint", displayed(mesh.geometry.getAttribute("color")));
    mesh.material = bodyMaterial(look);
    mesh.frustumCulled = false;
    // Drawn after the shadow: transparent objects come last otherwise.
    mesh.material.transparent = true;
    mesh.renderOrder = 1;
    const shadow = new SkinnedMesh(mesh.geometry, shadowMaterial(look, this.shared));
    shadow.bind(mesh.skeleton, mesh.bindMatrix);
    shadow.frustumCulled = false;
    mesh.parent?.add(shadow);
  }

  /** Take over the lens of the video's camera. */
  setAngle(degrees: number): void {
    this.angle = (degrees * Math.PI) / 180;
    this.camera.near = 0.05;
    this.camera.far = 2 * FLOOR_SIZE;
  }

  /** The largest square of the canvas shows what the video shows. */
  resize(width: number, height: number): void {
    const aspect = width / height;
    const slope = Math.tan(this.angle / 2) / Math.min(aspect, 1);
    this.camera.aspect = aspect;
    this.camera.fov = (Math.atan(slope) * 360) / Math.PI;
    this.camera.updateProjectionMatrix();
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
  }

  draw(): void {
    const { camera } = this;
    camera.updateMatrixWorld();
    const axes = camera.matrixWorld.elements;
    // How far the floor is along the lower edge of the video's square.
    const down = -axes[9] - Math.tan(this.angle / 2) * axes[5];
    this.shared.depth.value = down < -1e-6 ? camera.position.y / -down : FLOOR_SIZE;
    this.ground.position.set(camera.position.x, 0, camera.position.z);
    this.renderer.render(this.scene, camera);
  }

  dispose(): void {
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }
}

/** Vertex colours as the screen shows them: glTF has linear light (IEC 61966-2-1). */
function displayed(linear: { count: number; getComponent(i: number, c: number): number }) {
  const values = new Float32Array(linear.count * 3);
  for (let i = 0; i < linear.count; i++) {
    for (let c = 0; c < 3; c++) {
      const light = linear.getComponent(i, c);
      values[3 * i + c] = light <= 0.0031308 ? 12.92 * light : 1.055 * light ** (1 / 2.4) - 0.055;
    }
  }
  return new BufferAttribute(values, 3);
}
