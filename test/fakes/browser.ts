import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/** Switches that would hide what a test is to find: the page has to work with a browser's own walls up. */
const NOT_WANTED = ['--disable-web-security', '--allow-running-insecure-content', '--single-process', '--no-zygote'];

/**
 * Starts the Chromium that came with npm; it unpacks itself into the folder for temporary files at the first time.
 * It plays H.264 in MP4. Close it when done.
 */
export async function launchBrowser(): Promise<Browser> {
  const args = chromium.args.filter((given) => !NOT_WANTED.includes(given));
  return playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...args, '--autoplay-policy=no-user-gesture-required'],
    headless: true,
  });
}
