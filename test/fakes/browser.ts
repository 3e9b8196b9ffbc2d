import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Switches that would hide defects: the page has to work with the browser's own security enabled. */
const HIDING_SWITCHES = [
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--single-process',
  '--no-zygote',
];
/** Switches that emulate a graphics card on the processor, for which every repaint takes several times as long. */
const EMULATING_SWITCHES = [
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
];
const REMOVED_SWITCHES = [...HIDING_SWITCHES, ...EMULATING_SWITCHES];

/** Bound of every wait in a page, in milliseconds. By default it is given up after 30 s, which a busy machine may take. */
const WITHIN_MS = 300_000;

/**
 * Starts the Chromium from npm, which `test/unpacked-browser.ts` unpacked into the temporary folder. It plays H.264 in MP4.
 * Close it when done.
 */
export async function launchBrowser(): Promise<Browser> {
  const args = chromium.args.filter((given) => !REMOVED_SWITCHES.includes(given));
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...args, '--disable-gpu', '--autoplay-policy=no-user-gesture-required'],
    headless: true,
  });
  browser.on('context', (context) => context.setDefaultTimeout(WITHIN_MS));
  return browser;
}
