import { hex, hsl, type Rgb } from '../colour.ts';
import { dice, pick, seedOf } from '../dice.ts';

/** Colours of a scene. */
export interface Palette {
  /** Sky at the top, middle and horizon. */
  readonly sky: readonly [Rgb, Rgb, Rgb];
  /** Colour of the farthest land; `near` is the nearest. */
  readonly far: Rgb;
  readonly near: Rgb;
  /** Sun, moon or lamp. */
  readonly light: Rgb;
}

/** Kind of ground. */
export type Land = 'hills' | 'peaks' | 'dunes' | 'forest' | 'city' | 'sea';
/** Kind of weather or particles. */
export type Weather = 'snow' | 'rain' | 'embers' | 'leaves' | 'petals' | 'bubbles' | 'motes';
/** Animals that run through the scene; `creature.ts` defines their shapes. */
export const ANIMALS = ['fox', 'wolf', 'dog', 'cat', 'horse', 'deer'] as const;
export type Animal = (typeof ANIMALS)[number];
/** Subject of a scene. */
export type Subject = Animal | 'birds' | 'boat' | 'balloon' | null;

/** Scene of a prompt; the same prompt gives the same scene. */
export interface Scene {
  readonly seed: number;
  readonly palette: Palette;
  readonly land: Land;
  readonly weather: Weather;
  readonly subject: Subject;
  /** True: the sky has stars. */
  readonly stars: boolean;
  /** Position of sun or moon: 0 to 1 across, 0 to 1 from the top down to the horizon. */
  readonly light: { readonly across: number; readonly down: number };
}

type Mood = 'dawn' | 'day' | 'dusk' | 'night' | 'storm' | 'snow' | 'desert' | 'wood' | 'deep' | 'neon' | 'fire';

const MOODS: Readonly<Record<Mood, Palette>> = {
  dawn: palette('#33487d #c07a8a #ffd3b0', '#bb8f9d', '#2b2746', '#fff1d0'),
  day: palette('#2f7fc8 #86c3ee #eaf5fb', '#9cc0d3', '#1f4a3b', '#fffbe6'),
  dusk: palette('#1d1b4c #8d3b72 #ff9a56', '#a3486b', '#190f2d', '#ffd9a0'),
  night: palette('#050816 #10204a #345288', '#2a4473', '#050a18', '#f3f0dc'),
  storm: palette('#20262e #46525f #8f9ca6', '#7b8891', '#171c22', '#d8e2e8'),
  snow: palette('#6e93bd #b4cce3 #f6ecdf', '#b5cade', '#e9f1f8', '#fff4d9'),
  desert: palette('#c9713a #f0b264 #fbe6b5', '#dca05e', '#7a3f1d', '#fff3cf'),
  wood: palette('#2f5a4f #86ad8f #ecedc8', '#7fa38b', '#0d231b', '#fdf6c9'),
  deep: palette('#17a2b8 #0a5f86 #04263f', '#0b4a6b', '#01131f', '#d9fbff'),
  neon: palette('#0b0420 #3b0f6b #e0338b', '#54207f', '#080214', '#ffe1f4'),
  fire: palette('#140405 #5a1410 #f0662b', '#7c2415', '#120304', '#ffd28a'),
};

/** Keywords of a scene; of each kind, the first match in the prompt applies. */
const MOOD_WORDS: readonly (readonly [RegExp, Mood])[] = [
  [/\b(neon|cyberpunk|synthwave|vaporwave)\b/, 'neon'],
  [/\b(underwater|coral|reef|submarine|whales?|jellyfish)\b/, 'deep'],
  [/\b(fire|flames?|lava|volcano|inferno|dragons?)\b/, 'fire'],
  [/\b(night|midnight|moon(lit|light)?|stars?|galaxy|space|aurora)\b/, 'night'],
  [/\b(sunset|dusk|evening|twilight)\b/, 'dusk'],
  [/\b(dawn|sunrise|morning)\b/, 'dawn'],
  [/\b(storm\w*|rain\w*|thunder|fog\w*|grey|gray)\b/, 'storm'],
  [/\b(snow\w*|winter|ice|icy|frost\w*|arctic|blizzard)\b/, 'snow'],
  [/\b(desert|dunes?|sahara|sand\w*|camels?)\b/, 'desert'],
  [/\b(forest|woods?|jungle|trees?|pines?)\b/, 'wood'],
  [/\b(sun\w*|day|noon|summer|spring|beach|sky)\b/, 'day'],
];

const LAND_WORDS: readonly (readonly [RegExp, Land])[] = [
  [/\b(sea|ocean|waves?|beach|lake|river|water|boats?|ships?|sail\w*|harbou?r|island)\b/, 'sea'],
  [/\b(city|street|skyline|tokyo|paris|london|town|building\w*|skyscraper\w*|neon|cyberpunk)\b/, 'city'],
  [/\b(desert|dunes?|sahara|camels?)\b/, 'dunes'],
  [/\b(mountains?|peaks?|alps|volcano|cliffs?|himalaya\w*)\b/, 'peaks'],
  [/\b(forest|woods?|jungle|trees?|pines?|fox|wolf|deer)\b/, 'forest'],
  [/\b(hills?|meadow|field|valley|grass|farm)\b/, 'hills'],
];

const WEATHER_WORDS: readonly (readonly [RegExp, Weather])[] = [
  [/\b(snow\w*|winter|blizzard)\b/, 'snow'],
  [/\b(rain\w*|storm\w*|monsoon)\b/, 'rain'],
  [/\b(fire|flames?|lava|embers?|volcano|dragons?|sparks?)\b/, 'embers'],
  [/\b(autumn|fall|leaf|leaves)\b/, 'leaves'],
  [/\b(cherry|blossoms?|petals?|spring|sakura|wedding)\b/, 'petals'],
  [/\b(underwater|coral|reef|submarine|whales?|jellyfish|bubbles?)\b/, 'bubbles'],
];

const SUBJECT_WORDS: readonly (readonly [RegExp, Subject])[] = [
  ...ANIMALS.map((animal) => [new RegExp(`\\b${animal}(e?s)?\\b`), animal] as const),
  [/\b(wolves|puppy|puppies|husky|coyote)\b/, 'wolf'],
  [/\b(kitten|tiger|lion|leopard)s?\b/, 'cat'],
  [/\b(boats?|ships?|sail\w*|yachts?)\b/, 'boat'],
  [/\b(balloons?)\b/, 'balloon'],
  [/\b(birds?|gulls?|eagles?|cranes?|flying)\b/, 'birds'],
];

const HUE_WORDS: readonly (readonly [RegExp, number])[] = [
  [/\b(red|crimson|scarlet)\b/, 4],
  [/\b(orange|amber)\b/, 28],
  [/\b(yellow|gold\w*)\b/, 46],
  [/\b(green|emerald)\b/, 140],
  [/\b(teal|turquoise|cyan)\b/, 180],
  [/\b(blue|azure)\b/, 215],
  [/\b(purple|violet)\b/, 275],
  [/\b(pink|magenta)\b/, 325],
];

/** Derives a scene from the keywords of a prompt; the rest is random, seeded by the prompt. */
export function sceneOf(prompt: string): Scene {
  const seed = seedOf(prompt);
  const roll = dice(seed);
  const words = prompt.toLowerCase();
  const mood = firstMatch(words, MOOD_WORDS);
  const palette = mood === undefined ? palettesByHue(firstMatch(words, HUE_WORDS) ?? roll() * 360) : MOODS[mood];
  const subject = firstMatch(words, SUBJECT_WORDS);
  return {
    seed,
    palette,
    land:
      mood === 'deep'
        ? 'hills'
        : (firstMatch(words, LAND_WORDS) ?? pick<Land>(roll, ['hills', 'peaks', 'dunes', 'forest', 'sea'])),
    weather: firstMatch(words, WEATHER_WORDS) ?? 'motes',
    subject: subject ?? (roll() < 0.5 ? 'birds' : null),
    stars: mood === 'night' || mood === 'neon' || mood === 'dusk',
    // Under water, the light is above the surface.
    light: { across: 0.58 + roll() * 0.28, down: mood === 'deep' ? -0.12 : 0.3 + roll() * 0.4 },
  };
}

function firstMatch<T>(words: string, table: readonly (readonly [RegExp, T])[]): T | undefined {
  return table.find(([pattern]) => pattern.test(words))?.[1];
}

function palette(sky: string, far: string, near: string, light: string): Palette {
  const [top = '', middle = '', horizon = ''] = sky.split(' ');
  return { sky: [hex(top), hex(middle), hex(horizon)], far: hex(far), near: hex(near), light: hex(light) };
}

/** Returns a palette around one hue, with the horizon shifted to a neighbouring hue. */
function palettesByHue(hue: number): Palette {
  return {
    sky: [hsl(hue, 0.45, 0.2), hsl(hue + 22, 0.48, 0.47), hsl(hue + 48, 0.75, 0.8)],
    far: hsl(hue + 18, 0.35, 0.52),
    near: hsl(hue - 8, 0.45, 0.11),
    light: hsl(hue + 55, 0.9, 0.9),
  };
}
