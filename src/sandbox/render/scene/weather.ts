import type { SKRSContext2D } from '@napi-rs/canvas';
import { css, hex, type Rgb } from '../colour.ts';
import { type Dice, dice } from '../dice.ts';
import type { Frame } from '../painter.ts';
import type { Scene, Weather } from './scene.ts';

/** Motion and look of the particles of a weather. Speeds and sizes are in short sides of the frame. */
interface Fall {
  readonly count: number;
  /** Downward speed per second; negative rises. */
  readonly speed: number;
  /** Sideways speed per second. */
  readonly wind: number;
  /** Amplitude of the sideways swing. */
  readonly sway: number;
  readonly size: number;
  /** Colours, chosen at random; empty: the scene's light. */
  readonly colours: readonly Rgb[];
  readonly alpha: number;
}

const FALLS: Readonly<Record<Weather, Fall>> = {
  snow: { count: 150, speed: 0.16, wind: -0.09, sway: 0.02, size: 0.0058, colours: [hex('#ffffff')], alpha: 0.95 },
  rain: { count: 130, speed: 1.5, wind: -0.2, sway: 0, size: 0.0016, colours: [hex('#dbe7f0')], alpha: 0.42 },
  embers: {
    count: 80,
    speed: -0.2,
    wind: 0.03,
    sway: 0.03,
    size: 0.004,
    colours: [hex('#ffb347'), hex('#ff6a2b')],
    alpha: 0.9,
  },
  leaves: {
    count: 42,
    speed: 0.15,
    wind: -0.12,
    sway: 0.04,
    size: 0.012,
    colours: [hex('#d9822b'), hex('#b3401f'), hex('#e8b23a')],
    alpha: 0.95,
  },
  petals: {
    count: 60,
    speed: 0.1,
    wind: -0.07,
    sway: 0.04,
    size: 0.008,
    colours: [hex('#ffd7e6'), hex('#ffb3cf')],
    alpha: 0.95,
  },
  bubbles: { count: 60, speed: -0.13, wind: 0, sway: 0.02, size: 0.008, colours: [hex('#d9fbff')], alpha: 0.5 },
  motes: { count: 46, speed: -0.014, wind: 0.02, sway: 0.02, size: 0.0032, colours: [], alpha: 0.55 },
};

/** Paints the particles in front of the scene. */
export function paintWeather(ctx: SKRSContext2D, scene: Scene, frame: Frame): void {
  const fall = FALLS[scene.weather];
  const { width, height, unit, seconds } = frame;
  const roll = dice(scene.seed ^ 0x5e0f);
  const margin = unit * 0.05;
  for (let index = 0; index < fall.count; index++) {
    const near = 0.35 + 0.65 * roll();
    const phase = roll() * 7;
    const sway = Math.sin(seconds * 1.4 + phase) * fall.sway * unit;
    const x = wrap(roll() * width + sway + seconds * fall.wind * near * unit, width, margin);
    const y = wrap(roll() * height + seconds * fall.speed * near * unit, height, margin);
    const colour = fall.colours[Math.floor(roll() * fall.colours.length)] ?? scene.palette.light;
    paintPiece(ctx, scene.weather, {
      x,
      y,
      size: fall.size * near * unit,
      turn: seconds * 1.7 + phase,
      fall,
      roll,
      colour,
      near,
      unit,
    });
  }
}

interface Piece {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly turn: number;
  readonly fall: Fall;
  readonly roll: Dice;
  readonly colour: Rgb;
  /** Nearness, from 0 (far) to 1 (near). */
  readonly near: number;
  readonly unit: number;
}

function paintPiece(ctx: SKRSContext2D, weather: Weather, piece: Piece): void {
  const { x, y, size, fall, near, unit } = piece;
  const paint = css(piece.colour, fall.alpha * near);
  ctx.beginPath();
  switch (weather) {
    case 'rain':
      ctx.strokeStyle = paint;
      ctx.lineWidth = size;
      ctx.moveTo(x, y);
      ctx.lineTo(x - fall.wind * unit * 0.045 * near, y - fall.speed * unit * 0.045 * near);
      ctx.stroke();
      return;
    case 'bubbles':
      ctx.strokeStyle = paint;
      ctx.lineWidth = size * 0.22;
      ctx.arc(x, y, size, 0, Math.PI * 2);
      ctx.stroke();
      return;
    case 'leaves':
    case 'petals':
      ctx.ellipse(x, y, size, size * (0.25 + 0.3 * Math.abs(Math.sin(piece.turn))), piece.turn, 0, Math.PI * 2);
      break;
    case 'snow':
    case 'embers':
    case 'motes':
      ctx.arc(x, y, size, 0, Math.PI * 2);
  }
  ctx.fillStyle = paint;
  ctx.fill();
}

/** Wraps a moving particle around the frame: it leaves on one side and re-enters on the other. */
function wrap(at: number, span: number, margin: number): number {
  const period = span + margin * 2;
  return ((((at + margin) % period) + period) % period) - margin;
}
