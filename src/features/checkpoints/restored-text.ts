import { nameOf, quote } from '../events/quote.ts';
import type { Checkpoint, TrailEntry, Versions } from './checkpoint.ts';
import type { FilesReport } from './checkpoint-files.ts';
import { filesLines } from './files-lines.ts';
import { LineBudget } from './line-budget.ts';

/** How much of a checkpoint is restored. */
export const LEVELS = ['summary', 'context', 'full'] as const;
export type RestoreLevel = (typeof LEVELS)[number];

/** Tokens of the text, as it is written in JSON: the rest of the line has the others of 300 and 3,000 (CE-1.5). */
export const LEVEL_TOKENS = { summary: 140, context: 2_750 } as const;

/** Whether a token in a recorded text is one that the session gave out. */
export type IsToken = (token: string) => boolean;

/** In one line, for lists and as the first line of what is restored. */
export function summaryOf(
  { position, body: { note, facts } }: Pick<Checkpoint, 'position' | 'body'>,
  isToken: IsToken,
): string {
  const open = facts.todo.filter((line) => !line.startsWith('[x]')).length;
  const parts = [
    position === 0 ? '' : `event ${position}`,
    `${counted(facts.calls, 'call')}, ${facts.failures} failed`,
    facts.files.length === 0 ? '' : `${counted(facts.files.length, 'file')} written`,
    facts.failing.length === 0 ? '' : `${facts.failing.length} failing`,
    facts.todo.length === 0 ? '' : `${open} of ${facts.todo.length} to do`,
    facts.branches.length === 0
      ? ''
      : `${facts.branches.length === 1 ? '1 branch' : `${facts.branches.length} branches`} open`,
    note === '' ? '' : quote(note, 80, isToken),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

export interface RestoreOptions {
  /** What `full` shows. */
  readonly events: readonly TrailEntry[];
  /** Makes the context of the events before the checkpoint, of at most this many tokens as JSON. */
  contextOf(budgetTokens: number): Promise<string>;
  readonly now: Versions;
  /** Null if nobody asked for the files. */
  readonly files: FilesReport | null;
  readonly isToken: IsToken;
  readonly countTokens: (text: string) => number;
}

/** What a checkpoint says within the tokens of the level. Recorded texts are quoted, one a line, so that none of them reads as ours. */
export async function restoredText(
  checkpoint: Checkpoint,
  level: RestoreLevel,
  { events, contextOf, now, files, isToken, countTokens }: RestoreOptions,
): Promise<string> {
  const quoted = (text: string, maxChars: number): string => quote(text, maxChars, isToken);
  const room =
    level === 'full' ? Number.POSITIVE_INFINITY : LEVEL_TOKENS[level] - (files === null ? 0 : RESERVED[level]);
  const head = [
    ...noteLines(checkpoint.body.note, level, quoted, (line) => new LineBudget(room, countTokens).take(line)),
    headLine(checkpoint, quoted),
    ...(files === null ? [] : filesLines(files, new LineBudget(room * FILES_SHARE, countTokens), quoted)),
    ...factLines(checkpoint, level, quoted),
    ...changedLines(checkpoint.body.madeWith, now),
  ];
  if (level === 'full')
    return [
      ...head,
      EVENTS_LINE,
      ...events.map(({ seq, kind, text }) => `${seq} ${nameOf(kind)} ${quoted(text, FULL_MAX_CHARS)}`),
    ].join('\n');
  const budget = new LineBudget(room, countTokens);
  const kept = head.filter((line) => budget.take(line));
  if (level === 'summary' || budget.left < CONTEXT_MIN_TOKENS) return kept.join('\n');
  return [...kept, (await contextOf(budget.left)).trimEnd()].join('\n');
}

/** The share of the tokens that files may take. */
const FILES_SHARE = 0.4;
/**
 * Tokens that the rest of the line has for the numbers and ids of files, and for the names of those put back: with them a
 * summary has more than its 300.
 */
const RESERVED = { summary: 20, context: 500 };

const EVENTS_LINE = 'events, the last one at the end:';
/** Less holds no event. */
const CONTEXT_MIN_TOKENS = 150;
const FULL_MAX_CHARS = 8_000;
/** How much of a list each level shows. */
const SHOWN = {
  summary: { items: 3, chars: 100 },
  context: { items: 20, chars: 300 },
  full: { items: 100, chars: 2_000 },
};

type Quoted = (text: string, maxChars: number) => string;

function headLine({ id, name, cause, createdMs, position, body }: Checkpoint, quoted: Quoted): string {
  const when = new Date(createdMs).toISOString().slice(0, 16);
  const title = name === '' ? '' : ` ${quoted(name, 80)}`;
  return `checkpoint ${id}${title}, ${WHY[cause]} ${when}: ${summaryOf({ position, body: { ...body, note: '' } }, noToken)}`;
}

const noToken: IsToken = () => false;

const WHY = {
  asked: 'saved',
  compaction: 'saved before a compaction',
  restore: 'saved before a restore',
  import: 'imported, saved',
} as const;

/** Characters of a note in a summary. At the other levels it is whole. */
export const NOTE_SHOWN_CHARS = 400;

/** What the one before wrote for the one who goes on comes first. It is cut only if its characters cost more tokens than there are. */
function noteLines(note: string, level: RestoreLevel, quoted: Quoted, fits: (line: string) => boolean): string[] {
  if (note === '') return [];
  if (level === 'full') return note.split('\n').map((line) => `note: ${quoted(line, note.length)}`);
  let chars = level === 'summary' ? NOTE_SHOWN_CHARS : note.length;
  while (chars > 1 && !fits(`note: ${quoted(note, chars)}`)) chars = Math.floor(chars * 0.95);
  return [`note: ${quoted(note, chars)}`];
}

/** The most important first: a small budget keeps only these. */
function factLines({ body: { facts } }: Checkpoint, level: RestoreLevel, quoted: Quoted): string[] {
  const { items, chars } = SHOWN[level];
  const list = (title: string, texts: readonly string[]): string[] => {
    if (texts.length === 0) return [];
    const more = texts.length > items ? `; ${texts.length - items} more` : '';
    return [
      `${title}: ${texts
        .slice(0, items)
        .map((text) => quoted(text, chars))
        .join(', ')}${more}`,
    ];
  };
  const text = (title: string, value: string): string[] => (value === '' ? [] : [`${title}: ${quoted(value, chars)}`]);
  const open = facts.todo.filter((line) => !line.startsWith('[x]'));
  const done = facts.todo.filter((line) => line.startsWith('[x]'));
  return [
    ...list('to do', open),
    ...list('failing', facts.failing),
    ...text('asked', facts.asked),
    ...list('open branches', facts.branches),
    ...list('files written', facts.files),
    ...(level === 'summary' ? [] : [...text('answered', facts.answered), ...list('done', done)]),
  ];
}

const GONE_SHOWN = 10;

/** What a person or an update has changed since. What a checkpoint says of its versions may come from another machine. */
function changedLines(then: Versions, now: Versions): string[] {
  const tools = Object.entries(now.tools).filter(
    ([name, version]) => then.tools[name] !== undefined && then.tools[name] !== version,
  );
  const gone = Object.keys(then.tools).filter((name) => now.tools[name] === undefined);
  const changes = [
    then.contextd === now.contextd ? '' : `contextd ${nameOf(then.contextd)} is now ${nameOf(now.contextd)}`,
    then.config === now.config ? '' : 'the configuration has changed',
    ...tools.map(([name, version]) => `${nameOf(name)} ${nameOf(then.tools[name] ?? '')} is now ${nameOf(version)}`),
    gone.length === 0 ? '' : `not here: ${named(gone)}`,
  ].filter((change) => change !== '');
  return changes.length === 0 ? [] : [`since then: ${changes.join('; ')}`];
}

function named(names: readonly string[]): string {
  const more = names.length > GONE_SHOWN ? ` and ${names.length - GONE_SHOWN} more` : '';
  return `${names.slice(0, GONE_SHOWN).map(nameOf).join(', ')}${more}`;
}
