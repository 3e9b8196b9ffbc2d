import { test as base, expect } from 'vitest';
import { slackManifest } from '#adapters/slack/installation/manifest.ts';
import { startDiscord } from '#test/fakes/discord/index.ts';
import { startSlack } from '#test/fakes/slack/index.ts';
import { type FakeVideoServiceOptions, startVideoService } from '#test/fakes/video-service.ts';
import { makeDir, type RunningDailies, startDailies } from './dailies.ts';

const DEFAULT: FakeVideoServiceOptions = {};

/**
 * Test with fixtures, each made for the test that names it and removed after it.
 *
 * @see https://vitest.dev/guide/test-context.html
 */
export const test = base
  /** Path of an empty folder. */
  .extend('dir', async ({ onTestFinished }) => {
    const { path, remove } = await makeDir();
    onTestFinished(remove);
    return path;
  })
  /** Options of `upstream`, for `test.override`. */
  .extend('service', DEFAULT)
  /** Video service. */
  .extend('upstream', async ({ service, onTestFinished }) => {
    const upstream = await startVideoService(service);
    onTestFinished(() => upstream.close());
    return upstream;
  })
  /** Fake Discord; the test fails if the program violated its rules. */
  .extend('discord', async ({ onTestFinished }) => {
    const discord = await startDiscord();
    onTestFinished(async () => {
      const violations = [...discord.violations];
      await discord.close();
      expect(violations).toEqual([]);
    });
    return discord;
  })
  /** Fake Slack with the app's manifest; the test fails if the program violated its rules. */
  .extend('slack', async ({ onTestFinished }) => {
    const slack = await startSlack({ manifest: slackManifest(null) });
    onTestFinished(async () => {
      const violations = [...slack.violations];
      await slack.close();
      expect(violations).toEqual([]);
    });
    return slack;
  })
  /** Starts the program with `upstream` in `dir`, the first time or again. */
  .extend('start', async ({ dir, upstream, onTestFinished }) => async (env: Environment = {}) => {
    const dailies: RunningDailies = await startDailies({ dir, upstream, env });
    onTestFinished(() => dailies.kill());
    return dailies;
  });

type Environment = Readonly<Record<string, string>>;
