/** Lessons from recorded calls, without a model: everything in them is taken from the calls. Pure. */
import { errorLineOf } from '../../events/error-line.ts';
import { corrects, covers, haveSamePaths, isLooking, isUsageError, mainCommand } from '../../events/shell-command.ts';
import type { MemoryDraft, MemoryOutcome } from '../item.ts';

/** A call that ended. Every text has been masked. */
export interface RecordedCall {
  readonly requestId: string;
  readonly session: string;
  /** `command`: what a shell ran. `edit`: a change of a file. `other`: a tool with its input. */
  readonly kind: 'command' | 'edit' | 'other';
  /** The command, the path of the file, or the tool. */
  readonly subject: string;
  /** Of an edit what was changed, of another tool its input; '' for a command. */
  readonly detail: string;
  readonly isFailure: boolean;
  /** True if it is on record that it changed files of the project. */
  readonly changesFiles: boolean;
  /** The part of the output that says what failed; '' if it says nothing. */
  readonly error: string;
}

/** The work that the calls belong to. */
export interface Work {
  /** What it was for; may be empty. */
  readonly task: string;
  /** How it ended; null: as its calls did. */
  readonly outcome: MemoryOutcome | null;
}

/** A lesson, and the calls that taught it. */
export interface Lesson {
  readonly draft: MemoryDraft;
  readonly requestIds: readonly string[];
}

export const LESSONS_MAX = 3;
/** Characters of an error, of a command or a change, and of a title. */
const ERROR_CHARS = 1_500;
const ACTION_CHARS = 400;
const TITLE_CHARS = 160;
/** Steps that a lesson lists. */
const STEPS_MAX = 6;
const STEPS_OF_TASK_MAX = 12;
/** Tries with changes between after which something that never succeeded is worth a lesson. */
const TRIES_MIN = 3;
/** Changes from failure to success or back, with nothing done between, that make a command flaky. */
const TURNS_MIN = 2;

/** Something that failed, and what came of it. */
interface Trouble {
  readonly failures: readonly RecordedCall[];
  /** What was done between the last failure and the success. */
  readonly steps: readonly RecordedCall[];
  /** Null: it never succeeded. */
  readonly success: RecordedCall | null;
}

/**
 * Lessons, the most telling first: what turned a failure into a success, what is flaky, what kept failing, and last how the task
 * was done. `calls`: the oldest first. Empty if nothing failed and no task is named.
 */
export function lessonsOf(calls: readonly RecordedCall[], work: Work): Lesson[] {
  const flaky = flakyIn(calls);
  const troubles = troublesIn(calls).filter(({ failures }) => !flaky.has(keyOf(failures[0])));
  const turned = troubles.filter(({ success, steps }) => success !== null && steps.length > 0);
  const lasting = troubles.filter(({ success }) => success === null);
  const byFailures = (a: Trouble, b: Trouble): number => b.failures.length - a.failures.length;
  const summary = taskLesson(calls, work, lasting.length > 0);
  return [
    ...turned.sort(byFailures).map((trouble) => turnLesson(trouble, work.task)),
    ...[...flaky.values()].map((runs) => flakyLesson(runs, work.task)),
    ...lasting
      .filter(({ failures }) => isLasting(calls, failures))
      .sort(byFailures)
      .map((trouble) => failureLesson(trouble, work.task)),
    ...(summary === null ? [] : [summary]),
  ];
}

/** Each command that failed, with the first later success of the same command or of another try of it. */
function troublesIn(calls: readonly RecordedCall[]): Trouble[] {
  const bySuccess = new Map<RecordedCall, RecordedCall[]>();
  const lasting = new Map<string, RecordedCall[]>();
  for (const [place, call] of calls.entries()) {
    if (!call.isFailure || (isLook(call) && !isUsageError(call.error))) continue;
    const success = successAfter(calls, place);
    if (success !== undefined) bySuccess.set(success, [...(bySuccess.get(success) ?? []), call]);
    else lasting.set(keyOf(call), [...(lasting.get(keyOf(call)) ?? []), call]);
  }
  return [
    ...[...bySuccess].map(([success, failures]) => ({ failures, success, steps: stepsOf(calls, failures, success) })),
    ...[...lasting.values()].map((failures) => ({ failures, success: null, steps: [] })),
  ];
}

/** The runs of commands that failed and succeeded in turn though nothing was done between, by their keys. */
function flakyIn(calls: readonly RecordedCall[]): Map<string, RecordedCall[]> {
  const runs = new Map<string, RecordedCall[]>();
  const turns = new Map<string, number>();
  let unchanged = new Map<string, RecordedCall>();
  for (const call of calls) {
    if (call.kind !== 'command' || isLook(call)) {
      if (!isLook(call)) unchanged = new Map();
      continue;
    }
    const key = keyOf(call);
    const before = unchanged.get(key);
    if (before !== undefined && before.isFailure !== call.isFailure) turns.set(key, (turns.get(key) ?? 0) + 1);
    if (before === undefined) unchanged = new Map();
    unchanged.set(key, call);
    runs.set(key, [...(runs.get(key) ?? []), call]);
  }
  return new Map([...runs].filter(([key]) => (turns.get(key) ?? 0) >= TURNS_MIN));
}

function successAfter(calls: readonly RecordedCall[], place: number): RecordedCall | undefined {
  const failed = calls[place];
  if (failed === undefined) return undefined;
  const later = calls.slice(place + 1).filter((call) => !call.isFailure && call.kind === failed.kind);
  const same = later.find((call) => isSameWork(call, failed));
  return same ?? later.find((call) => isOtherTry(failed, call));
}

/** What changed between the last failure and the success of the same work; of another command the success itself. */
function stepsOf(
  calls: readonly RecordedCall[],
  failures: readonly RecordedCall[],
  success: RecordedCall,
): RecordedCall[] {
  const last = failures.at(-1);
  if (last === undefined) return [];
  if (!isSameWork(success, last)) return [success];
  return changesBetween(calls, last, success).slice(-STEPS_MAX);
}

/** What was done between two calls and did not fail. */
function changesBetween(calls: readonly RecordedCall[], from: RecordedCall, to: RecordedCall): RecordedCall[] {
  const between = calls.slice(calls.indexOf(from) + 1, calls.indexOf(to));
  return between.filter((call) => !call.isFailure && !isLook(call) && !isSameWork(call, to));
}

/** Whether it failed in two sessions, or was tried three times with changes between. One failure says nothing of the next try. */
function isLasting(calls: readonly RecordedCall[], failures: readonly RecordedCall[]): boolean {
  if (new Set(failures.map(({ session }) => session)).size > 1) return true;
  const tries = failures.filter((call, place) => {
    const before = failures[place - 1];
    return before === undefined || changesBetween(calls, before, call).length > 0;
  });
  return tries.length >= TRIES_MIN;
}

/**
 * The same command, or one that includes it: what was done between them is what made the difference. A command that was written
 * wrongly is repaired by another one.
 */
function isSameWork(success: RecordedCall, failure: RecordedCall): boolean {
  if (keyOf(success) === keyOf(failure)) return true;
  if (isUsageError(failure.error)) return false;
  if (success.kind !== 'command' || failure.kind !== 'command') return false;
  const [later, earlier] = [mainCommand(success.subject), mainCommand(failure.subject)];
  return later !== null && earlier !== null && covers(later, earlier) && sameWords(later.options, earlier.options);
}

function sameWords(one: readonly string[], other: readonly string[]): boolean {
  return [...one].sort().join(' ') === [...other].sort().join(' ');
}

/** The command written in another way: with another option, or the right name of what was meant. */
function isOtherTry(one: RecordedCall, other: RecordedCall): boolean {
  if (one.kind !== 'command') return one.subject === other.subject;
  const [failed, success] = [mainCommand(one.subject), mainCommand(other.subject)];
  if (failed === null || success === null || !corrects(success, failed)) return false;
  return isUsageError(one.error) || (!isLook(other) && haveSamePaths(success, failed));
}

function turnLesson({ failures, steps, success }: Trouble, task: string): Lesson {
  const [last] = failures.slice(-1);
  if (last === undefined || success === null) throw new Error('a turn has a failure and a success');
  const command = shortened(nameOf(last), ACTION_CHARS);
  const isOther = last.kind === 'command' && !isSameWork(success, last);
  const content = [
    `Failed ${timesOf(failures)}: ${command}`,
    ...indented(last.error, ERROR_CHARS),
    ...(isOther
      ? differenceLines(last.subject, success.subject)
      : ['It succeeded after:', ...steps.flatMap(stepLines)]),
  ].join('\n');
  const what = isOther ? 'what works instead' : 'what made it succeed';
  return lesson([...failures, ...steps, ...(steps.includes(success) ? [] : [success])], {
    title: `${shortened(oneLine(nameOf(last)), 80)} failed${reasonOf(last)}: ${what}`,
    description: `When ${shortened(oneLine(nameOf(last)), 120)} fails like this; not for its other failures.`,
    content,
    outcome: 'success',
    task,
  });
}

/** Two commands, and the words in which they differ: not what else was done between them. */
function differenceLines(failed: string, worked: string): string[] {
  const [before, after] = [failed, worked].map((command) => oneLine(command).split(' '));
  const gone = (before ?? []).filter((word) => after?.includes(word) !== true);
  const come = (after ?? []).filter((word) => before?.includes(word) !== true);
  const words = (list: readonly string[]) => (list.length === 0 ? 'nothing' : list.join(' '));
  return [
    `Worked: ${shortened(worked, ACTION_CHARS)}`,
    `The difference: ${shortened(words(come), ACTION_CHARS)} instead of ${shortened(words(gone), ACTION_CHARS)}`,
  ];
}

function flakyLesson(runs: readonly RecordedCall[], task: string): Lesson {
  const failures = runs.filter(({ isFailure }) => isFailure);
  const last = failures.at(-1);
  if (last === undefined) throw new Error('what is flaky has failed');
  const name = shortened(oneLine(nameOf(last)), 80);
  return lesson(runs, {
    title: `${name} is flaky${reasonOf(last)}`,
    description: 'It failed and succeeded in turn though nothing was changed: one failure of it says little.',
    content: [
      `Failed ${failures.length} of ${runs.length} times, with nothing changed between: ${shortened(nameOf(last), ACTION_CHARS)}`,
      ...indented(last.error, ERROR_CHARS),
    ].join('\n'),
    outcome: 'mixed',
    task,
  });
}

function timesOf(failures: readonly RecordedCall[]): string {
  return failures.length === 1 ? 'once' : `${failures.length} times`;
}

function failureLesson({ failures }: Trouble, task: string): Lesson {
  const last = failures.at(-1);
  if (last === undefined) throw new Error('what keeps failing has a failure');
  const content = [
    `Failed ${timesOf(failures)} and never succeeded: ${shortened(nameOf(last), ACTION_CHARS)}`,
    ...indented(last.error, ERROR_CHARS),
  ].join('\n');
  return lesson(failures, {
    title: `${shortened(oneLine(nameOf(last)), 80)} fails${reasonOf(last)}`,
    description: 'Nothing that was tried made it succeed; look for another way first.',
    content,
    outcome: 'failure',
    task,
  });
}

/** How a task was done that somebody named; null without a name or without a step. */
function taskLesson(calls: readonly RecordedCall[], { task, outcome }: Work, hasFailed: boolean): Lesson | null {
  const steps = calls.filter((call) => !call.isFailure && !isLook(call)).slice(-STEPS_OF_TASK_MAX);
  if (task.trim() === '' || steps.length === 0) return null;
  const ended = outcome ?? (hasFailed ? 'mixed' : 'success');
  const heading = ended === 'failure' ? 'Did not lead to the end:' : 'The last steps that worked:';
  return lesson(steps, {
    title: shortened(oneLine(task), TITLE_CHARS),
    description: 'The steps of an earlier attempt at this task; not a plan for another one.',
    content: [heading, ...steps.flatMap(stepLines)].join('\n'),
    outcome: ended,
    task,
  });
}

function lesson(calls: readonly RecordedCall[], draft: Omit<MemoryDraft, 'tags' | 'context'>): Lesson {
  const programs = calls.flatMap((call) => (call.kind === 'command' ? [programOf(call.subject)] : []));
  const tags = [...new Set(programs)].filter((name) => /^[\w.+-]{1,64}$/.test(name)).map((name) => name.toLowerCase());
  const files = calls.flatMap((call) => (call.kind === 'edit' ? [call.subject] : []));
  const inOrder = [...new Set(calls.map(({ requestId }) => requestId))].sort();
  return {
    draft: {
      ...draft,
      title: shortened(draft.title, TITLE_CHARS),
      task: draft.task.trim().slice(0, 4_000),
      tags: [...new Set(tags)].sort().slice(0, 8),
      context: [...new Set(files)].join(' ').slice(0, 2_000),
    },
    requestIds: inOrder,
  };
}

function stepLines(call: RecordedCall): string[] {
  if (call.kind === 'command') return [`- ran: ${shortened(call.subject, ACTION_CHARS)}`];
  const verb = call.kind === 'edit' ? 'changed' : 'called';
  return [`- ${verb} ${call.subject}`, ...indented(call.detail, ACTION_CHARS)];
}

/** The line that says why, which is not the heading of a traceback. */
function reasonOf({ error }: RecordedCall): string {
  const line = errorLineOf([error]);
  return line === '' ? '' : ` (${shortened(oneLine(line), 60)})`;
}

/** A command, or the tool and what it was used on. */
function nameOf({ kind, subject }: RecordedCall): string {
  return kind === 'edit' ? `a change of ${subject}` : subject;
}

/** Commands are the same if only their blanks differ. */
function keyOf(call: RecordedCall | undefined): string {
  if (call === undefined) return '';
  const { kind, subject, detail } = call;
  return `${kind} ${oneLine(subject)}${kind === 'other' ? ` ${detail}` : ''}`;
}

/** What changed a file is no look, whatever its program: `sed -i`, `cat >a.c`. */
function isLook({ kind, subject, changesFiles }: RecordedCall): boolean {
  return kind === 'command' && !changesFiles && isLooking(subject);
}

function programOf(command: string): string {
  return mainCommand(command)?.program ?? '';
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function indented(text: string, maxChars: number): string[] {
  if (text.trim() === '') return [];
  return shortened(text.trim(), maxChars)
    .split('\n')
    .map((line) => `    ${line}`);
}

function shortened(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`;
}
