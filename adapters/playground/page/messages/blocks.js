import { html } from 'htm/preact';
import { Line } from './card.js';

/** Text of a card, block by block. */
export function Blocks({ card, clip, busy, onJump, onPress }) {
  return html`
    <div class="card">
      ${card.blocks.map((block, index) => html`<${Block} key=${index} block=${block} clip=${clip} busy=${busy} onJump=${onJump} onPress=${onPress} />`)}
    </div>
  `;
}

function Block({ block, clip, busy, onJump, onPress }) {
  switch (block.kind) {
    case 'heading':
      return html`<h2 class="heading" dir="auto"><${Line} line=${block.line} onJump=${onJump} /></h2>`;
    case 'small':
      return html`<p class="small" dir="auto"><${Line} line=${block.line} clip=${clip} onJump=${onJump} /></p>`;
    case 'divider':
      return html`<hr />`;
    case 'table':
      return html`<${Table} block=${block} onJump=${onJump} />`;
    case 'item':
      return html`<${Item} block=${block} clip=${clip} busy=${busy} onJump=${onJump} onPress=${onPress} />`;
    default:
      return html`<p class=${clip === null ? '' : 'status'} dir="auto"><${Line} line=${block.line} clip=${clip} onJump=${onJump} /></p>`;
  }
}

/** Row of a title and small print, with its button at the end. A row that leads to a message is one link as a whole. */
function Item({ block: { title, small, accessory }, busy, onJump, onPress }) {
  const words = html`
    <span class="item-words">
      <span class="headline" dir="auto"><${Line} line=${title} onJump=${onJump} /></span>
      ${small.length > 0 && html`<span class="small" dir="auto"><${Line} line=${small} onJump=${onJump} /></span>`}
    </span>
  `;
  if (accessory?.message !== undefined && ![...title, ...small].some(isLink)) {
    return html`
      <button type="button" class="item item-link" onClick=${() => onJump(accessory.message)}>
        ${words}<span class="item-go">${accessory.label}</span>
      </button>
    `;
  }
  return html`
    <div class="item">
      ${words}
      ${accessory !== undefined && html`<${Accessory} accessory=${accessory} busy=${busy} onJump=${onJump} onPress=${onPress} />`}
    </div>
  `;
}

function isLink(part) {
  return typeof part === 'object' && ('message' in part || 'channel' in part || 'link' in part);
}

function Accessory({ accessory, busy, onJump, onPress }) {
  const { id, label, style = 'plain', message } = accessory;
  const press = id === undefined ? () => onJump(message) : () => busy === null && onPress(id);
  return html`
    <button type="button" class=${`button ${style}`} aria-busy=${id !== undefined && busy === id}
      aria-disabled=${id !== undefined && busy !== null} onClick=${press}>${label}</button>
  `;
}

function Table({ block: { columns, rows }, onJump }) {
  return html`
    <div class="table" role="region" aria-label=${columns.join(', ')} tabindex="0">
      <table>
        <thead><tr>${columns.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
        <tbody>
          ${rows.map(
            (cells, row) => html`
            <tr key=${row}>
              ${cells.map((line, at) => (at === 0 ? html`<th key=${at} scope="row"><${Line} line=${line} onJump=${onJump} /></th>` : html`<td key=${at}><${Line} line=${line} onJump=${onJump} /></td>`))}
            </tr>
          `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
