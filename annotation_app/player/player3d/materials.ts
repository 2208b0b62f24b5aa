// The video's own shading, so that the two views show the same colours: brightness is worked out
// and applied in sRGB, and nothing is converted on the way to the screen.

import { MinEquation, CustomBlending, OneFactor, ShaderMaterial, Vector3, Vector4 } from "three";
import type { Look, Triple } from "./load";

const FADE = /* glsl */ `
  uniform vec3 backdrop;
  uniform vec3 ground;
  uniform float depth; // of the floor at the lower edge of the image
  float fade(float far) { return exp(-max(far / depth - 1.0, 0.0) * 0.32); }
`;

const SKIN = /* glsl */ `
  #include <skinbase_vertex>
  #include <begin_vertex>
  #include <skinning_vertex>
  vec4 world = modelMatrix * vec4(transformed, 1.0);
`;

const unit = (rgb: Triple): Vector3 => new Vector3(...rgb).divideScalar(255);

/** Uniforms that all floor materials share. */
export function floorUniforms(look: Look) {
  return {
    backdrop: { value: unit(look.backdrop) },
    ground: { value: unit(look.floor) },
    depth: { value: 1 },
  };
}

type FloorUniforms = ReturnType<typeof floorUniforms>;

export function bodyMaterial(look: Look): ShaderMaterial {
  return new ShaderMaterial({
    defines: { LIGHTS: look.lights.length },
    uniforms: {
      lights: { value: look.lights.map((light) => new Vector4(...light)) },
      ambient: { value: look.ambient },
    },
    vertexShader: /* glsl */ `
      attribute vec3 tint;
      varying vec3 vTint;
      varying vec3 vWorldNormal;
      #include <skinning_pars_vertex>
      void main() {
        ${SKIN}
        #include <beginnormal_vertex>
        #include <skinnormal_vertex>
        vWorldNormal = mat3(modelMatrix) * objectNormal;
        vTint = tint;
        gl_Position = projectionMatrix * viewMatrix * world;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec4 lights[LIGHTS];
      uniform float ambient[2];
      varying vec3 vTint;
      varying vec3 vWorldNormal;
      void main() {
        vec3 world = normalize(vWorldNormal);
        vec3 view = mat3(viewMatrix) * world;
        float bright = mix(ambient[0], ambient[1], 0.5 + 0.5 * world.y);
        for (int n = 0; n < LIGHTS; n++)
          bright += lights[n].w * max(dot(view, lights[n].xyz), 0.0);
        gl_FragColor = vec4(vTint * min(bright, 1.0) + max(bright - 1.0, 0.0), 1.0);
      }`,
  });
}

/** The body pressed flat on the floor; of overlapping parts the darkest counts. */
export function shadowMaterial(look: Look, shared: FloorUniforms): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: {
      ...shared,
      range: { value: look.shadow },
      height: { value: look.shadow_height },
    },
    vertexShader: /* glsl */ `
      uniform float range[2];
      uniform float height;
      varying float vDark;
      varying float vFar;
      #include <skinning_pars_vertex>
      void main() {
        ${SKIN}
        vDark = range[0] + (range[1] - range[0]) * exp(-max(world.y, 0.0) / height);
        vec4 view = viewMatrix * vec4(world.x, 0.0, world.z, 1.0);
        vFar = -view.z;
        gl_Position = projectionMatrix * view;
      }`,
    fragmentShader: /* glsl */ `
      ${FADE}
      varying float vDark;
      varying float vFar;
      void main() {
        vec3 shade = mix(backdrop, ground, fade(vFar)) * (1.0 - vDark);
        gl_FragColor = vec4(shade, 1.0);
      }`,
    transparent: true,
    blending: CustomBlending,
    blendEquation: MinEquation,
    blendSrc: OneFactor,
    blendDst: OneFactor,
    depthTest: false,
    depthWrite: false,
  });
}

export function floorMaterial(look: Look, shared: FloorUniforms): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { ...shared, line: { value: unit(look.line) }, grid: { value: look.grid } },
    vertexShader: /* glsl */ `
      varying vec2 vPlace;
      varying float vFar;
      void main() {
        vec4 world = modelMatrix * vec4(position, 1.0);
        vec4 view = viewMatrix * world;
        vPlace = world.xz;
        vFar = -view.z;
        gl_Position = projectionMatrix * view;
      }`,
    fragmentShader: /* glsl */ `
      ${FADE}
      uniform vec3 line;
      uniform float grid;
      varying vec2 vPlace;
      varying float vFar;
      float lines(float spacing, float width, vec2 footprint) {
        vec2 away = abs(vPlace - round(vPlace / spacing) * spacing);
        vec2 cover = clamp((width + footprint / 2.0 - away) / footprint, 0.0, 1.0);
        cover *= sqrt(min(vec2(1.0), 2.0 * width / footprint));
        cover *= clamp(spacing / footprint / 3.0 - 0.5, 0.0, 1.0);
        return max(cover.x, cover.y);
      }
      void main() {
        vec2 footprint = max(fwidth(vPlace), 1e-6);
        float share = max(0.5 * lines(grid, 0.006, footprint), lines(2.0 * grid, 0.011, footprint));
        gl_FragColor = vec4(mix(backdrop, mix(ground, line, share), fade(vFar)), 1.0);
      }`,
    depthWrite: false,
  });
}
