/** Lessons from recorded calls, without a model: everything in them is taken from the calls. Pure. */
import type { MemoryDraft, MemoryOutcome } from '../item.ts';
import { similarity } from '../learn.ts';
import { telling } from '../query.ts';

/** A call that ended. Every text has been masked. */
export interface RecordedCall {
  readonly requestId: string;
  /** `command`: what a shell ran. `edit`: a change of a file. `other`: a tool with its input. */
  readonly kind: 'command' | 'edit' | 'other';
  /** The command, the path of the file, or the tool. */
  readonly subject: string;
  /** Of an edit what was changed, of another tool its input; '' for a command. */
  readonly detail: string;
  readonly isFailure: boolean;
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
/** The share of words that two commands of the same program have in common if one is another try of the other. */
const SAME_COMMAND_FROM = 0.4;

/** Programs that only look: they repair nothing, and with status 1 most of them say that there is nothing to see. */
const LOOKING: ReadonlySet<string> = new Set(
  `ls cat head tail less more pwd echo printf wc stat file tree du df find grep egrep fgrep rg ag which whereis type
  command test [ true false date whoami id env printenv ps pgrep diff cmp sleep cd realpath readlink basename dirname sort
  uniq cut awk jq nl od xxd strings man help`.split(/\s+/),
);
const LOOKING_AT_GIT: ReadonlySet<string> = new Set(['status', 'diff', 'log', 'show', 'blame', 'branch', 'ls-files']);

/** Something that failed, and what came of it. */
interface Trouble {
  readonly failures: readonly RecordedCall[];
  /** What was done between the last failure and the success. */
  readonly steps: readonly RecordedCall[];
  /** Null: it never succeeded. */
  readonly success: RecordedCall | null;
}

/**
 * At most three lessons, the most telling first: what turned a failure into a success, then what kept failing, then how
 * the task was done. `calls`: the oldest first. Empty if nothing failed and no task is named.
 */
export function lessonsOf(calls: readonly RecordedCall[], work: Work): Lesson[] {
  const troubles = troublesIn(calls);
  const turned = troubles.filter(({ success, steps }) => success !== null && steps.length > 0);
  const lasting = troubles.filter(({ success }) => success === null);
  const byFailures = (a: Trouble, b: Trouble): number => b.failures.length - a.failures.length;
  const lessons = [
    ...turned.sort(byFailures).map((trouble) => turnLesson(trouble, work.task)),
    ...lasting.sort(byFailures).map((trouble) => failureLesson(trouble, work.task)),
  ];
  const summary = taskLesson(calls, work, lasting.length > 0);
  const kept = lessons.slice(0, summary === null ? LESSONS_MAX : LESSONS_MAX - 1);
  return summary === null ? kept : [...kept, summary];
}

/** Each command that failed, with the first later success of the same command or of another try of it. */
function troublesIn(calls: readonly RecordedCall[]): Trouble[] {
  const bySuccess = new Map<RecordedCall, RecordedCall[]>();
  const lasting = new Map<string, RecordedCall[]>();
  for (const [place, call] of calls.entries()) {
    if (!call.isFailure || isLook(call)) continue;
    const success = successAfter(calls, place);
    if (success !== undefined) bySuccess.set(success, [...(bySuccess.get(success) ?? []), call]);
    else lasting.set(keyOf(call), [...(lasting.get(keyOf(call)) ?? []), call]);
  }
  return [
    ...[...bySuccess].map(([success, failures]) => ({ failures, success, steps: stepsOf(calls, failures, success) })),
    ...[...lasting.values()].map((failures) => ({ failures, success: null, steps: [] })),
  ];
}

function successAfter(calls: readonly RecordedCall[], place: number): RecordedCall | undefined {
  const failed = calls[place];
  if (failed === undefined) return undefined;
  const later = calls.slice(place + 1).filter((call) => !call.isFailure && call.kind === failed.kind);
  const same = later.find((call) => keyOf(call) === keyOf(failed));
  return same ?? later.find((call) => isOtherTry(failed, call));
}

/** What changed between the last failure and the success; of another command the success itself. */
function stepsOf(
  calls: readonly RecordedCall[],
  failures: readonly RecordedCall[],
  success: RecordedCall,
): RecordedCall[] {
  const last = failures.at(-1);
  if (last === undefined) return [];
  const between = calls.slice(calls.indexOf(last) + 1, calls.indexOf(success));
  const changing = between.filter((call) => !call.isFailure && !isLook(call) && keyOf(call) !== keyOf(success));
  const isOther = keyOf(last) !== keyOf(success);
  return [...changing.slice(isOther ? -STEPS_MAX + 1 : -STEPS_MAX), ...(isOther ? [success] : [])];
}

/** Another command of the same program with much the same words, such as one with another option. */
function isOtherTry(one: RecordedCall, other: RecordedCall): boolean {
  if (one.kind !== 'command') return one.subject === other.subject;
  const program = programOf(one.subject);
  if (program === '' || program !== programOf(other.subject) || isLook(other)) return false;
  return similarity(telling(one.subject), telling(other.subject)) >= SAME_COMMAND_FROM;
}

function turnLesson({ failures, steps, success }: Trouble, task: string): Lesson {
  const [last] = failures.slice(-1);
  if (last === undefined || success === null) throw new Error('a turn has a failure and a success');
  const command = shortened(nameOf(last), ACTION_CHARS);
  const times = failures.length === 1 ? 'once' : `${failures.length} times`;
  const content = [
    `Failed ${times}: ${command}`,
    ...indented(last.error, ERROR_CHARS),
    'It succeeded after:',
    ...steps.flatMap(stepLines),
  ].join('\n');
  return lesson([...failures, ...steps, success], {
    title: `${shortened(oneLine(nameOf(last)), 80)} failed${reasonOf(last)}: what made it succeed`,
    description: `When ${shortened(oneLine(nameOf(last)), 120)} fails like this; not for its other failures.`,
    content,
    outcome: 'success',
    task,
  });
}

function failureLesson({ failures }: Trouble, task: string): Lesson {
  const last = failures.at(-1);
  if (last === undefined) throw new Error('what keeps failing has a failure');
  const times = failures.length === 1 ? 'once' : `${failures.length} times`;
  const content = [
    `Failed ${times} and never succeeded: ${shortened(nameOf(last), ACTION_CHARS)}`,
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

function reasonOf({ error }: RecordedCall): string {
  const line = error.split('\n').find((one) => one.trim() !== '');
  return line === undefined ? '' : ` (${shortened(oneLine(line), 60)})`;
}

/** A command, or the tool and what it was used on. */
function nameOf({ kind, subject }: RecordedCall): string {
  return kind === 'edit' ? `a change of ${subject}` : subject;
}

/** Commands are the same if only their blanks differ. */
function keyOf({ kind, subject, detail }: RecordedCall): string {
  return `${kind} ${oneLine(subject)}${kind === 'other' ? ` ${detail}` : ''}`;
}

function isLook({ kind, subject }: RecordedCall): boolean {
  if (kind !== 'command') return false;
  const words = mainWords(subject);
  const [program = '', verb = ''] = words;
  return LOOKING.has(program) || (program === 'git' && LOOKING_AT_GIT.has(verb));
}

function programOf(command: string): string {
  return mainWords(command)[0] ?? '';
}

/** The words of the last part of `cd x && A=1 npm test`, from its program on: the part whose status counts. */
function mainWords(command: string): string[] {
  const parts = oneLine(command).split(/&&|\|\||;/);
  const part = parts.at(-1) ?? '';
  const words = (part.split('|')[0] ?? '').trim().split(' ');
  const start = words.findIndex(
    (word) => !/^[A-Za-z_]\w*=/.test(word) && !['sudo', 'time', 'env', 'npx'].includes(word),
  );
  return start === -1 ? [] : [(words[start] ?? '').replace(/^.*\//, ''), ...words.slice(start + 1)];
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
