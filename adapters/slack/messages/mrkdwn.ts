/** Escapes Slack's control characters (`&`, `<`, `>`) and nothing else. */
export function escapePlain(text: string): string {
  return text.replace(/[&<>]/gu, (sign) => ENTITIES[sign] ?? sign);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns typed text without Slack's markup: links become their URL and, unless `keepsMentions`, mentions of people, user
 * groups and channels their name. Unescapes entities last, so that typed text is never parsed as markup.
 */
export function unescapeText(text: string, { keepsMentions }: { readonly keepsMentions: boolean }): string {
  return text
    .replace(/<([^<>]*)>/gu, (mark, inner: string) => {
      if (/^[@#]/u.test(inner)) return keepsMentions ? mark : nameIn(inner);
      if (keepsMentions && inner.startsWith('!subteam^')) return mark;
      if (inner.startsWith('!')) return specialIn(inner);
      const [address = '', label] = inner.split('|', 2);
      return /^(?:mailto|tel):/iu.test(address) ? (label ?? address.replace(/^\w+:/u, '')) : address;
    })
    .replace(/&(lt|gt|amp);/gu, (entity, name: string) => SIGNS[name] ?? entity);
}

const SIGNS: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&' };

/** Turns `@U1|ada` into `@ada`. */
function nameIn(inner: string): string {
  const [id = '', name] = inner.slice(1).split('|', 2);
  return `${inner.slice(0, 1)}${name === undefined || name === '' ? id : name.replace(/^[@#]/u, '')}`;
}

/** Turns `!channel` into `@channel`, `!subteam^S1|@artists` into `@artists`, `!date^…|today` into `today`. */
function specialIn(inner: string): string {
  const [command = '', label] = inner.slice(1).split('|', 2);
  if (label !== undefined) return label;
  return `@${command.split('^', 1)[0] ?? ''}`;
}
