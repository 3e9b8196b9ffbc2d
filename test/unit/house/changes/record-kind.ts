/** A file with a new kind of record. */
export const FILE = 'src/teams/references.ts';

/** The kind, without what it says about people. */
const BARE = `
const captions = collection<TeamKey, Versioned & { readonly by: Person; readonly text: string }>({
  name: 'captions',
  key: keyOfTeam,
  holds: 'a caption of a team, with who wrote it',
});

/** Writes the caption of a team. */
export async function writeCaption(store: Pick<Store, 'keyv' | 'commit'>, team: TeamKey, by: Person): Promise<void> {
  await captions.change<undefined>(store, team, () => ({ value: { by, text: 'made with care' }, result: undefined }));
}

export async function readCaption(store: Pick<Store, 'keyv'>, team: TeamKey) {
  return captions.get(store, team);
}

`;

const PERSONAL = `  personal: {
    keyFor: keyOfTeam,
    forget: (caption, { person, pseudonym }) => withoutPerson(caption, person.id, pseudonym),
    export: ({ by, text }, { person }) => (by.id === person.id ? [{ record: 'caption', text }] : []),
  },
`;

const BEFORE = '/** Reads and changes the reference images';

/** The kind as a whole, as CONTRIBUTING describes it, and without its last part. */
export const RECORD_KIND = {
  bare: { file: FILE, before: BEFORE, lines: BARE },
  personal: {
    file: FILE,
    before: `});

/** Writes the caption`,
    lines: PERSONAL,
  },
};
