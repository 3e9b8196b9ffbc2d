import { Path2D, type SKRSContext2D } from '@napi-rs/canvas';
import figures from './figures.json' with { type: 'json' };

/** Part of a figure: a path, and the joints that it hangs from, the outer one first. */
interface Part {
  readonly fill: string;
  readonly path: Path2D;
  readonly joints: readonly (readonly number[])[];
}

const PARTS = new Map<string, readonly Part[]>();

/**
 * Paints a figure around the origin: one unit long or high, facing right.
 * @param colours colours of the named parts.
 * @param phase of its movement, in radians.
 */
export function paintFigure(
  ctx: SKRSContext2D,
  name: string,
  colours: Readonly<Record<string, string>>,
  phase = 0,
): void {
  for (const { fill, path, joints } of partsOf(name)) {
    ctx.save();
    for (const [x = 0, y = 0, reach = 0, shift = 0, rest = 0] of joints) {
      ctx.translate(x, y);
      ctx.rotate(rest + reach * Math.sin(phase + shift));
      ctx.translate(-x, -y);
    }
    ctx.fillStyle = colours[fill] ?? fill;
    ctx.fill(path);
    ctx.restore();
  }
}

/** Reads parts such as `accent@.36,.05,-.95,0,0 M0 0L1 0`: fill; x, y, reach, shift and rest of each joint; SVG path. */
function partsOf(name: string): readonly Part[] {
  const known = PARTS.get(name);
  if (known !== undefined) return known;
  const texts = (figures as Readonly<Record<string, readonly string[]>>)[name] ?? [];
  const parts = texts.map((text) => {
    const [look = '', ...path] = text.split(' ');
    const [fill = '', ...joints] = look.split('@');
    return { fill, path: new Path2D(path.join(' ')), joints: joints.map((joint) => joint.split(',').map(Number)) };
  });
  PARTS.set(name, parts);
  return parts;
}
