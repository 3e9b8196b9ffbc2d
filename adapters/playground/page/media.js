import { html } from './html.js';
import { DownloadIcon, FilmIcon } from './icons.js';

/** Phases in which a clip is still to be expected. */
const EXPECTING = ['queued', 'running', 'fetching'];

/** The clip, in a frame of its shape that is there from the start: when it comes, nothing moves. */
export function Media({ message: { clip, attachments, card } }) {
  const isExpected = clip !== null && EXPECTING.includes(clip.phase);
  if (attachments.length === 0) {
    return isExpected
      ? html`<${Frame} ratio=${clip.aspectRatio}><${Waiting} phase=${clip.phase} progress=${card.progress} /><//>`
      : null;
  }
  return attachments.map((file) => html`<${File} key=${file.name} file=${file} ratio=${clip?.aspectRatio ?? null} />`);
}

function Frame({ ratio, children }) {
  const [width, height] = (ratio ?? '16:9').split(':').map(Number);
  return html`<div class="frame" style=${{ '--ratio': String(width / height) }}>${children}</div>`;
}

function Waiting({ phase, progress }) {
  const words = { queued: 'Waiting its turn', running: 'In the making', fetching: 'Fetching the clip' }[phase];
  return html`
    <div class=${`waiting ${phase}`}>
      <${FilmIcon} />
      <span>${words}</span>
      ${
        progress !== null &&
        html`
        <div class="progress" role="progressbar" aria-label="Progress" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${progress}>
          <div class="progress-bar" style=${{ '--done': String(progress / 100) }}></div>
        </div>
      `
      }
    </div>
  `;
}

function File({ file, ratio }) {
  const { url, name, description, contentType, bytes } = file;
  const isVideo = contentType.startsWith('video/');
  return html`
    <figure class="file">
      ${
        isVideo &&
        html`
        <${Frame} ratio=${ratio}>
          <video src=${url} controls playsinline preload="metadata" title=${description} aria-label=${description}></video>
        <//>
      `
      }
      <figcaption>
        <a class="download" href=${url} download=${name}><${DownloadIcon} /><span>${name}</span></a>
        <span class="size">${size(bytes)}</span>
      </figcaption>
    </figure>
  `;
}

function size(bytes) {
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 1
    ? `${Math.max(1, Math.round(bytes / 1024))} KB`
    : `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB`;
}
