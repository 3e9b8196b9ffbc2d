/** Returns a document with new text in the section between `<!-- name: … -->` and `<!-- /name -->`. */
export function withSection(document: string, name: string, text: string): string {
  const section = new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(<!-- /${name} -->)`, 'u');
  if (!section.test(document)) throw new TypeError(`the document has no section for ${name}`);
  return document.replace(section, (_, begin: string, end: string) => `${begin}${text}\n${end}`);
}

/** Returns a Markdown table; `|` within a cell is escaped. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
