/** Red, green and blue, each 0 to 255. */
export type Rgb = readonly [number, number, number];

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
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

/** Formats a colour for the canvas. `alpha` from 0 (transparent) to 1, the default. */
export function css(colour: Rgb, alpha = 1): string {
  return `rgba(${colour.map(Math.round).join(',')},${alpha.toFixed(3)})`;
}
