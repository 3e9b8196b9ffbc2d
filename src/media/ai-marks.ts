import { appendFile, type FileHandle, open } from 'node:fs/promises';
import { boxesOf } from '../mp4-boxes.ts';
import type { ClipStorage } from '../storage/index.ts';
import type { Task } from '../tasks/index.ts';

/**
 * Kinds of marks, by what a file says about itself: `c2pa` and `credentials` are Content Credentials, which name AI or do not;
 * `iptc` is the digital source type; `aigc` is the label of the Chinese standard; `text` is a sentence. Copies hold these names.
 */
type MarkKind = 'c2pa' | 'credentials' | 'iptc' | 'aigc' | 'text';

/** Names of marks, in the order in which they are listed. */
export const MARK_NAMES: Readonly<Record<MarkKind, string>> = {
  c2pa: 'Content Credentials (C2PA)',
  credentials: 'Content Credentials (C2PA)',
  iptc: 'IPTC digital source type (XMP)',
  aigc: 'AIGC label (GB 45438)',
  text: 'a text in its metadata',
};

/** What a video file says about AI. */
export interface FileMarks {
  readonly kinds: readonly MarkKind[];
  /** Marks that the file's sources had and a copy of ours has lost, by its own metadata. */
  readonly lost: readonly MarkKind[];
  /** Texts that are marks, as they are in the file. */
  readonly texts: readonly string[];
}

/** Headers that are read: an hour of fragments has more, but keeps its marks before them. */
const MAX_BOXES = 2_000;
/** Bytes of contents that are read in all. A manifest has 10 to 100 KB. */
const MAX_BYTES = 2 * 1024 ** 2;
/** Bytes of one box that are read. */
const MAX_BOX_BYTES = 512 * 1024;
const MAX_TEXTS = 8;
const MAX_TEXT_LENGTH = 500;

/** @see https://spec.c2pa.org/specifications/specifications/2.4/specs/C2PA_Specification.html#uuid_box */
const C2PA_BOX = 'd8fec3d61b0e483c92975828877ec481';
/** Purposes of a box that holds a manifest, after four bytes of version and flags; `merkle` is an annex to one. */
const C2PA_MANIFEST = /^.{4}(?:manifest|original|update)\0/su;
/** `uuid` box of XMP in MPEG-4. @see Adobe XMP Specification, part 3 (2016), MPEG-4 */
const XMP_BOX = 'be7acfcb97a942e89c71999491e3afac';

/**
 * Also of media composed with generated parts; not `algorithmicMedia`, which is made without a model.
 * @see https://cv.iptc.org/newscodes/digitalsourcetype/
 */
const SOURCE_TYPE = /trainedAlgorithmicMedia/iu;
/**
 * In XMP or as a key of the metadata, with the label in JSON.
 * @see https://www.tc260.org.cn/front/postDetail.html?id=20250828165129 (GB 45438-2025, practice guide for video files)
 */
const AIGC = /AIGC/u;
const AIGC_LABEL = /Label\W{1,20}[123]/u;
/** English sentences, such as “Made with Google AI”. */
const SAYS_AI =
  /(?<!\b(?:not|isn['’]t) )(?:(?:made|generated|created|produced) (?:with|by|using) (?:\w{1,20} )?(?:AI|artificial intelligence)\b|\bAI[- ](?:generated|made)\b)/iu;
/** Attribute of `markCopy`: the kinds of marks that a copy lost. */
const LOST = /dailies:lostMarks="([a-z0-9 ]*)"/u;

/**
 * Reads which marks of AI an MP4 or QuickTime file carries: from headers and small contents, never from all of it. What is
 * cut off or damaged carries none.
 * @returns `null` where the file is of another kind, or has no header.
 * @throws Error of the file system
 */
export async function readMarks(path: string): Promise<FileMarks | null> {
  const file = await open(path);
  try {
    return await new MarkReader(file).read((await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** Reads the marks of a task's clip; `null` where its file is not on this machine, or says nothing that can be read. */
export type MarksOf = (task: Pick<Task, 'id' | 'clip' | 'removal'>) => Promise<FileMarks | null>;

/** Creates the function that reads the marks of clips. It never rejects, and brings no file here. */
export function createMarksOf(storage: Pick<ClipStorage, 'pathOf'>): MarksOf {
  return async ({ id, clip, removal }) => {
    if (clip === undefined || removal !== undefined) return null;
    try {
      return await readMarks(storage.pathOf(id));
    } catch {
      return null;
    }
  };
}

class MarkReader {
  readonly #file: FileHandle;
  readonly #kinds = new Set<MarkKind>();
  readonly #lost = new Set<MarkKind>();
  readonly #texts = new Set<string>();
  readonly #left = { boxes: MAX_BOXES };
  #bytesLeft = MAX_BYTES;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async read(fileBytes: number): Promise<FileMarks | null> {
    let hasHeader = false;
    for await (const box of boxesOf(this.#file, [0, fileBytes], this.#left)) {
      if (box.until > fileBytes) break;
      if (box.uuid === C2PA_BOX) this.#readManifest(await this.#contentOf(box));
      if (box.uuid === XMP_BOX) this.#readXmp((await this.#contentOf(box)).toString());
      if (box.name === 'udta' || box.name === 'meta') this.#readTexts(await this.#contentOf(box));
      if (box.name !== 'moov') continue;
      hasHeader = true;
      for await (const part of boxesOf(this.#file, [box.from, box.until], this.#left)) {
        const isText = part.name === 'udta' || part.name === 'meta';
        if (isText && part.until <= box.until) this.#readTexts(await this.#contentOf(part));
      }
    }
    if (!hasHeader) return null;
    const inOrder = (kinds: ReadonlySet<MarkKind>) => markKinds().filter((kind) => kinds.has(kind));
    return { kinds: inOrder(this.#kinds), lost: inOrder(this.#lost), texts: [...this.#texts].slice(0, MAX_TEXTS) };
  }

  #readManifest(content: Buffer): void {
    const text = content.toString('latin1');
    if (C2PA_MANIFEST.test(text)) this.#kinds.add(SOURCE_TYPE.test(text) ? 'c2pa' : 'credentials');
  }

  #readXmp(text: string): void {
    const lost = LOST.exec(text)?.[1]?.split(' ') ?? [];
    for (const kind of markKinds()) if (lost.includes(kind)) this.#lost.add(kind);
    if (SOURCE_TYPE.test(text)) this.#kinds.add('iptc');
    if (AIGC.test(text) && AIGC_LABEL.test(text)) this.#kinds.add('aigc');
    if (SAYS_AI.test(text)) this.#kinds.add('text');
  }

  /** Reads texts between what is no text: their boxes differ by maker, and may be nested at will. */
  #readTexts(content: Buffer): void {
    const all = content.toString();
    const hasLabel = AIGC.test(all) && AIGC_LABEL.test(all);
    if (hasLabel) this.#kinds.add('aigc');
    // QuickTime has XMP here.
    if (SOURCE_TYPE.test(all)) this.#kinds.add('iptc');
    for (const text of all.split(/[\p{Cc}\uFFFD]+/u)) {
      const says = SAYS_AI.test(text);
      if (says) this.#kinds.add('text');
      const isLabel = hasLabel && AIGC_LABEL.test(text);
      // Its name may be the key of its box.
      const name = isLabel && !AIGC.test(text) ? 'AIGC ' : '';
      if (says || isLabel) this.#texts.add(`${name}${text.slice(0, MAX_TEXT_LENGTH)}`);
    }
  }

  async #contentOf({ from, until }: { readonly from: number; readonly until: number }): Promise<Buffer> {
    const bytes = Math.min(until - from, MAX_BOX_BYTES, this.#bytesLeft);
    this.#bytesLeft -= bytes;
    const { bytesRead, buffer } = await this.#file.read(Buffer.alloc(bytes), 0, bytes, from);
    return buffer.subarray(0, bytesRead);
  }
}

function markKinds(): readonly MarkKind[] {
  return Object.keys(MARK_NAMES) as readonly MarkKind[];
}

/** How a file was made of others. */
type CopyKind = 'encoded' | 'joined';

/** Values of `stEvt:action`. @see Adobe XMP Specification, part 2 (2016), ResourceEvent */
const ACTIONS: Readonly<Record<CopyKind, string>> = { encoded: 'converted', joined: 'edited' };

const MADE: Readonly<Record<CopyKind, string>> = {
  encoded: 'Encoded again, which may have weakened an invisible watermark.',
  joined: 'Joined from clips without encoding them again.',
};

/**
 * Appends metadata to an MP4 file that was made of clips: that it is made with AI, and which marks of theirs it has lost. A
 * manifest of C2PA is one of them: it is bound to the bytes of its file, and would call this one forged.
 * @param sources marks of the clips; `null` for one whose marks cannot be read.
 * @throws Error of the file system
 */
export async function markCopy(path: string, how: CopyKind, sources: readonly (FileMarks | null)[]): Promise<void> {
  const own = await readMarks(path);
  // Nothing is appended to what is no MP4.
  if (own === null) return;
  const had = new Set(sources.flatMap((source) => (source === null ? [] : [...source.kinds, ...source.lost])));
  for (const kind of ['iptc', ...own.kinds] as const) had.delete(kind);
  await appendFile(path, xmpBox(how, [...had], sources.includes(null)), { flush: true });
}

/** @see https://iptc.org/std/photometadata/specification/IPTC-PhotoMetadata#digital-source-type */
const GENERATED = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';

const NAMESPACES = {
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  Iptc4xmpExt: 'http://iptc.org/std/Iptc4xmpExt/2008-02-29/',
  xmpMM: 'http://ns.adobe.com/xap/1.0/mm/',
  stEvt: 'http://ns.adobe.com/xap/1.0/sType/ResourceEvent#',
  dailies: 'urn:dailies:marks',
};

function xmpBox(how: CopyKind, lost: readonly MarkKind[], isPartlyUnread: boolean): Buffer {
  const names = [...new Set(lost.map((kind) => MARK_NAMES[kind]))].join(', ');
  const losses = [
    ...(names === '' ? [] : [`Marks of the original that were lost: ${names}.`]),
    ...(isPartlyUnread ? ['Marks of an original could not be read, and were lost.'] : []),
  ];
  const words = [MADE[how], ...losses].join(' ');
  const spaces = Object.entries(NAMESPACES).map(([prefix, uri]) => `xmlns:${prefix}="${uri}"`);
  const event = `stEvt:action="${ACTIONS[how]}" stEvt:softwareAgent="Dailies" stEvt:parameters="${words}"`;
  const packet = [
    '<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>',
    `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF ${spaces.join(' ')}>`,
    `<rdf:Description rdf:about="" Iptc4xmpExt:DigitalSourceType="${GENERATED}" dailies:lostMarks="${lost.join(' ')}">`,
    `<xmpMM:History><rdf:Seq><rdf:li ${event}/></rdf:Seq></xmpMM:History>`,
    '</rdf:Description></rdf:RDF></x:xmpmeta>',
    '<?xpacket end="r"?>',
  ];
  const content = Buffer.concat([Buffer.from(`uuid`), Buffer.from(XMP_BOX, 'hex'), Buffer.from(packet.join('\n'))]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(size.length + content.length);
  return Buffer.concat([size, content]);
}
