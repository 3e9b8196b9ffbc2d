import type { SKRSContext2D } from '@napi-rs/canvas';
import { css, hex, mix } from '../colour.ts';
import { dice } from '../dice.ts';
import type { Frame } from '../painter.ts';
import { paintCreature } from './creature.ts';
import type { Scene } from './scene.ts';
import { HORIZON } from './sky.ts';

/** Paints the subject of a scene on or above the given ground. */
export function paintSubject(ctx: SKRSContext2D, scene: Scene, frame: Frame, ground: (x: number) => number): void {
  switch (scene.subject) {
    case null:
      return;
    case 'birds':
      paintBirds(ctx, scene, frame);
      return;
    case 'boat':
      paintBoat(ctx, scene, frame, ground);
      return;
    case 'balloon':
      paintBalloon(ctx, scene, frame);
      return;
    case 'fox':
    case 'wolf':
    case 'dog':
    case 'cat':
    case 'horse':
    case 'deer': {
      const { width, unit, seconds } = frame;
      const x = width * (0.3 + 0.4 * (seconds / frame.duration));
      const reach = unit * 0.09;
      const slope = Math.atan2(ground(x + reach) - ground(x - reach), reach * 2) * 0.7;
      paintCreature(ctx, scene.subject, { x, y: ground(x) + unit * 0.008, length: unit * 0.15, seconds, slope });
    }
  }
}

function paintBirds(ctx: SKRSContext2D, scene: Scene, { width, height, unit, seconds }: Frame): void {
  const roll = dice(scene.seed ^ 0xb12d);
  ctx.strokeStyle = css(mix(scene.palette.near, [10, 12, 20], 0.6), 0.8);
  ctx.lineCap = 'round';
  for (let index = 0; index < 7; index++) {
    const size = unit * (0.011 + 0.009 * roll());
    const x = width * (0.12 + 0.1 * roll()) + index * unit * 0.05 + seconds * unit * 0.045;
    const y = height * HORIZON * (0.34 + 0.2 * roll()) - index * unit * 0.006;
    const beat = Math.sin(seconds * (7 + roll() * 2) + roll() * 7) * 0.55;
    ctx.lineWidth = size * 0.2;
    ctx.beginPath();
    ctx.moveTo(x - size, y - size * beat);
    ctx.quadraticCurveTo(x - size * 0.4, y - size * 0.45, x, y);
    ctx.quadraticCurveTo(x + size * 0.4, y - size * 0.45, x + size, y - size * beat);
    ctx.stroke();
  }
}

function paintBoat(ctx: SKRSContext2D, scene: Scene, frame: Frame, ground: (x: number) => number): void {
  const { width, unit, seconds } = frame;
  const x = width * (0.3 + 0.3 * (seconds / frame.duration));
  const size = unit * 0.13;
  ctx.save();
  ctx.translate(x, ground(x) + size * 0.05);
  ctx.rotate(Math.sin(seconds * 1.3) * 0.05);
  ctx.fillStyle = css(mix(scene.palette.light, [255, 255, 255], 0.5));
  ctx.beginPath();
  ctx.moveTo(size * 0.05, -size * 1.5);
  ctx.quadraticCurveTo(size * 0.75, -size * 0.8, size * 0.72, -size * 0.3);
  ctx.lineTo(size * 0.05, -size * 0.3);
  ctx.moveTo(-size * 0.05, -size * 1.3);
  ctx.quadraticCurveTo(-size * 0.3, -size * 0.7, -size * 0.55, -size * 0.3);
  ctx.lineTo(-size * 0.05, -size * 0.3);
  ctx.fill();
  ctx.fillStyle = css(hex('#5a2a22'));
  ctx.beginPath();
  ctx.moveTo(-size * 0.75, -size * 0.22);
  ctx.lineTo(size * 0.9, -size * 0.22);
  ctx.quadraticCurveTo(size * 0.65, size * 0.1, size * 0.4, size * 0.1);
  ctx.lineTo(-size * 0.45, size * 0.1);
  ctx.closePath();
  ctx.fill();
  ctx.restore();
}

function paintBalloon(ctx: SKRSContext2D, scene: Scene, { width, height, unit, seconds, duration }: Frame): void {
  const size = unit * 0.13;
  const x = width * (0.3 + 0.12 * (seconds / duration));
  const y = height * HORIZON * (0.5 - 0.08 * (seconds / duration)) + Math.sin(seconds) * unit * 0.006;
  const stripes = [
    [1, hex('#d9482b')],
    [0.64, hex('#f3a712')],
    [0.24, hex('#fff3dc')],
  ] as const;
  for (const [share, colour] of stripes) {
    ctx.fillStyle = css(colour);
    ctx.beginPath();
    ctx.ellipse(x, y, size * share, size * 1.08, 0, 0, Math.PI * 2);
    ctx.fill();
  }
  ctx.strokeStyle = css(scene.palette.near, 0.8);
  ctx.lineWidth = size * 0.025;
  for (const side of [-1, 1]) {
    ctx.beginPath();
    ctx.moveTo(x + side * size * 0.45, y + size * 0.95);
    ctx.lineTo(x + side * size * 0.13, y + size * 1.45);
    ctx.stroke();
  }
  ctx.fillStyle = css(hex('#6b4226'));
  ctx.fillRect(x - size * 0.15, y + size * 1.45, size * 0.3, size * 0.22);
}
