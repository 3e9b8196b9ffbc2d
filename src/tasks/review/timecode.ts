/** Hours, minutes and seconds, such as `0:03`, `00:00:03.5`; an aspect ratio such as `16:9` is none. */
const CLOCK = /^(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d(?:[.,]\d{1,3})?)$/u;
/** Seconds alone, such as `3s`, `3.5 s`. */
const SECONDS = /^(\d{1,4}(?:[.,]\d{1,3})?) ?(?:s|sec|seconds?)$/iu;

/** Parses a time in a clip. @returns seconds; `null` for any other text. */
export function parseTimecode(text: string): number | null {
  const [, hours = '0', minutes, seconds] = CLOCK.exec(text.trim()) ?? [];
  if (minutes !== undefined && seconds !== undefined)
    return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds.replace(',', '.'));
  const [, alone] = SECONDS.exec(text.trim()) ?? [];
  return alone === undefined ? null : Number(alone.replace(',', '.'));
}

/** Splits a timecode from the beginning of a note: `0:03 too dark`, `[0:03] - too dark`. */
export function leadingTimecode(note: string): { readonly atSeconds: number | null; readonly text: string } {
  const [, code = '', text = ''] =
    /^[[(]?(\d[\d:.,]*(?: ?s(?:ec(?:onds?)?)?)?)[\])]?\s*[-–—:,]?\s+(\S.*)$/isu.exec(note.trim()) ?? [];
  const atSeconds = parseTimecode(code.replace(/[:,.]$/u, ''));
  return atSeconds === null ? { atSeconds, text: note.trim() } : { atSeconds, text: text.trim() };
}

/** Formats a time in a clip: `0:03`, `1:02.5`. */
export function formatTimecode(atSeconds: number): string {
  const minutes = Math.floor(atSeconds / 60);
  const [whole = '0', fraction] = String(Math.round((atSeconds - minutes * 60) * 1_000) / 1_000).split('.');
  return `${minutes}:${whole.padStart(2, '0')}${fraction === undefined ? '' : `.${fraction}`}`;
}
