/** Notices within this interval share one header. */
const GROUP_MS = 5 * 60_000;

/**
 * @typedef {{ kind: 'day', timeMs: number } | { kind: 'new' } | { kind: 'message', message: any, isCompact: boolean }} Row
 */

/**
 * Returns the rows of the log: the messages, a divider at the start of each day and one above new messages.
 * @param {readonly any[]} messages oldest first
 * @param {{ readUpTo: number | null, user: string }} reader `readUpTo`: `order` of the last read message
 * @returns {Row[]}
 */
export function rowsOf(messages, { readUpTo, user }) {
  const rows = [];
  let before = null;
  let isNewShown = readUpTo === null;
  for (const message of messages) {
    const isNewDay = before === null || dayOf(before.createdAtMs) !== dayOf(message.createdAtMs);
    if (isNewDay) rows.push({ kind: 'day', timeMs: message.createdAtMs });
    const isNew = !isNewShown && message.order > readUpTo && requesterOf(message) !== user;
    if (isNew) rows.push({ kind: 'new' });
    isNewShown ||= isNew;
    const follows = before !== null && !isNewDay && !isNew;
    rows.push({ kind: 'message', message, isCompact: follows && isCompact(message, before) });
    before = message;
  }
  return rows;
}

/** Returns the requester of a message; `undefined` if it has none. */
export function requesterOf({ clip, asked }) {
  return clip?.by ?? asked?.user;
}

/** Returns whether a message needs no header: a notice right below its subject or another recent notice. */
function isCompact(message, before) {
  if (!isNotice(message)) return false;
  if (message.replyTo === before.id) return true;
  return isNotice(before) && message.createdAtMs - before.createdAtMs < GROUP_MS;
}

function isNotice({ clip, asked, visibleTo, replyTo }) {
  return clip === null && asked === null && visibleTo === null && replyTo !== null;
}

function dayOf(timeMs) {
  return new Date(timeMs).toDateString();
}
