import type { SKRSContext2D } from '@napi-rs/canvas';
import { css, mix } from '../colour.ts';
import { dice } from '../dice.ts';
import type { Frame } from '../painter.ts';
import type { Scene } from './scene.ts';

/** Share of the frame above the horizon. */
export const HORIZON = 0.46;

/** Paints the background: the gradient, stars, sun or moon with its glow, and drifting clouds. */
export function paintSky(ctx: SKRSContext2D, scene: Scene, frame: Frame): void {
  const { width, height } = frame;
  const gradient = ctx.createLinearGradient(0, 0, 0, height * (HORIZON + 0.12));
  gradient.addColorStop(0, css(scene.palette.sky[0]));
  gradient.addColorStop(0.55, css(scene.palette.sky[1]));
  gradient.addColorStop(1, css(scene.palette.sky[2]));
  ctx.fillStyle = gradient;
  ctx.fillRect(0, 0, width, height);
  if (scene.stars) paintStars(ctx, scene, frame);
  paintLight(ctx, scene, frame);
  paintClouds(ctx, scene, frame);
}

function paintStars(ctx: SKRSContext2D, scene: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(scene.seed ^ 0x57a5);
  for (let index = 0; index < 110; index++) {
    const x = roll() * width;
    const depth = roll() ** 1.6;
    const radius = unit * (0.0011 + roll() * 0.0019);
    const twinkle = 0.65 + 0.35 * Math.sin(seconds * (1 + roll() * 2) + roll() * 7);
    ctx.fillStyle = css(scene.palette.light, (1 - depth) * twinkle);
    ctx.beginPath();
    ctx.arc(x, depth * height * HORIZON, radius, 0, Math.PI * 2);
    ctx.fill();
  }
}

function paintLight(ctx: SKRSContext2D, scene: Scene, { width, height, unit, seconds }: Frame): void {
  const x = scene.light.across * width - seconds * unit * 0.004;
  const y = scene.light.down * height * HORIZON + seconds * unit * 0.003;
  const reach = unit * 0.62;
  const glow = ctx.createRadialGradient(x, y, 0, x, y, reach);
  glow.addColorStop(0, css(scene.palette.light, 0.75));
  glow.addColorStop(0.18, css(mix(scene.palette.light, scene.palette.sky[2], 0.35), 0.34));
  glow.addColorStop(1, css(scene.palette.sky[2], 0));
  ctx.fillStyle = glow;
  ctx.fillRect(x - reach, y - reach, reach * 2, reach * 2);
  ctx.fillStyle = css(scene.palette.light);
  ctx.beginPath();
  ctx.arc(x, y, unit * 0.062, 0, Math.PI * 2);
  ctx.fill();
}

function paintClouds(ctx: SKRSContext2D, scene: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(scene.seed ^ 0xc10d);
  const colour = mix(scene.palette.sky[2], scene.palette.light, 0.4);
  for (let index = 0; index < 5; index++) {
    const span = unit * (0.28 + roll() * 0.4);
    const period = width + span * 2;
    const drift = roll() * period + seconds * unit * (0.008 + roll() * 0.014);
    const x = (drift % period) - span;
    const y = height * HORIZON * (0.12 + roll() * 0.66);
    ctx.save();
    ctx.translate(x, y);
    ctx.scale(1, 0.13 + roll() * 0.08);
    const haze = ctx.createRadialGradient(0, 0, 0, 0, 0, span);
    haze.addColorStop(0, css(colour, 0.32));
    haze.addColorStop(1, css(colour, 0));
    ctx.fillStyle = haze;
    ctx.fillRect(-span, -span, span * 2, span * 2);
    ctx.restore();
  }
}
