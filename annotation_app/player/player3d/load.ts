// The body, which is the same for every clip, and what one clip adds to it.

import { type AnimationClip, type Group, type PerspectiveCamera, SkinnedMesh, Vector3 } from "three";
import { type GLTF, GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** How the video is drawn; it comes with the body, so that both look alike. */
export interface Look {
  /** sRGB, 0 to 255. */
  backdrop: Triple;
  floor: Triple;
  line: Triple;
  /** Metres between grid lines. */
  grid: number;
  /** Towards each light in the camera's axes (right, up, backward; unit), and its strength. */
  lights: [number, number, number, number][];
  /** Brightness of what faces down and up. */
  ambient: [number, number];
  /** Darkness of the shadow of what is high up, and of what touches the floor. */
  shadow: [number, number];
  /** Metres at which a part's shadow has faded to 1/e. */
  shadow_height: number;
}

export type Triple = [number, number, number];

export interface Person {
  root: Group;
  mesh: SkinnedMesh;
  look: Look;
}

export interface Take {
  clip: AnimationClip;
  frames: number;
  fps: number;
  /** The camera of the video. */
  camera: PerspectiveCamera;
  /** What it looks at, metres. */
  target: Vector3;
}

const loader = new GLTFLoader();

async function fetched(address: string): Promise<GLTF> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return loader.parseAsync(await answer.arrayBuffer(), "");
}

export async function loadPerson(address: string): Promise<Person> {
  const { scene, asset } = await fetched(address);
  let mesh: SkinnedMesh | undefined;
  scene.traverse((node) => {
    if (node instanceof SkinnedMesh) mesh = node;
  });
  if (!mesh) throw new Error("the body has no skin");
  return { root: scene, mesh, look: asset.extras.look as Look };
}

export async function loadTake(address: string): Promise<Take> {
  const { animations, asset, cameras } = await fetched(address);
  const clip = animations[0];
  const camera = cameras[0] as PerspectiveCamera | undefined;
  if (!clip || !camera) throw new Error("the clip has no motion");
  const { frames, fps } = asset.extras as { frames: number; fps: number };
  // As long as the video: the last frame must not be taken for the first of the next round.
  clip.duration = frames / fps;
  return { clip, frames, fps, camera, target: new Vector3(...(camera.userData.target as Triple)) };
}
