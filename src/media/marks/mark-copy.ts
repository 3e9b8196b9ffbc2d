import { open } from 'node:fs/promises';
import { type FileMarks, MARK_NAMES, type MarkKind, readMarks, XMP_BOX } from './read-marks.ts';

/** How a file was made of others. */
type CopyKind = 'encoded' | 'joined';

/** Values of `stEvt:action`. @see Adobe XMP Specification, part 2 (2016), 1.2.5.4 */
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
  const file = await open(path, 'a');
  try {
    await file.writeFile(xmpBox(how, [...had], sources.includes(null)));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** @see https://iptc.org/std/photometadata/specification/IPTC-PhotoMetadata#digital-source-type */
const SOURCE_TYPE = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia';

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
    `<rdf:Description rdf:about="" Iptc4xmpExt:DigitalSourceType="${SOURCE_TYPE}" dailies:lostMarks="${lost.join(' ')}">`,
    `<xmpMM:History><rdf:Seq><rdf:li ${event}/></rdf:Seq></xmpMM:History>`,
    '</rdf:Description></rdf:RDF></x:xmpmeta>',
    '<?xpacket end="r"?>',
  ];
  const content = Buffer.concat([Buffer.from(`uuid`), Buffer.from(XMP_BOX, 'hex'), Buffer.from(packet.join('\n'))]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(size.length + content.length);
  return Buffer.concat([size, content]);
}
