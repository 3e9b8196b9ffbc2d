import type { SKRSContext2D } from '@napi-rs/canvas';
import { css, hex, mix, type Rgb } from '../colour.ts';
import type { Animal } from './scene.ts';

/** Shape and colours of an animal; lengths in body lengths. */
interface Build {
  readonly coat: Rgb;
  /** Colour of belly, chest, muzzle and the tip of the tail. */
  readonly pale: Rgb;
  readonly legs: number;
  readonly leg: number;
  readonly neck: number;
  readonly head: number;
  readonly ear: number;
  /** Length and thickness of the tail. */
  readonly tail: readonly [number, number];
  /** Strides per second. */
  readonly pace: number;
  /** Size relative to a fox. */
  readonly size: number;
}

const BUILDS: Readonly<Record<Animal, Build>> = {
  fox: build({ coat: hex('#d8591f'), pale: hex('#fff3e3'), tail: [0.78, 0.2], ear: 0.17 }),
  wolf: build({ coat: hex('#5d6874'), pale: hex('#d9dee3'), tail: [0.56, 0.14], size: 1.25, legs: 0.58 }),
  dog: build({ coat: hex('#8a5a34'), pale: hex('#e9d3b4'), tail: [0.42, 0.08], ear: 0.12 }),
  cat: build({ coat: hex('#3a3a44'), pale: hex('#8c8c98'), tail: [0.75, 0.065], ear: 0.13, legs: 0.45 }),
  horse: build({
    coat: hex('#5a3420'),
    pale: hex('#3a2114'),
    tail: [0.5, 0.12],
    legs: 0.85,
    leg: 0.085,
    neck: 0.26,
    head: 0.2,
    ear: 0.08,
    pace: 1.7,
    size: 1.5,
  }),
  deer: build({
    coat: hex('#a9713f'),
    pale: hex('#efe0c6'),
    tail: [0.16, 0.08],
    legs: 0.85,
    leg: 0.055,
    neck: 0.28,
    head: 0.15,
    ear: 0.14,
    pace: 1.8,
    size: 1.35,
  }),
};

function build(given: Pick<Build, 'coat' | 'pale' | 'tail'> & Partial<Build>): Build {
  return { legs: 0.5, leg: 0.075, neck: 0.16, head: 0.18, ear: 0.14, pace: 2.1, size: 1, ...given };
}

/** Position and time of a running animal. */
export interface Stride {
  /** Ground contact of its feet, in pixels. */
  readonly x: number;
  readonly y: number;
  /** Body length of a fox in pixels. */
  readonly length: number;
  readonly seconds: number;
  /** Slope of the ground, in radians. */
  readonly slope: number;
}

/** Paints a galloping animal from the side, running to the right. */
export function paintCreature(ctx: SKRSContext2D, animal: Animal, stride: Stride): void {
  const shape = BUILDS[animal];
  const phase = stride.seconds * shape.pace * Math.PI * 2;
  ctx.save();
  ctx.translate(stride.x, stride.y);
  ctx.rotate(stride.slope);
  ctx.fillStyle = 'rgba(10,20,40,0.22)';
  ctx.beginPath();
  ctx.ellipse(0, 0, stride.length * shape.size * 0.7, stride.length * 0.055, 0, 0, Math.PI * 2);
  ctx.fill();
  ctx.scale(stride.length * shape.size, stride.length * shape.size);
  ctx.translate(0, -shape.legs * 0.94 - 0.05 * (1 + Math.sin(phase + 1.2)));
  ctx.rotate(Math.sin(phase + 2.4) * 0.1);
  ctx.lineCap = 'round';
  ctx.lineJoin = 'round';
  const shade = mix(shape.coat, [0, 0, 0], 0.35);
  paintLeg(ctx, shape, { hip: -0.36, phase: phase + 0.5, hind: true, colour: shade });
  paintLeg(ctx, shape, { hip: 0.36, phase: phase + 2.9, hind: false, colour: shade });
  paintTail(ctx, shape, phase);
  paintBody(ctx, shape);
  paintLeg(ctx, shape, { hip: -0.38, phase, hind: true, colour: shape.coat });
  paintLeg(ctx, shape, { hip: 0.34, phase: phase + 2.4, hind: false, colour: shape.coat });
  paintHead(ctx, animal, shape);
  ctx.restore();
}

interface Leg {
  readonly hip: number;
  readonly phase: number;
  readonly hind: boolean;
  readonly colour: Rgb;
}

function paintLeg(ctx: SKRSContext2D, shape: Build, { hip, phase, hind, colour }: Leg): void {
  const swing = Math.sin(phase) * 0.95;
  // The lower leg folds while the foot swings forward and stretches while it pushes.
  const fold = 0.25 + 0.85 * Math.max(0, Math.cos(phase));
  const upper = shape.legs * 0.52;
  const kneeX = hip + Math.sin(swing) * upper;
  const kneeY = 0.06 + Math.cos(swing) * upper;
  const lower = swing - (hind ? fold * 0.8 : fold);
  const footX = kneeX + Math.sin(lower) * shape.legs * 0.54;
  const footY = kneeY + Math.cos(lower) * shape.legs * 0.54;
  ctx.strokeStyle = css(colour);
  ctx.lineWidth = shape.leg * (hind ? 2 : 1.6);
  line(ctx, hip, 0.04, kneeX, kneeY);
  ctx.lineWidth = shape.leg;
  line(ctx, kneeX, kneeY, footX, footY);
  ctx.strokeStyle = css(mix(colour, [20, 14, 12], 0.75));
  line(ctx, kneeX + (footX - kneeX) * 0.55, kneeY + (footY - kneeY) * 0.55, footX, footY);
}

function line(ctx: SKRSContext2D, fromX: number, fromY: number, toX: number, toY: number): void {
  ctx.beginPath();
  ctx.moveTo(fromX, fromY);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

function paintTail(ctx: SKRSContext2D, shape: Build, phase: number): void {
  const [length, thick] = shape.tail;
  const lift = -0.1 + Math.sin(phase - 0.6) * 0.09;
  const tipX = -0.46 - length;
  const tipY = lift + 0.02;
  const trace = (): void => {
    ctx.beginPath();
    ctx.moveTo(-0.44, -0.07);
    ctx.bezierCurveTo(-0.5 - length * 0.35, -0.12 - thick * 0.2, -0.46 - length * 0.6, lift - thick, tipX, tipY);
    ctx.bezierCurveTo(-0.46 - length * 0.65, lift + thick * 0.75, -0.5 - length * 0.3, 0.06, -0.42, 0.03);
    ctx.closePath();
  };
  trace();
  ctx.fillStyle = css(shape.coat);
  ctx.fill();
  ctx.save();
  trace();
  ctx.clip();
  ctx.fillStyle = css(shape.pale);
  ctx.beginPath();
  ctx.ellipse(tipX, tipY, length * 0.3, thick, 0, 0, Math.PI * 2);
  ctx.fill();
  ctx.restore();
}

function paintBody(ctx: SKRSContext2D, shape: Build): void {
  ctx.beginPath();
  ctx.moveTo(-0.48, -0.02);
  ctx.bezierCurveTo(-0.46, -0.2, -0.2, -0.15, 0, -0.13);
  ctx.bezierCurveTo(0.2, -0.15, 0.34, -0.22, 0.48, -0.1);
  ctx.bezierCurveTo(0.54, 0.06, 0.44, 0.19, 0.28, 0.18);
  ctx.bezierCurveTo(0.1, 0.13, -0.1, 0.08, -0.26, 0.14);
  ctx.bezierCurveTo(-0.42, 0.18, -0.5, 0.1, -0.48, -0.02);
  ctx.closePath();
  ctx.fillStyle = css(shape.coat);
  ctx.fill();
  ctx.save();
  ctx.clip();
  ctx.fillStyle = css(shape.pale, 0.9);
  ctx.beginPath();
  ctx.ellipse(0.3, 0.21, 0.28, 0.1, -0.12, 0, Math.PI * 2);
  ctx.fill();
  ctx.restore();
}

function paintHead(ctx: SKRSContext2D, animal: Animal, shape: Build): void {
  const headX = 0.5 + shape.neck * 0.75;
  const headY = -0.14 - shape.neck;
  ctx.strokeStyle = css(shape.coat);
  ctx.lineWidth = 0.2;
  line(ctx, 0.38, -0.04, headX - 0.04, headY + 0.02);
  ctx.save();
  ctx.translate(headX, headY);
  ctx.rotate(0.14);
  ctx.fillStyle = css(mix(shape.coat, [0, 0, 0], 0.35));
  ear(ctx, shape, 0.01);
  ctx.fillStyle = css(shape.coat);
  ear(ctx, shape, -0.07);
  ctx.beginPath();
  ctx.moveTo(-0.12, -0.03);
  ctx.quadraticCurveTo(-0.02, -0.15, shape.head * 0.65, -0.045);
  ctx.quadraticCurveTo(shape.head * 1.2, -0.005, shape.head * 1.6, 0.03);
  ctx.quadraticCurveTo(shape.head * 1.3, 0.075, shape.head * 0.6, 0.085);
  ctx.quadraticCurveTo(-0.08, 0.13, -0.12, -0.03);
  ctx.fill();
  if (animal !== 'horse') {
    ctx.fillStyle = css(shape.pale);
    ctx.beginPath();
    ctx.moveTo(-0.04, 0.085);
    ctx.quadraticCurveTo(shape.head * 0.6, 0.02, shape.head * 1.5, 0.04);
    ctx.quadraticCurveTo(shape.head * 1.3, 0.075, shape.head * 0.6, 0.085);
    ctx.fill();
  }
  ctx.fillStyle = '#16110f';
  dot(ctx, shape.head * 1.58, 0.03, 0.02);
  dot(ctx, shape.head * 0.5, -0.025, 0.016);
  ctx.restore();
}

function ear(ctx: SKRSContext2D, shape: Build, x: number): void {
  ctx.beginPath();
  ctx.moveTo(x - 0.055, -0.03);
  ctx.lineTo(x - 0.06, -0.06 - shape.ear);
  ctx.lineTo(x + 0.065, -0.07);
  ctx.closePath();
  ctx.fill();
}

function dot(ctx: SKRSContext2D, x: number, y: number, radius: number): void {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, Math.PI * 2);
  ctx.fill();
}
