/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [number, number, number];

/** Parses a colour in the form `#rrggbb`. */
export function hex(text: string): Rgb {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** Converts a hue (degrees), saturation and lightness (0 to 1). */
export function hsl(hue: number, saturation: number, lightness: number): Rgb {
  const reach = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number): number => {
    const k = (((offset + hue / 30) % 12) + 12) % 12;
    return 255 * (lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1)));
  };
  return [channel(0), channel(8), channel(4)];
}

/** Interpolates between two colours: 0 is `from`, 1 is `to`. */
export function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const between = (channel: 0 | 1 | 2): number => from[channel] + (to[channel] - from[channel]) * share;
  return [between(0), between(1), between(2)];
}

/** Formats a colour for the canvas. `alpha` from 0 (transparent) to 1, the default. */
export function css(colour: Rgb, alpha = 1): string {
  return `rgba(${colour.map(Math.round).join(',')},${alpha.toFixed(3)})`;
}
