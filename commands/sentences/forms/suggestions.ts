import type { Task } from '#src/tasks/task.ts';
import type { Model } from '#src/videos/model.ts';
import type { Suggestion } from '../../bot-port.ts';
import { stateWord } from '../cards/history.ts';
import { priceWords, secondsWords } from '../cards/models.ts';
import { formatDuration, formatMonth, shorten } from '../format.ts';

/** Maximum length of a suggestion's label on the platforms. */
const LABEL_LENGTH = 100;

/** Suggests a model: `Swift 1 · $0.05 per second · 4, 6 or 8 s (default)`. */
export function modelSuggestion(model: Model, isDefault: boolean): Suggestion {
  const label = withDefaultMark(`${model.title} · ${priceWords(model)} · ${secondsWords(model)}`, isDefault);
  return { value: model.name, label: shorten(label, LABEL_LENGTH), terms: [model.name, model.title] };
}

/** Suggests a task: `red fox running · done · 3 h ago`. */
export function taskSuggestion(task: Task, nowMs: number): Suggestion {
  const age = `${formatDuration(nowMs - task.createdAtMs)} ago`;
  return { value: task.id, label: `${shorten(task.request.prompt, 60)} · ${stateWord(task)} · ${age}` };
}

/** Suggests a month: `November 2026`. */
export function monthSuggestion(month: string): Suggestion {
  return { value: month, label: formatMonth(month) };
}

/** Marks the default value. */
export function withDefaultMark(label: string, isDefault: boolean): string {
  return isDefault ? `${label} (default)` : label;
}
