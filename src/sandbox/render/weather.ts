import type { SKRSContext2D } from '@napi-rs/canvas';
import { dice } from './dice.ts';
import type { Frame } from './painter.ts';
import type { Scene } from './scene.ts';

/** Paints what falls or floats in front of a scene: the nearer, the larger and the faster. */
export function paintWeather(ctx: SKRSContext2D, { weather, seed }: Scene, frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const { count, speed, wind, sway, size, colours } = weather;
  const roll = dice(seed ^ 0x5e0f);
  for (let index = 0; index < count; index++) {
    const near = 0.35 + 0.65 * roll();
    const phase = roll() * 7;
    const swing = Math.sin(seconds * 1.4 + phase) * sway * unit;
    const x = wrap(roll() * width + swing + seconds * wind * near * unit, width, unit * 0.05);
    const y = wrap(roll() * height + seconds * speed * near * unit, height, unit * 0.05);
    const radius = size * near * unit;
    // Rain is so fast that it is seen as a streak; leaves and petals turn.
    const length = Math.max(radius, Math.abs(speed) > 1 ? unit * 0.035 * near : 0);
    const thin = size > 0.01 ? 0.3 + 0.5 * Math.abs(Math.sin(seconds * 1.7 + phase)) : 1;
    ctx.globalAlpha = near;
    ctx.fillStyle = colours[Math.floor(roll() * colours.length)] ?? '';
    ctx.beginPath();
    ctx.ellipse(x, y, radius * thin, length, length > radius ? Math.atan2(-wind, speed) : phase, 0, Math.PI * 2);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/** Wraps a moving thing around the frame: it leaves on one side and re-enters on the other. */
function wrap(at: number, span: number, margin: number): number {
  const period = span + margin * 2;
  return ((((at + margin) % period) + period) % period) - margin;
}
