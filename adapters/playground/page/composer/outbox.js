import { useRef, useState } from 'preact/hooks';
import { act, newId } from '../api.js';

/** An answered message stands as sent for at most this long, until the answer itself arrives. */
const ANSWER_ARRIVES_MS = 5_000;

/**
 * Messages that were sent and are not answered yet. A message stands in the log from the moment it was sent; one that
 * may have been taken all the same is sent again under the same id, and done once.
 * @param {object} board
 * @param {{ onForm: (form: any) => void, onRefused: (entry: any, error: string) => void }} handlers
 */
export function useOutbox(board, { onForm, onRefused }) {
  const [entries, setEntries] = useState([]);
  /** Ids under which a text may have been taken, by what was sent. */
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
    setTimeout(() => remove(id), ANSWER_ARRIVES_MS);
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

  // What failed because the bot could not do it waits for the person; a bot that is back takes nothing by itself.
  const isShown = ({ user, channel, answer }) =>
    user === board.user && channel === board.channel && (answer === null || board.find(answer) === undefined);
  const shown = entries
    .filter(isShown)
    .map((entry) => ({ ...entry, again: () => again(entry), discard: () => remove(entry.id) }));
  return { entries: shown, send };
}
