/** Escapes what Slack reads as control characters, and nothing else: for plain texts. */
export function escapePlain(text: string): string {
  return text.replace(/[&<>]/gu, (sign) => ENTITIES[sign] ?? sign);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * What somebody typed, without Slack's marks: links become their address, and where `keepsMentions` is false, people and
 * channels their name. Entities are undone last, so that nothing that was typed is read as a mark.
 */
export function unescapeText(text: string, { keepsMentions }: { readonly keepsMentions: boolean }): string {
  return text
    .replace(/<([^<>]*)>/gu, (mark, inner: string) => {
      if (/^[@#]/u.test(inner)) return keepsMentions ? mark : nameIn(inner);
      if (inner.startsWith('!')) return specialIn(inner);
      const [address = '', label] = inner.split('|', 2);
      return /^(?:mailto|tel):/iu.test(address) ? (label ?? address.replace(/^\w+:/u, '')) : address;
    })
    .replace(/&(lt|gt|amp);/gu, (entity, name: string) => SIGNS[name] ?? entity);
}

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&' };

/** `@U1|ada` as `@ada`. */
function nameIn(inner: string): string {
  const [id = '', name] = inner.slice(1).split('|', 2);
  return `${inner.slice(0, 1)}${name === undefined || name === '' ? id : name.replace(/^[@#]/u, '')}`;
}

/** `!channel` as `@channel`, `!subteam^S1|@artists` as `@artists`, `!date^…|today` as `today`. */
function specialIn(inner: string): string {
  const [command = '', label] = inner.slice(1).split('|', 2);
  if (label !== undefined) return label;
  return `@${command.split('^', 1)[0] ?? ''}`;
}
