/** Notices this close together stand under one header. */
const GROUP_MS = 5 * 60_000;

/**
 * @typedef {{ kind: 'day', timeMs: number } | { kind: 'new' } | { kind: 'message', message: any, isCompact: boolean }} Row
 */

/**
 * What stands in the log: the messages, a line where a day begins and one above what is new.
 * @param {readonly any[]} messages oldest first
 * @param {{ readUpTo: number | null, user: string }} reader `readUpTo`: the `order` of the last message that was read
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

/** The person a message answers, if it answers one. */
export function requesterOf({ clip, asked }) {
  return clip?.by ?? asked?.user;
}

/** A notice right below what it is about, or below another notice, needs no header of its own. */
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
