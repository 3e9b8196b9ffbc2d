import type { Insertion } from './change.ts';

/** A new setting of a clip, as CONTRIBUTING describes an option of `/video create`: the last part is its words. */
export const CLIP_SETTING = [
  { file: 'src/videos/request.ts', before: '}\nexport type SettingName', lines: '  readonly seed: number;\n' },
  { file: 'src/videos/request.ts', before: '  /** Name of the style that', lines: '  readonly seed?: number;\n' },
  {
    file: 'src/videos/model.ts',
    before: '];\n\n/** Returns the setting of an option',
    lines: `  {
    name: 'seed',
    field: 'seed',
    wireName: 'seed',
    kind: 'number',
    unit: '',
    min: 1,
    schema: z.int('must be a whole number').min(1, 'must be at least 1').optional(),
    offerOf: () => ({ min: 1, max: 999_999, step: 1 }),
    defaultOf: () => undefined,
  },
`,
  },
  {
    file: 'commands/sentences/settings.ts',
    before: '};\n\n/** Words for reference media',
    lines: "  seed: { description: 'Number by which a clip can be made alike', label: 'Seed' },\n",
  },
] as const satisfies readonly Insertion[];
