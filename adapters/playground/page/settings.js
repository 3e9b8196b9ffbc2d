import { html } from 'htm/preact';
import { useEffect, useReducer, useState } from 'preact/hooks';
import { useLoaded } from '#src/http/shared-page/events.js';
import { newId } from '#src/http/shared-page/new-id.js';
import { act, read } from './api.js';
import { FormDialog } from './form.js';
import { Blocks, Buttons } from './messages/card.js';
import { spoken } from './messages/spoken.js';

/**
 * The administrators' page: the cards of the commands with panels, whose forms open over it, and the audit log beside them.
 * @param {object} props `isLive`: whether the page is connected; what it shows is read again after a lost connection
 */
export function Settings({ isLive, settingsRef, user, channel, models, known, onJump, onTrouble }) {
  const [reads, again] = useReducer((count) => count + 1, 0);
  const [error, setError] = useState(null);
  const [form, setForm] = useState(null);
  const [busy, setBusy] = useState(null);
  /** Card that answered the last press or form, with the name of its command: it says what was changed. */
  const [answer, setAnswer] = useState({ name: '' });
  const load = async () => {
    const { cards } = await read('settings', { user, channel });
    setError(null);
    return cards;
  };
  const [cards] = useLoaded(() => (isLive ? load() : null), [isLive, reads], setError);
  const show = (name, card) => {
    setAnswer({ name, card });
    again();
  };
  const press = async (name, button) => {
    if (busy !== null) return;
    setBusy(button);
    const pressed = await act('presses', { id: newId(), user, channel, button });
    setBusy(null);
    if (!pressed.ok) onTrouble(pressed.error);
    else if (pressed.form === null) show(name, pressed.card);
    else setForm({ ...pressed.form, command: name });
  };
  // The button that was pressed may be gone with its card, and its form is.
  useEffect(() => {
    if (document.activeElement === document.body) document.getElementById(`settings-${answer.name}`)?.focus();
  }, [answer]);
  const section = ({ name, card }) => {
    const shown = (name === answer.name && answer.card) || card;
    return html`
      <section key=${name} class="panel" id=${`settings-${name}`} tabindex="-1">
        <${Blocks} card=${shown} clip=${null} busy=${busy} onJump=${onJump} onPress=${(button) => press(name, button)} />
        <${Buttons} buttons=${shown.buttons} busy=${busy} onPress=${(button) => press(name, button)} />
      </section>
    `;
  };
  const [audit, ...panels] = cards ?? [];
  const isRefused = error?.status === 403;
  return html`
    <div class="settings" ref=${settingsRef} tabindex="-1" aria-busy=${cards === null && error === null}>
      ${cards === null && error === null && html`<p class="quiet">Loading…</p>`}
      ${error !== null && html`<p class=${isRefused ? '' : 'trouble'} role="alert">${error.message}</p>`}
      ${error !== null && !isRefused && html`<button type="button" class="button" onClick=${again}>Try again</button>`}
      ${cards !== null && html`<p class="small">“Here” is #${channel}. For another channel, open the settings from there.</p>`}
      <div class="panels">${panels.map(section)}</div>
      ${audit !== undefined && html`<aside aria-label="Audit log">${section(audit)}</aside>`}
      <div class="sr" role="status">${answer.card && spoken(answer.card)}</div>
      ${form !== null && html`<${FormDialog} key=${form.id} form=${form} models=${models} known=${known} user=${user} channel=${channel} onForm=${setForm} onAnswer=${(_message, _from, card) => show(form.command, card)} onClose=${() => setForm(null)} />`}
    </div>
  `;
}
