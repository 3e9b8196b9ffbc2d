import { type Image, loadImage, type SKRSContext2D } from '@napi-rs/canvas';
import { FONTS } from './fonts.ts';
import type { Frame } from './painter.ts';
import { pixelsOf } from './picture-size.ts';

/** The most bytes read of one reference image. */
const MAX_BYTES = 30 * 1024 * 1024;
/** How long one reference image may take to arrive, from asking to its last byte. */
const TIMEOUT_MS = 10_000;
/** The most pixels of one reference image; asked of its header, since a small file can unpack to a huge picture. */
const MAX_PIXELS = 60_000_000;

/** Fetches one reference image. `null` where it cannot be had or is no PNG, JPEG or WebP: the clip says so instead of failing. */
export async function fetchReference(url: string): Promise<Image | null> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok || response.body === null) return null;
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BYTES) return null;
      chunks.push(chunk);
    }
    const picture = Buffer.concat(chunks);
    const pixels = pixelsOf(picture);
    return pixels === null || pixels > MAX_PIXELS ? null : await loadImage(picture);
  } catch {
    return null;
  }
}

/** Paints the reference images as a fan of prints in the upper left; a missing one is an empty print that says so. */
export function paintReferences(ctx: SKRSContext2D, prints: readonly (Image | null)[], frame: Frame): void {
  const { width, height, unit, seconds } = frame;
  const card = unit * (prints.length > 4 ? 0.2 : 0.27);
  const step = Math.min(card * 1.12, (width - unit * 0.2 - card) / Math.max(1, prints.length - 1));
  prints.forEach((image, index) => {
    const sway = Math.sin(seconds * 0.9 + index * 1.7) * 0.012;
    ctx.save();
    ctx.translate(unit * 0.09 + card / 2 + step * index, Math.min(height * 0.24, unit * 0.27));
    ctx.rotate((index % 2 === 0 ? -1 : 1) * 0.045 + sway);
    paintPrint(ctx, image, card, 1.03 + 0.07 * (seconds / frame.duration));
    ctx.restore();
  });
}

/** One print around the origin. @param zoom how far the camera has moved into the picture, at least 1. */
function paintPrint(ctx: SKRSContext2D, image: Image | null, card: number, zoom: number): void {
  const border = card * 0.055;
  ctx.fillStyle = 'rgba(0,0,0,0.28)';
  ctx.fillRect(-card / 2 + border * 0.6, -card / 2 + border * 0.9, card, card * 1.14);
  ctx.fillStyle = '#fbf8f1';
  ctx.fillRect(-card / 2, -card / 2, card, card * 1.14);
  const side = card - border * 2;
  ctx.beginPath();
  ctx.rect(-side / 2, -side / 2, side, side);
  ctx.clip();
  if (image === null) {
    ctx.fillStyle = '#d8d3c8';
    ctx.fillRect(-side / 2, -side / 2, side, side);
    ctx.fillStyle = '#6d675c';
    ctx.textAlign = 'center';
    ctx.font = `${Math.max(10, Math.round(card * 0.085))}px ${FONTS.text}`;
    ctx.fillText('reference', 0, -card * 0.02);
    ctx.fillText('unavailable', 0, card * 0.09);
    return;
  }
  const scale = (side / Math.min(image.width, image.height)) * zoom;
  ctx.drawImage(
    image,
    (-image.width * scale) / 2,
    (-image.height * scale) / 2,
    image.width * scale,
    image.height * scale,
  );
}
