import chromium from '@sparticuz/chromium';

/**
 * Unpacks the browser once before all tests: it unpacks itself on first use, and a worker that meets the file while another
 * one writes it cannot start it (`ETXTBSY`).
 */
export default async function unpackBrowser(): Promise<void> {
  await chromium.executablePath();
}
