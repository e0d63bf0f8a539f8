import { blockersIn } from '../events/blockers.ts';
import { isFailure, resultOf, type SessionEvent } from '../events/event.ts';
import { isOfForm } from '../events/failed-call.ts';

/** What a session has done so far, as far as its events say. Every text is one line. */
export interface SessionFacts {
  readonly calls: number;
  /** Calls that failed, but for those of which only the form was wrong. */
  readonly failures: number;
  /** Tokens of all answers. */
  readonly tokens: number;
  /** Paths that were written, the last one first. */
  readonly files: readonly string[];
  /** What failed and did not succeed since, the last one first: `npm test: exit 1`. */
  readonly failing: readonly string[];
  /** Branches that are open, as `br_1: what it is for`. */
  readonly branches: readonly string[];
  /** The entries of the to-do list, such as `[x] write the test`. */
  readonly todo: readonly string[];
  /** The last message of a person and of the agent; '' if no hook handed one in. */
  readonly asked: string;
  readonly answered: string;
}

const FILES_MAX = 40;
const FAILING_MAX = 10;
const TODO_MAX = 100;
const LINE_MAX_CHARS = 300;

/** Sums up the events, which come in their order. */
export function factsOf(events: readonly SessionEvent[]): SessionFacts {
  const calls = events.filter((event) => event.kind === 'call');
  return {
    calls: calls.length,
    failures: calls.filter(({ facts }) => isFailure(facts) && !isOfForm(facts.errorCode)).length,
    tokens: calls.reduce((sum, { facts }) => sum + facts.tokensSpent, 0),
    files: filesOf(events),
    failing: failingOf(calls),
    branches: openBranches(events),
    todo: todoOf(events),
    asked: lastOf(events, 'user'),
    answered: lastOf(events, 'agent'),
  };
}

/** One line of at most `max` characters. */
export function oneLine(text: string, max: number = LINE_MAX_CHARS): string {
  const line = text.replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function filesOf(events: readonly SessionEvent[]): string[] {
  const paths = events.flatMap((event) => {
    if (event.kind === 'call') return event.facts.filesWritten;
    return event.kind === 'message' && event.facts.role === 'edit' ? [event.text] : [];
  });
  return [...new Set(paths.reverse())].slice(0, FILES_MAX).map((path) => oneLine(path));
}

function failingOf(events: readonly SessionEvent[]): string[] {
  return blockersIn(events)
    .slice(0, FAILING_MAX)
    .map(
      ({ event: { facts } }) =>
        `${oneLine(facts.subject === '' ? facts.tool : facts.subject, 200)}: ${resultOf(facts)}`,
    );
}

function openBranches(events: readonly SessionEvent[]): string[] {
  const open = new Map<string, string>();
  for (const event of events) {
    if (event.kind !== 'branch') continue;
    if (event.facts.action === 'opened') open.set(event.facts.id, `${event.facts.id}: ${oneLine(event.text)}`);
    else open.delete(event.facts.id);
  }
  return [...open.values()];
}

/** `todo` replaces the list, `task` changes the entry of its number: `#3 [x] write the test`. */
function todoOf(events: readonly SessionEvent[]): string[] {
  const entries = new Map<string, { mark: string; title: string }>();
  for (const event of events) {
    if (event.kind !== 'message') continue;
    const { role } = event.facts;
    if (role === 'todo') {
      entries.clear();
      for (const [place, line] of event.text.split('\n').entries()) change(entries, `${place}`, line);
    } else if (role === 'task') {
      const [number = '', rest = ''] = /^(#\S+)\s*(.*)$/s.exec(event.text)?.slice(1) ?? [];
      change(entries, number, rest);
    }
  }
  const lines = [...entries].map(([key, { mark, title }]) => {
    const number = key.startsWith('#') ? `${key} ` : '';
    return oneLine(`${mark} ${number}${title}`);
  });
  return lines.slice(0, TODO_MAX);
}

function change(entries: Map<string, { mark: string; title: string }>, key: string, line: string): void {
  const [mark = '', title = ''] = /^(\[.\])?\s*(.*)$/s.exec(line)?.slice(1) ?? [];
  const known = entries.get(key);
  if (mark === '[-]') entries.delete(key);
  else entries.set(key, { mark: mark || known?.mark || '[ ]', title: title || known?.title || '' });
}

function lastOf(events: readonly SessionEvent[], role: string): string {
  const event = events.findLast((one) => one.kind === 'message' && one.facts.role === role);
  return event === undefined ? '' : oneLine(event.text);
}
