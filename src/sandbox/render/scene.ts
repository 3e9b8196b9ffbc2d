import { hex, hsl, mix, type Rgb } from './colour.ts';
import { dice, seedOf } from './dice.ts';
import words from './vocabulary.json' with { type: 'json' };

/** Land and what stands on it; measures in short sides of the frame. */
type Place = (typeof words.places)[keyof typeof words.places];
/** What falls or floats; speed, wind, sway and size in short sides of the frame, per second where they move. */
type Weather = (typeof words.weathers)[keyof typeof words.weathers];
/** Animal or thing: its figure, and how it moves; lift and bob in its sizes, travel in widths of the frame. */
type Subject = (typeof words.subjects)[keyof typeof words.subjects];

interface Palette {
  /** Sky at the top, middle and horizon. */
  readonly sky: readonly [Rgb, Rgb, Rgb];
  /** Colour of the farthest land; `near` is the nearest. */
  readonly far: Rgb;
  readonly near: Rgb;
  /** Sun, moon or lamp, and everything that it lights. */
  readonly light: Rgb;
}

/** What a prompt says, seen in a way of the task's own. */
export interface Scene extends Palette {
  readonly seed: number;
  readonly place: Place;
  readonly weather: Weather;
  readonly subject: Subject | null;
  /** True: the subject does not run. */
  readonly isStill: boolean;
  /** Colour that the prompt gives the subject. */
  readonly accent: Rgb | null;
  readonly hasStars: boolean;
  readonly isSnowy: boolean;
  readonly isMirrored: boolean;
  /** Share of the frame above the horizon. */
  readonly horizon: number;
  /** Sun or moon: shares of the width, and of the sky from the top. */
  readonly sun: readonly [across: number, down: number];
  /** Where the subject starts, as a share of the width. */
  readonly subjectAt: number;
  /** Size of the subject, around 1. */
  readonly scale: number;
}

const { moods, places, weathers, subjects } = words;
/** Places of a prompt that names none. */
const ANYWHERE: readonly Place[] = [places.forest, places.mountains];

/** Reads the scene out of a prompt; what it leaves open is drawn from the task, so that no two takes are alike. */
export function sceneOf(prompt: string, task: string): Scene {
  const terms = (prompt.toLowerCase().match(/\p{L}+/gu) ?? []).map(formsOf);
  const roll = dice(seedOf(`${task} ${prompt}`));
  const mood = find(terms, moods)?.row;
  const weather = find(terms, weathers)?.row ?? weathers.motes;
  const subject = find(terms, subjects);
  const home = Object.entries(places).find(([name]) => name === subject?.row.home)?.[1];
  const { accent, tint } = coloursOf(terms, subject?.at ?? -1);
  const palette = paletteOf(mood ?? moods.dawn, tint ?? (mood ? null : hsl(seedOf(prompt) % 360, 0.7, 0.5)), 0.45);
  const isSnowy = weather === weathers.snow;
  const ground = isSnowy && mood !== moods.snow ? paletteOf(moods.snow, palette.sky[1], 0.45) : palette;
  const shade = hsl(roll() * 360, 0.6, 0.3 + roll() * 0.4);
  return {
    ...toned({ ...palette, far: ground.far, near: ground.near }, shade, 0.14),
    seed: seedOf(task),
    place: find(terms, places)?.row ?? home ?? ANYWHERE[Math.floor(roll() * 3)] ?? places.hills,
    weather,
    subject: subject?.row ?? null,
    isStill: find(terms, words.still) !== undefined,
    accent,
    hasStars: mood === moods.night || mood === moods.neon || mood === moods.dusk,
    isSnowy,
    isMirrored: roll() < 0.5,
    horizon: 0.38 + roll() * 0.14,
    // Under water, the light is above the surface.
    sun: [0.08 + roll() * 0.84, mood === moods.deep ? -0.12 : 0.2 + roll() * 0.5],
    subjectAt: 0.16 + roll() * 0.3,
    scale: 0.8 + roll() * 0.55,
  };
}

/** Returns a word as the vocabulary may have it: as written, and without its ending. */
function formsOf(word: string): readonly string[] {
  return [word, word.replace(/s$/, ''), word.replace(/(es|ing|y)$/, '')];
}

/** Finds the first row of a table that a prompt has a word of, and where that word is. */
function find<Name extends string, Row extends { readonly words: string }>(
  terms: readonly (readonly string[])[],
  table: Readonly<Record<Name, Row>>,
) {
  for (const name of Object.keys(table) as Name[]) {
    const row = table[name];
    const known = row.words.split(' ');
    const at = terms.findIndex((forms) => forms.some((form) => known.includes(form)));
    if (at >= 0) return { name, row, at };
  }
  return undefined;
}

/** Reads the colours: the last of the three words before the subject is the subject's, the first other one the scene's. */
function coloursOf(terms: readonly (readonly string[])[], subjectAt: number) {
  const found = terms.flatMap((forms, at) => {
    const name = find([forms], words.colours)?.name;
    return name === undefined ? [] : [{ at, colour: hex(name) }];
  });
  const own = found.findLast(({ at }) => at < subjectAt && at >= subjectAt - 3);
  return { accent: own?.colour ?? null, tint: found.find((entry) => entry !== own)?.colour ?? null };
}

function paletteOf(mood: { readonly palette: string }, tone: Rgb | null, share: number): Palette {
  const [top, middle, low, far, near, light] = mood.palette.split(' ').map(hex) as [Rgb, Rgb, Rgb, Rgb, Rgb, Rgb];
  return toned({ sky: [top, middle, low], far, near, light }, tone ?? top, tone === null ? 0 : share);
}

/** Mixes a tone into the colours; less into the light. */
function toned({ sky, far, near, light }: Palette, tone: Rgb, share: number): Palette {
  const to = (colour: Rgb): Rgb => mix(colour, tone, share);
  return {
    sky: [to(sky[0]), to(sky[1]), to(sky[2])],
    far: to(far),
    near: to(near),
    light: mix(light, tone, share / 3),
  };
}
