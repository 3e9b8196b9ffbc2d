import { modelOf, orderSummary } from './order.js';

/**
 * Autocompletion of commands: a pure function of the text, the caret and the declared commands. It is here and not on
 * the server because the next key may be Enter, which accepts an offer or sends: the answer may not arrive after it.
 *
 * @typedef {{ insert: string, label: string, detail: string }} Offer `insert` replaces `from`…`to`
 * @typedef {{ command: string, option: string, typed: string, given: Record<string, string[]> }} Question request to the server
 * @typedef {object} Completion
 * @property {Offer[]} offers
 * @property {number} from
 * @property {number} to
 * @property {boolean} isEager true: Enter accepts the first offer; else Enter sends
 * @property {Question | null} question request for further offers
 * @property {{ title: string, text: string } | null} hint description of the current input
 * @property {any[]} options options that may still be added
 * @property {any} option option whose value is being typed
 */

const NOTHING = { offers: [], from: 0, to: 0, isEager: false, question: null, hint: null, options: [], option: null };

/**
 * Returns the offers for the text at the caret.
 * @param {string} text
 * @param {number} caret
 * @param {readonly any[]} commands
 * @param {{ users: string[], channels: string[] }} known
 * @param {readonly any[]} [models] the catalog, for the price of an order
 * @returns {Completion}
 */
export function complete(text, caret, commands, known, models = []) {
  const before = text.slice(0, caret);
  if (before.trim() === '') return NOTHING;
  if (!text.startsWith('/')) return plainText(text, models);
  if (/^\/\S*$/.test(before)) return completeName(before, commands);
  const [, first = ''] = /^\/video\s+(\S*)$/.exec(before) ?? [];
  if (/^\/video\s+\S*$/.test(before)) {
    const found = subcommands(first, before.length, commands);
    if (found.offers.length > 0) return found;
  }
  if (!/^\/video\s/.test(before)) return NOTHING;
  return completeArguments(text, before, { commands, known, models });
}

/** Completes text without a command: Enter sends it as it is, and the bot asks; the offer turns it into a command. */
function plainText(text, models) {
  const insert = `/video create ${text.trim()}`;
  const price = orderSummary({}, models);
  const offer = { insert, label: '/video create', detail: `Make a clip of this${price === null ? '' : ` · ${price}`}` };
  return {
    ...NOTHING,
    offers: [offer],
    to: text.length,
    hint: { title: 'Enter', text: 'asks before anything is bought' },
  };
}

function completeName(before, commands) {
  if (!'/video'.startsWith(before)) return NOTHING;
  return subcommands(before === '/video' ? null : '', before.length, commands);
}

/** @param {string | null} prefix typed part of the name; `null`: a bare `/video`, which Enter sends as it is */
function subcommands(prefix, to, commands) {
  const offers = commands
    .filter(({ name }) => name.startsWith(prefix ?? ''))
    .map(({ name, description, options }) => ({
      insert: `/video ${name}${options.length > 0 ? ' ' : ''}`,
      label: `/video ${name}`,
      detail: description,
    }));
  const isWhole = prefix === null || commands.some(({ name }) => name === prefix);
  return { ...NOTHING, offers, to, isEager: !isWhole };
}

/** Completes the options and values after the subcommand. */
function completeArguments(text, before, { commands, known, models }) {
  const { words, current, from } = split(before);
  const [, name = ''] = words;
  const named = commands.find((command) => command.name === name);
  const command = named ?? commands.find((candidate) => candidate.name === 'create');
  if (command === undefined) return NOTHING;
  const parsed = parse(words.slice(named === undefined ? 1 : 2), command);
  const isOrder = command.name === 'create';
  // The order includes the text after the caret.
  const whole = parse(split(`${text} `).words.slice(named === undefined ? 1 : 2), command).given;
  const rest = command.options.filter(
    (option) =>
      !option.positional &&
      (option.repeated || parsed.given[option.name] === undefined) &&
      (!isOrder || takesOption(option.name, whole, models)),
  );
  const base = { from, to: before.length, options: rest };
  if (parsed.open !== null) return value(parsed.open, { command, current, given: parsed.given, base, known });
  if (current.startsWith('-')) return flags(current, rest, base);
  const positional = command.options.find((option) => option.positional);
  if (positional === undefined) return { ...NOTHING, ...base };
  const isFirst = (parsed.given[positional.name] ?? []).length === 0;
  if (positional.autocomplete !== undefined && isFirst) {
    return value(positional, { command, current, given: parsed.given, base, known });
  }
  const summary = isOrder && !isFirst ? orderSummary(whole, models) : null;
  const hint =
    summary === null ? { title: positional.name, text: positional.description } : { title: 'Order', text: summary };
  return { ...NOTHING, ...base, hint };
}

/**
 * Returns whether the chosen model takes an option (or one more value of it).
 * @param {string} option
 * @param {Given} given
 * @param {readonly Model[]} models
 */
function takesOption(option, given, models) {
  const model = modelOf(given.model?.[0], models);
  if (model === undefined) return true;
  if (model.settings.some(({ name }) => name === option)) return true;
  if (models.some(({ settings }) => settings.some(({ name }) => name === option))) return false;
  const limits = model.media.find(({ name }) => name === option);
  const isMedia = models.some(({ media }) => media.some(({ name }) => name === option));
  return limits === undefined ? !isMedia : limits.max > (given[option]?.length ?? 0);
}

/** Splits the text into the words before the caret and the one at it (empty after a space). Quotes group words. */
function split(before) {
  const words = [...before.matchAll(/"[^"]*"?|\S+/g)];
  const last = words.at(-1);
  const isOpen = last !== undefined && last.index + last[0].length === before.length && !/^".*"$/s.test(last[0]);
  const done = isOpen ? words.slice(0, -1) : words;
  return {
    words: done.map(([word]) => word),
    current: isOpen ? last[0] : '',
    from: isOpen ? last.index : before.length,
  };
}

/** Parses the words into values by option, and the option that still lacks its value. */
function parse(words, command) {
  const given = {};
  let open = null;
  const positional = command.options.find((option) => option.positional);
  for (const word of words) {
    const option = word.startsWith('--') ? command.options.find(({ name }) => `--${name}` === word) : undefined;
    const target = open ?? positional;
    if (option !== undefined) {
      given[option.name] ??= [];
      open = option.kind === 'flag' ? null : option;
    } else if (target !== undefined) {
      given[target.name] = [...(given[target.name] ?? []), word.replaceAll('"', '')];
      open = null;
    }
  }
  return { given, open };
}

function flags(current, rest, base) {
  const prefix = current.replace(/^-+/, '');
  const offers = rest
    .filter(({ name }) => name.startsWith(prefix))
    .map(({ name, description, kind }) => ({
      insert: `--${name}${kind === 'flag' ? '' : ' '}`,
      label: `--${name}`,
      detail: description,
    }));
  const isWhole = rest.some(({ name, kind }) => name === prefix && kind === 'flag');
  return { ...NOTHING, ...base, offers, isEager: offers.length > 0 && !isWhole };
}

function value(option, { command, current, given, base, known }) {
  const typed = current.replaceAll('"', '');
  const hint = { title: option.positional ? option.name : `--${option.name}`, text: option.description };
  const question =
    option.autocomplete === undefined ? null : { command: command.name, option: option.name, typed, given };
  const local = matching(localValues(option, known), typed);
  return { ...NOTHING, ...base, hint, question, option, ...offered(local, typed, option) };
}

function localValues(option, known) {
  if (option.choices !== undefined) return option.choices;
  const own = (values, detail) => values.map((one) => ({ value: one, label: one, detail }));
  if (option.kind === 'person') {
    return [...own(['me'], 'yourself'), ...own(['everyone'], 'all of you'), ...own(known.users, 'a person')];
  }
  if (option.kind === 'approver') return own(known.users, 'a person');
  return option.kind === 'channel'
    ? own(
        known.channels.map((name) => `#${name}`),
        'a channel',
      )
    : [];
}

function matching(values, typed) {
  const needle = typed.toLowerCase();
  return values.filter(({ value: text, label }) => [text, label].some((one) => one.toLowerCase().includes(needle)));
}

/**
 * Returns values as offers. Enter accepts the first unless the typed text is one of them.
 * @param {readonly { value: string, label: string }[]} values
 * @param {string} typed
 * @param {any} option the option of the values
 */
export function offered(values, typed, option) {
  const offers = values.map(({ value: text, label, detail }) => ({
    insert: `${/\s/.test(text) ? `"${text}"` : text} `,
    label: label ?? text,
    detail: detail ?? (label === text ? '' : text),
  }));
  const mayStayOut = typed === '' && option.positional && !option.required;
  const isWhole = values.some((one) => one.value === typed);
  return { offers, isEager: offers.length > 0 && !isWhole && !mayStayOut };
}
