import { useRef, useState } from 'preact/hooks';
import { newId } from '#src/http/shared-page/new-id.js';
import { act } from '../api.js';

/** A sent message stays in the log for at most this long after its response, until the response message arrives. */
const RESPONSE_TIMEOUT_MS = 5_000;

/**
 * Optimistic messages in flight, shown in the log as soon as they are sent. A retry uses the same id, so that a message
 * the bot did receive is handled once.
 * @param {object} board
 * @param {{ onForm: (form: any) => void, onRefused: (entry: any, error: string) => void }} handlers
 */
export function useOutbox(board, { onForm, onRefused }) {
  const [entries, setEntries] = useState([]);
  /** Ids of messages without a known outcome, by user, channel and text. */
  const unsettled = useRef(new Map());
  const change = (id, changes) =>
    setEntries((before) => before.map((entry) => (entry.id === id ? { ...entry, ...changes } : entry)));
  const remove = (id) => setEntries((before) => before.filter((entry) => entry.id !== id));

  const deliver = async (entry) => {
    const { id, user, channel, text } = entry;
    const key = JSON.stringify([user, channel, text]);
    unsettled.current.set(key, id);
    const answer = await act('interactions', { id, user, channel, text });
    if (answer.offline || !answer.settled) return change(id, { error: answer.error });
    unsettled.current.delete(key);
    if (!answer.ok) {
      remove(id);
      return onRefused(entry, answer.error);
    }
    if (answer.form !== null) onForm(answer.form);
    if (answer.message === null) return remove(id);
    change(id, { answer: answer.message });
    setTimeout(() => remove(id), RESPONSE_TIMEOUT_MS);
  };

  const send = (user, channel, text) => {
    const id = unsettled.current.get(JSON.stringify([user, channel, text])) ?? newId();
    const entry = { id, user, channel, text, error: '', answer: null };
    setEntries((before) => [...before.filter((other) => other.id !== id), entry]);
    void deliver(entry);
  };
  const again = (entry) => {
    change(entry.id, { error: '' });
    void deliver(entry);
  };

  // A failed message waits for the user to retry it; a reconnect alone sends nothing.
  const isShown = ({ user, channel, answer }) =>
    user === board.user && channel === board.channel && (answer === null || board.find(answer) === undefined);
  const shown = entries
    .filter(isShown)
    .map((entry) => ({ ...entry, again: () => again(entry), discard: () => remove(entry.id) }));
  return { entries: shown, send };
}
