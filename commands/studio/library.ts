import { MAX_IMAGES, referenceNameOf } from '#src/teams/index.ts';
import { isLastFrame, splitAddresses } from '#src/videos/index.ts';
import type { Caller, GivenOptions, OptionDeclaration, Reply } from '../bot-port.ts';
import { nearest } from '../input/closest-match.ts';
import { optionValue } from '../input/options.ts';
import { type BotPorts, privately, refused, type Subcommand, teamOf } from '../input/subcommand.ts';
import { mayNotCreateHere } from '../policy/rules-here.ts';
import { noSuchImage, refusalSentence, refusalSentences } from '../sentences/refusals.ts';
import { pageButtons } from '../ui/buttons.ts';
import { facts, heading, item, layOut, small } from '../ui/card.ts';

/** Names that address everyone in a channel. */
const MENTIONS: ReadonlySet<string> = new Set(['everyone', 'here', 'channel']);

const options: readonly OptionDeclaration[] = [
  {
    name: 'change',
    description: 'add or remove, and a name, such as add @mug',
    kind: 'text',
    positional: true,
    maxLength: 4200,
    range: 'add or remove, and a name such as @mug',
    defaultWords: 'the list',
  },
  {
    name: 'image',
    description: 'Image to add, or a link to it',
    kind: 'address',
    repeated: true,
    range: 'one image',
  },
];

/** `/video library`: the team's reference images, which prompts use as `@mug`. */
export const library: Subcommand = {
  declaration: {
    name: 'library',
    description: 'Shows the team’s reference images; adds or removes one',
    example: '/video library',
    options,
    visibility: 'private',
  },
  run: async (ports, caller, given) => {
    if (caller.isExternal === true) return refused(NOT_THEIRS);
    const [verb = 'list', word = '', ...links] = (optionValue(given, 'change') ?? '').split(/\s+/u).filter(Boolean);
    if (verb.toLowerCase() === 'list') return showPage(ports, caller, { offset: 0 });
    const name = referenceNameOf(word);
    if (!isChange(verb))
      return refused('I don’t know what to change. Write “add @mug” with an image, or “remove @mug”.');
    if (name === null)
      return refused(
        'A name has 1 to 32 letters from a to z, digits and hyphens, such as @mug. A hyphen is neither first nor last.',
      );
    if (isLastFrame(`@${name}`))
      return refused('@last-frame stands for the last frame of the shot before, in a storyboard. Choose another name.');
    if (verb.toLowerCase() === 'add' && MENTIONS.has(name))
      return refused('That name notifies people in a chat. Choose another one.');
    return verb.toLowerCase() === 'add'
      ? add(ports, caller, name, [...links, ...(given['image'] ?? [])])
      : remove(ports, caller, name);
  },
  presses: { 'page:library': showPage },
};

/** Images on a page. */
const PAGE_LENGTH = 10;
const USE = 'Write its name in a prompt, such as “a mug like @mug on a table”, or give it as an image option.';

const NOT_THEIRS = 'The library belongs to the team of this workspace.';

async function showPage(ports: BotPorts, caller: Caller, { offset }: { readonly offset: number }): Promise<Reply> {
  if (caller.isExternal === true) return refused(NOT_THEIRS);
  const images = await ports.references.list(teamOf(caller));
  if (images.length === 0)
    return privately(
      layOut([['The library is empty. ', { code: '/video library add @mug' }, ' and an image adds one.']]),
    );
  const shown = images.slice(offset, offset + PAGE_LENGTH);
  const page = {
    page: { what: 'library', offset },
    length: PAGE_LENGTH,
    hasMore: images.length > offset + PAGE_LENGTH,
  } as const;
  const rows = shown.map(({ name, url, by, addedAtMs }) => {
    const picture = ports.pictures.forImage(url);
    const shown = picture && { ...picture, alt: `The image @${name}` };
    return item([{ code: `@${name}` }], facts([{ person: by }], [{ timeMs: addedAtMs }]), undefined, shown);
  });
  return privately(layOut([heading('Reference library'), ...rows, small(USE)], { buttons: pageButtons(page) }));
}

/** Returns whether words typed after `library` can be meant for the command: a prompt may begin with that word. */
export function isLibraryCommand(given: GivenOptions): boolean {
  const [verb = 'list', word] = (optionValue(given, 'change') ?? '').split(/\s+/u).filter(Boolean);
  return (isChange(verb) && word !== undefined) || (verb.toLowerCase() === 'list' && word === undefined);
}

function isChange(verb: string): boolean {
  return ['add', 'remove'].includes(verb.toLowerCase());
}

/** Adds an image, for anyone who may create clips here. Its file is kept until it is removed. */
async function add(ports: BotPorts, caller: Caller, name: string, given: readonly string[]): Promise<Reply> {
  const refusal = await mayNotCreateHere(ports, caller);
  if (refusal !== null) return refused(refusal);
  const all = given.flatMap(splitAddresses);
  const wrong = all.find((one) => !/^https?:\/\/\S+$/u.test(one) || !URL.canParse(one) || one.length > 4096);
  if (wrong !== undefined)
    return refused(refusalSentence({ reason: 'not_an_address', option: 'image', given: wrong }, caller.fields));
  const [url, ...others] = all;
  if (url === undefined || others.length > 0)
    return refused(`Add exactly one image to @${name}: attach it, or give a link to it.`);
  const team = teamOf(caller);
  const before = await ports.references.list(team);
  if (before.some((one) => one.name === name)) return refused(nameTaken(name));
  if (before.length >= MAX_IMAGES) return refused(LIBRARY_FULL);
  const unreachable = await ports.checkReferences({ media: { image: [url], audio: [], video: [] } });
  if (unreachable.length > 0) return refused(...refusalSentences(unreachable, caller.fields));
  const kept = await ports.libraryFiles.keep(url);
  if (kept !== 'kept' && kept !== 'elsewhere') return refused(imageFailed(kept));
  const outcome = await ports.references.add(team, { name, url, by: caller.user });
  if (outcome === 'added') {
    const link = kept === 'elsewhere' ? ' I keep the link alone: the image has to stay there.' : '';
    return privately(layOut([['Added ', { code: `@${name}` }, ` for the whole team.${link}`], small(USE)]));
  }
  await removeUnused(ports, team, url);
  return refused(outcome === 'taken' ? nameTaken(name) : LIBRARY_FULL);
}

function nameTaken(name: string): string {
  return `There is a @${name} already. Remove it first, or choose another name.`;
}

const LIBRARY_FULL = `The library has ${MAX_IMAGES} images, which is the most. Remove one first.`;

function imageFailed(reason: 'expires' | 'failed' | 'too_large' | 'no_image' | 'full'): string {
  switch (reason) {
    case 'expires':
      return 'This file’s link expires, and I can’t keep files without PUBLIC_URL. Give a link to the image instead.';
    case 'too_large':
      return 'This image is larger than 32 MB.';
    case 'no_image':
      return 'This file isn’t a PNG, JPEG, WebP or GIF image. Nothing was added.';
    case 'full':
      return 'My storage has reached its limit, so nothing was added. Your administrator has to remove old clips or raise the limit. A link to the image still works.';
    case 'failed':
      return 'I couldn’t fetch the image. Nothing was added. Try again.';
  }
}

/** Removes an image with its file, for who added it and those who administer the team. */
async function remove(ports: BotPorts, caller: Caller, name: string): Promise<Reply> {
  const team = teamOf(caller);
  const images = await ports.references.list(team);
  const image = images.find((one) => one.name === name);
  if (image === undefined)
    return refused(
      noSuchImage(
        name,
        nearest(
          name,
          images.map((one) => one.name),
        ),
      ),
    );
  if (image.by.id !== caller.user.id && !caller.mayAdminister)
    return refused(`Only ${image.by.name} or an administrator can remove @${name}.`);
  await ports.references.remove(team, image);
  await removeUnused(ports, team, image.url);
  return privately(layOut([['Removed ', { code: `@${name}` }, '. Clips made with it stay.']]));
}

/** Removes a file that no image of the team has, such as one that was added at the same moment. */
async function removeUnused(ports: BotPorts, team: ReturnType<typeof teamOf>, url: string): Promise<void> {
  const images = await ports.references.list(team);
  if (!images.some((one) => one.url === url)) await ports.libraryFiles.remove(url);
}
