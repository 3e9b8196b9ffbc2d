import { html } from 'htm/preact';
import { useRef, useState } from 'preact/hooks';
import { FIRST_PICTURE, Player, showFirst } from '#src/http/shared-page/player.js';
import { DownloadIcon, FilmIcon, PlayIcon } from '../icons.js';
import { isPending, PENDING_WORDS } from './phases.js';

/** Clip in a frame of its aspect ratio, reserved from the start to avoid a layout shift; where it is not known, the file tells. */
export function Media({ message }) {
  const { clip, task, attachments, card } = message;
  const clips = clipsOn(message);
  if (clips.length > 0) return html`<${Clips} clips=${clips} />`;
  if (attachments.length === 0) {
    return isPending(clip)
      ? html`<${Frame} ratio=${clip.aspectRatio}><${Waiting} phase=${clip.phase} progress=${card.progress} /><//>`
      : null;
  }
  return attachments.map((file) => html`<${File} key=${file.name} file=${file} clip=${clip} task=${task} />`);
}

/** Returns the clips on the card of a set, in its order: those that are there, with their files, and those to come. */
function clipsOn({ tasks = [], attachments }) {
  return tasks
    .map((one) => ({ clip: null, ...one, file: attachments.find(({ name }) => name === one.file) }))
    .filter(({ clip, file }) => file !== undefined || isPending(clip));
}

/** Clips of a set: each in a frame of its own, or all in step. */
function Clips({ clips }) {
  const [isInStep, setInStep] = useState(false);
  const screens = clips.flatMap(({ task, name, file }) =>
    file === undefined ? [] : [{ ...screenOf(file), id: task, label: name }],
  );
  const isWide = clips.every(({ clip }) => ratioOf(clip.aspectRatio) > 1);
  const columns = clips.length === 4 && isWide ? 2 : clips.length;
  return html`
    ${
      isInStep && screens.length > 1
        ? html`<${Player} clips=${screens} />`
        : html`<div class="clips" style=${{ '--columns': String(columns) }}>${clips.map((one) => html`<${File} key=${one.task} ...${one} />`)}</div>`
    }
    ${
      screens.length > 1 &&
      html`<button type="button" class="plain-link in-step" onClick=${() => setInStep(!isInStep)}>${isInStep ? 'Play one by one' : 'Play side by side'}</button>`
    }
  `;
}

/** Returns the width of a clip by its height. */
function ratioOf(aspectRatio) {
  const [width, height] = (aspectRatio ?? '16:9').split(':').map(Number);
  return width / height;
}

/** @param {object} props `own`: ratio of the file, once it is known; one that is nearly as given moves nothing */
function Frame({ ratio, own = null, children }) {
  const given = ratioOf(ratio);
  const isAsGiven = own === null || Math.abs(own / given - 1) < 0.01;
  return html`<div class="frame" style=${{ '--ratio': String(isAsGiven ? given : own) }}>${children}</div>`;
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

/**
 * File of a message, or the frame of one to come, which is not read out: the lines of the card tell its progress.
 * @param {object} props `name`: of the clip on the card of its set
 */
function File({ file, clip, task, name: label, progress }) {
  const [own, setOwn] = useState(null);
  if (file === undefined) {
    return html`
      <figure class="file" aria-hidden="true">
        <${Frame} ratio=${clip.aspectRatio}><${Waiting} phase=${clip.phase} progress=${progress} /><//>
        <figcaption class="small"><b>${label}</b></figcaption>
      </figure>
    `;
  }
  const { url, name, contentType, bytes } = file;
  const description = label === undefined ? file.description : `${label}: ${file.description}`;
  const isVideo = contentType.startsWith('video/');
  return html`
    <figure class="file" data-task=${task}>
      ${
        isVideo &&
        html`
        <${Frame} ratio=${clip?.aspectRatio} own=${own}>
          <${Single} ...${screenOf(file)} description=${description} poster=${task === null ? undefined : screenOf(file).poster} onRatio=${setOwn} />
        <//>
      `
      }
      ${contentType.startsWith('image/') && html`<img class="picture" src=${url} alt=${description} />`}
      <figcaption class="small">
        ${label !== undefined && html`<b>${label}</b>`}
        <a class="download" href=${`${url}?download`} download=${name} title=${label && name}
          aria-label=${label && `Download ${label}`}><${DownloadIcon} /><span>${label === undefined ? name : 'Download'}</span></a>
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
