import type { SKRSContext2D } from '@napi-rs/canvas';
import { brightness, css, mix, type Rgb } from '../colour.ts';
import { dice } from '../dice.ts';
import type { Frame } from '../painter.ts';
import type { Scene } from './scene.ts';
import { HORIZON } from './sky.ts';

/** Number of parallax layers. */
const LAYERS = 5;

/** Parallax layer of the land; `depth` is 0 for the farthest, 1 for the nearest. */
interface Layer {
  readonly scene: Scene;
  readonly depth: number;
  readonly colour: Rgb;
  /** Returns the height of its ground at `x` pixels, in pixels from the top. */
  readonly ground: (x: number) => number;
  /** Distance the camera has moved past it, in pixels. */
  readonly travelled: number;
  readonly seed: number;
}

/**
 * Paints the land in parallax layers, the nearer the faster, and the subject between the last two.
 * @param between paints on the last but one layer and receives its ground.
 */
export function paintLand(
  ctx: SKRSContext2D,
  scene: Scene,
  frame: Frame,
  between: (ground: (x: number) => number) => void,
): void {
  for (let index = 0; index < LAYERS; index++) {
    const layer = layerAt(scene, frame, index);
    if (scene.land === 'sea') paintWater(ctx, layer, frame);
    else paintGround(ctx, layer, frame);
    if (scene.land === 'forest' && index > 0) paintTrees(ctx, layer, frame);
    if (scene.land === 'city') paintTowers(ctx, layer, frame);
    if (index === LAYERS - 2) between(layer.ground);
  }
}

function layerAt(scene: Scene, { width, height, unit, seconds }: Frame, index: number): Layer {
  const depth = index / (LAYERS - 1);
  const roll = dice(scene.seed + index * 7919);
  const phases = [roll() * 7, roll() * 7, roll() * 7, roll() * 7] as const;
  const travelled = seconds * unit * (0.012 + 0.11 * depth ** 1.5);
  const base = height * (HORIZON + 0.38 * depth);
  const rise = unit * swellOf(scene.land) * (1 - 0.45 * depth);
  const pitch = 3.4 - depth * 1.3;
  const ground = (x: number): number => {
    const at = ((x + travelled) / unit) * pitch;
    const wave =
      scene.land === 'peaks'
        ? ridged(at * 0.8 + phases[0]) + 0.5 * ridged(at * 1.9 + phases[1]) + 0.2 * ridged(at * 4.3 + phases[2])
        : Math.sin(at + phases[0]) + 0.5 * Math.sin(at * 2.1 + phases[1]) + 0.18 * Math.sin(at * 4.7 + phases[2]);
    const swing = scene.land === 'sea' ? Math.sin((x / width) * 14 + seconds * 1.6 + phases[3]) * 0.4 : wave;
    return base - rise * swing;
  };
  const colour = mix(scene.palette.far, scene.palette.near, depth ** 1.15);
  return { scene, depth, colour, ground, travelled, seed: scene.seed + index * 104_729 };
}

/** Returns the amplitude of the ground, as a share of the short side. */
function swellOf(land: Scene['land']): number {
  switch (land) {
    case 'peaks':
      return 0.15;
    case 'dunes':
      return 0.045;
    case 'sea':
      return 0.012;
    case 'city':
      return 0.008;
    case 'hills':
    case 'forest':
      return 0.06;
  }
}

/** Returns a wave with sharp crests, -1 to 1. */
function ridged(at: number): number {
  return 1 - 2 * Math.abs(Math.sin(at / 2));
}

function paintGround(ctx: SKRSContext2D, layer: Layer, { width, height, unit }: Frame): void {
  traceGround(ctx, layer.ground, width, height, unit);
  const top = height * (HORIZON - 0.2);
  const gradient = ctx.createLinearGradient(0, top, 0, height);
  gradient.addColorStop(0, css(mix(layer.colour, layer.scene.palette.light, 0.1)));
  gradient.addColorStop(1, css(mix(layer.colour, layer.scene.palette.far, 0.25)));
  ctx.fillStyle = gradient;
  ctx.fill();
}

function traceGround(
  ctx: SKRSContext2D,
  ground: (x: number) => number,
  width: number,
  height: number,
  unit: number,
): void {
  ctx.beginPath();
  ctx.moveTo(0, height);
  for (let x = 0; x <= width + unit * 0.01; x += unit * 0.008) ctx.lineTo(x, ground(x));
  ctx.lineTo(width, height);
  ctx.closePath();
}

function paintWater(ctx: SKRSContext2D, layer: Layer, frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const { palette, light } = layer.scene;
  traceGround(ctx, layer.ground, width, height, unit);
  ctx.fillStyle = css(mix(layer.colour, palette.sky[1], 0.3));
  ctx.fill();
  const roll = dice(layer.seed);
  const middle = light.across * width;
  for (let index = 0; index < 16; index++) {
    const spread = (roll() - 0.5) * unit * (0.15 + 0.55 * layer.depth);
    const y = layer.ground(middle) + roll() * height * 0.07 + unit * 0.006;
    const shine = 0.5 + 0.5 * Math.sin(seconds * (1.5 + roll() * 2) + roll() * 7);
    const length = unit * (0.02 + 0.05 * roll());
    ctx.fillStyle = css(palette.light, 0.5 * shine);
    ctx.beginPath();
    ctx.ellipse(middle + spread, y, length, unit * 0.0022, 0, 0, Math.PI * 2);
    ctx.fill();
  }
}

/** Yields the objects on a layer, spread evenly along the path of the camera. */
function* strewn(layer: Layer, spacing: number, width: number, margin: number) {
  const first = Math.floor((layer.travelled - margin) / spacing);
  const last = Math.ceil((layer.travelled + width + margin) / spacing);
  for (let slot = first; slot <= last; slot++) {
    const roll = dice(layer.seed + slot * 613);
    yield { x: (slot + roll() * 0.7) * spacing - layer.travelled, roll };
  }
}

function paintTrees(ctx: SKRSContext2D, layer: Layer, { width, unit }: Frame): void {
  const size = unit * (0.06 + 0.15 * layer.depth);
  const snowy = brightness(layer.scene.palette.near) > 0.7;
  const leaf = snowy ? mix(layer.colour, [38, 66, 84], 0.3 + 0.5 * layer.depth) : mix(layer.colour, [0, 0, 0], 0.22);
  // The nearest layer is under the title: it has a few trees, the layers behind a forest.
  const spacing = size * (layer.depth === 1 ? 2.1 : 0.62);
  for (const { x, roll } of strewn(layer, spacing, width, size)) {
    if (roll() < 0.22) continue;
    const height = size * (0.7 + roll() * 0.7);
    const foot = layer.ground(x) + size * 0.06;
    for (let tier = 3; tier >= 0; tier--) {
      const top = foot - height * (1 - tier * 0.2);
      const half = height * (0.09 + tier * 0.052);
      const bottom = top + height * 0.36;
      ctx.fillStyle = css(leaf);
      triangle(ctx, x, top, [-half, half], bottom);
      ctx.fillStyle = css(snowy ? layer.scene.palette.near : layer.scene.palette.light, snowy ? 0.8 : 0.07);
      triangle(ctx, x, top, [half * 0.25, half], bottom);
    }
  }
}

/** Fills a triangle with its tip at `x`, `top` and its base between two offsets of `x`. */
function triangle(ctx: SKRSContext2D, x: number, top: number, base: readonly [number, number], bottom: number): void {
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x + base[0], bottom);
  ctx.lineTo(x + base[1], bottom);
  ctx.closePath();
  ctx.fill();
}

function paintTowers(ctx: SKRSContext2D, layer: Layer, { width, height, unit, seconds }: Frame): void {
  const size = unit * (0.07 + 0.07 * layer.depth);
  const lamp = layer.scene.palette.light;
  for (const { x, roll } of strewn(layer, size * 1.02, width, size * 2)) {
    const rise = size * (1 + roll() ** 2 * 4.2) * (1 - 0.45 * layer.depth);
    const top = layer.ground(x) - rise;
    ctx.fillStyle = css(mix(layer.colour, layer.scene.palette.sky[1], 0.12 * roll()));
    ctx.fillRect(x, top, size, height - top);
    const pane = size / 8;
    for (let row = top + pane; row < layer.ground(x); row += pane * 2) {
      for (let column = 1; column < 7; column += 2) {
        const lit = roll();
        if (lit < 0.55) continue;
        const flicker = lit > 0.97 ? 0.5 + 0.5 * Math.sin(seconds * 5 + lit * 999) : 1;
        ctx.fillStyle = css(lamp, (0.16 + 0.5 * layer.depth) * flicker);
        ctx.fillRect(x + column * pane, row, pane * 0.9, pane);
      }
    }
  }
}
