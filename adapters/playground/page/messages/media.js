import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { FIRST_PICTURE, showFirst } from '#src/http/shared-page/player.js';
import { DownloadIcon, FilmIcon, PlayIcon } from '../icons.js';
import { isPending, PENDING_WORDS } from './phases.js';

/** Clip in a frame of its aspect ratio, reserved from the start to avoid a layout shift; where it is not known, the file tells. */
export function Media({ message }) {
  const { clip, attachments, card } = message;
  if (attachments.length === 0) {
    return isPending(clip)
      ? html`<${Frame} ratio=${clip.aspectRatio}><${Waiting} phase=${clip.phase} progress=${card.progress} /><//>`
      : null;
  }
  return attachments.map((file) => html`<${File} key=${file.name} file=${file} message=${message} />`);
}

/** @param {object} props `own`: ratio of the file, once it is known; one that is nearly as given moves nothing */
function Frame({ ratio, own = null, children }) {
  const [width, height] = (ratio ?? '16:9').split(':').map(Number);
  const isAsGiven = own === null || Math.abs((own * height) / width - 1) < 0.01;
  return html`<div class="frame" style=${{ '--ratio': String(isAsGiven ? width / height : own) }}>${children}</div>`;
}

/** Progress of a clip, read as one: `Progress of the clip, Rendering, 42 %`. Without a percentage, in words alone. */
function Waiting({ phase, progress }) {
  const words = PENDING_WORDS[phase];
  return html`
    <div class=${`waiting ${phase}`} role="progressbar" aria-label="Progress of the clip" aria-valuenow=${progress ?? undefined}
      aria-valuetext=${progress === null ? words : `${words}, ${progress} %`}>
      <${FilmIcon} />
      <span>${words}</span>
      ${progress !== null && html`<div class="progress"><div class="progress-bar" style=${{ '--done': String(progress / 100) }}></div></div>`}
    </div>
  `;
}

function File({ file, message: { clip, task } }) {
  const { url, name, description, contentType, bytes } = file;
  const [own, setOwn] = useState(null);
  const isVideo = contentType.startsWith('video/');
  return html`
    <figure class="file">
      ${
        isVideo &&
        html`
        <${Frame} ratio=${clip?.aspectRatio} own=${own}>
          <${Single} ...${screenOf(file)} poster=${task === null ? undefined : screenOf(file).poster} onRatio=${setOwn} />
        <//>
      `
      }
      ${contentType.startsWith('image/') && html`<img class="picture" src=${url} alt=${description} />`}
      <figcaption class="small">
        <a class="download" href=${`${url}?download`} download=${name}><${DownloadIcon} /><span>${name}</span></a>
        ${clip?.isBlind !== true && html`<span class="size">${size(bytes)}</span>`}
      </figcaption>
    </figure>
  `;
}

/** Returns the clip of an attachment as a player takes it. */
export function screenOf({ url, description }) {
  return { url, poster: `${url}?poster`, description };
}

/** Video player without native controls until it is played, since they would cover the picture. */
function Single({ url, description, poster, onRatio }) {
  const video = useRef(null);
  const [isStarted, setStarted] = useState(false);
  const play = () => {
    setStarted(true);
    video.current.focus();
    video.current.play().catch(() => {});
  };
  return html`
    <video ref=${video} src=${url} poster=${poster} controls=${isStarted} playsinline preload="metadata" title=${description} aria-label=${description}
      tabindex=${isStarted ? 0 : -1} onPlay=${() => setStarted(true)} onSeeking=${({ target }) => target.currentTime > FIRST_PICTURE && setStarted(true)}
      onLoadedData=${showFirst} onLoadedMetadata=${({ target }) => onRatio(target.videoWidth > 0 ? target.videoWidth / target.videoHeight : null)}></video>
    ${
      !isStarted &&
      html`<button type="button" class="play" aria-label=${`Play: ${description}`} onClick=${play}><span><${PlayIcon} /></span></button>`
    }
  `;
}

function size(bytes) {
  const megabytes = bytes / 1024 / 1024;
  return megabytes < 1
    ? `${Math.max(1, Math.round(bytes / 1024))} KB`
    : `${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB`;
}
