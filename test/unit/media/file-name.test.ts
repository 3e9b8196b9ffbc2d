import { expect, it } from 'vitest';
import { fileNameOf } from '#src/media/file-name.ts';
import { newTask } from '#test/fakes/tasks.ts';

const id = '7f3a000000000000' as ReturnType<typeof newTask>['id'];
const nameOf = (prompt: string): string => fileNameOf({ id, request: { ...newTask().request, prompt } });

it.each([
  ['a red fox running through snow, cinematic', 'red-fox-running-snow-7f3a.mp4'],
  ['Ein kleiner Bär im Café', 'ein-kleiner-bar-im-7f3a.mp4'],
  ['Ünïcödé', 'unicode-7f3a.mp4'],
  ['../../etc/passwd', 'etc-passwd-7f3a.mp4'],
  ['a\r\nb"; rm -rf /', 'b-rm-rf-7f3a.mp4'],
  ['赤い狐が雪の中を走る', '赤い狐が雪の中を走る-7f3a.mp4'],
  ['हिन्दी में', 'हिन्दी-में-7f3a.mp4'],
  ['🦊🦊🦊', 'clip-7f3a.mp4'],
  ['\uFE0F🦊\uFE0F fox \u200Bin\u2060 1\uFE0F\u20E3', 'fox-1⃣-7f3a.mp4'],
  ['🏔\uFE0F fo\u00ADx', 'fox-7f3a.mp4'],
  ['the', 'clip-7f3a.mp4'],
])('%j is named %s', (prompt, expected) => {
  expect(nameOf(prompt)).toBe(expected);
});

it('is short for any prompt', () => {
  expect(nameOf('x'.repeat(5_000))).toBe(`${'x'.repeat(40)}-7f3a.mp4`);
});

it('splits no character', () => {
  expect(nameOf('𠮷'.repeat(50))).toBe(`${'𠮷'.repeat(40)}-7f3a.mp4`);
});
