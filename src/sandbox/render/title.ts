import { type Canvas, createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import { FONTS } from '../../fonts.ts';
import type { FrameSize } from './job.ts';

interface Caption {
  readonly prompt: string;
  /** Small print below the prompt: length, ratio. */
  readonly facts: string;
}

/** Rendered caption, and its measures in pixels for the time line. */
export interface Captioned {
  /** Caption on a transparent canvas of the clip's size, drawn over every frame. */
  readonly overlay: Canvas;
  readonly margin: number;
  /** Font size of the small print. */
  readonly textSize: number;
}

/** Font sizes tried for the prompt, largest first, as shares of the short side of the frame. */
const TITLE_SIZES = [0.074, 0.066, 0.059, 0.052, 0.046, 0.041, 0.037, 0.033, 0.03];
/** Largest share of the frame height for the prompt. */
const TITLE_SHARE = 0.34;

/** Renders the prompt in the largest font size that fits, over a scrim that keeps it readable on any picture. */
export function setCaption(caption: Caption, { width, height }: FrameSize): Captioned {
  const overlay = createCanvas(width, height);
  const ctx = overlay.getContext('2d');
  const unit = Math.min(width, height);
  const margin = Math.round(unit * 0.07);
  const textSize = Math.max(11, Math.round(unit * 0.026));
  const title = fitTitle(ctx, caption.prompt, width - margin * 2, height * TITLE_SHARE, unit);
  const lineHeight = title.size * 1.18;
  const bottom = height - margin - textSize * 2.6;
  const top = bottom - lineHeight * (title.lines.length - 1) - title.size;
  paintScrim(ctx, { width, height }, top - unit * 0.2);
  ctx.textBaseline = 'alphabetic';
  ctx.shadowColor = 'rgba(0,0,0,0.35)';
  ctx.shadowBlur = title.size * 0.18;
  ctx.font = `${title.size}px ${FONTS.title}`;
  ctx.fillStyle = '#ffffff';
  title.lines.forEach((line, index) => {
    ctx.fillText(line, margin, bottom - lineHeight * (title.lines.length - 1 - index));
  });
  ctx.font = `${textSize}px ${FONTS.text}`;
  ctx.fillStyle = 'rgba(255,255,255,0.82)';
  ctx.fillText(caption.facts, margin, height - margin);
  return { overlay, margin, textSize };
}

function paintScrim(ctx: SKRSContext2D, { width, height }: FrameSize, top: number): void {
  const scrim = ctx.createLinearGradient(0, Math.max(0, top), 0, height);
  scrim.addColorStop(0, 'rgba(6,8,14,0)');
  scrim.addColorStop(0.5, 'rgba(6,8,14,0.4)');
  scrim.addColorStop(1, 'rgba(6,8,14,0.72)');
  ctx.fillStyle = scrim;
  ctx.fillRect(0, Math.max(0, top), width, height);
}

function fitTitle(ctx: SKRSContext2D, prompt: string, maxWidth: number, maxHeight: number, unit: number) {
  const words = wordsOf(prompt);
  let fitted: { readonly size: number; readonly lines: readonly string[] } = { size: 12, lines: [''] };
  for (const share of TITLE_SIZES) {
    const size = Math.max(12, Math.round(unit * share));
    ctx.font = `${size}px ${FONTS.title}`;
    const lines = wrapWords(words, maxWidth, (text) => ctx.measureText(text).width);
    fitted = { size, lines };
    // At most three lines, except for small font sizes.
    if (lines.length * size * 1.18 <= maxHeight && (lines.length <= 3 || share < 0.05)) return fitted;
  }
  const maxLines = Math.max(1, Math.floor(maxHeight / (fitted.size * 1.18)));
  const kept = fitted.lines.slice(0, maxLines);
  return {
    size: fitted.size,
    lines: kept.map((line, index) => (index === maxLines - 1 ? `${line.slice(0, -1)}…` : line)),
  };
}

/** Splits a prompt into pieces between which a line may break, by the rules of its script; collapses white space. */
function wordsOf(prompt: string): readonly string[] {
  const text = prompt.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
  const pieces: string[] = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)) {
    // Punctuation stays with the preceding word.
    if (isWordLike === true || segment === ' ' || pieces.length === 0 || pieces.at(-1) === ' ') pieces.push(segment);
    else pieces[pieces.length - 1] += segment;
  }
  return pieces;
}

/**
 * Wraps pieces of text into lines no wider than `maxWidth`; a piece wider than a line is broken inside.
 * @param widthOf returns the width of a text, in the unit of `maxWidth`.
 */
export function wrapWords(
  words: readonly string[],
  maxWidth: number,
  widthOf: (text: string) => number,
): readonly string[] {
  const lines: string[] = [];
  let line = '';
  const add = (piece: string): void => {
    if (widthOf((line + piece).trimEnd()) <= maxWidth) line += piece;
    else {
      if (line.trim() !== '') lines.push(line.trimEnd());
      line = piece.trimStart();
    }
  };
  for (const word of words) {
    if (widthOf(word) <= maxWidth) add(word);
    else for (const { segment } of new Intl.Segmenter().segment(word)) add(segment);
  }
  lines.push(line.trimEnd());
  return lines;
}
