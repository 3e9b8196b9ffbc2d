/** Yields items in arrays of `size`, the last one of what is left. */
export function* chunked<Item>(items: Iterable<Item>, size: number): Generator<readonly Item[]> {
  let chunk: Item[] = [];
  for (const item of items) {
    chunk.push(item);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
