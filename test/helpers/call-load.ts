import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Installation } from './installation.ts';

/** What a call does. `append`: adds its own line to a file of its session, at once or between two pauses. `read`: has no effects. */
const KINDS = ['append', 'append', 'append slowly', 'read'] as const;

interface MadeCall {
  readonly id: string;
  readonly kind: (typeof KINDS)[number];
  readonly session: string;
  /** Null if the proxy printed no answer. */
  readonly answer: Answer | null;
  readonly printed: string;
}

/** Calls by what became of them: each is counted by its effect, whatever its answer says. */
export interface Accounting {
  calls: number;
  answered: number;
  interrupted: number;
  /** Calls with another error code, by code. */
  refused: Record<string, number>;
  /** What the proxy printed for those of them that did not run. */
  refusals: string[];
  /** Answered calls whose line is not in the file. */
  lost: string[];
  /** Calls whose line is in the file more than once. */
  doubled: string[];
  /** Calls that were refused, as if they had not run, and ran. */
  denied: string[];
  /** What the proxy printed in place of an answer. */
  unanswered: string[];
  /** Reads that were not answered with the text of the file. */
  failedReads: string[];
  /** INTERRUPTED calls that had their effect, and of these the ones whose answer names an undo. */
  interruptedWithEffect: number;
  namingUndo: number;
}

/** Sessions that make one call after the other, all at once, through real proxies. */
export class CallLoad {
  readonly #at: Installation;
  readonly #random: () => number;
  readonly #made: MadeCall[] = [];
  readonly #sessions: readonly string[];
  #waiting: { calls: number; resolve: () => void }[] = [];
  #isEnding = false;
  #running: Promise<unknown> = Promise.resolve();

  /** `name` begins the names of the sessions, which no other load has. */
  constructor(at: Installation, name: string, sessions: number, random: () => number) {
    this.#at = at;
    this.#random = random;
    this.#sessions = Array.from({ length: sessions }, (_, i) => `${name}-${i}`);
  }

  start(): void {
    this.#running = Promise.all(this.#sessions.map((session) => this.#keepCalling(session)));
  }

  /** Resolves when that many more calls have ended. */
  ended(calls: number): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ calls: this.#made.length + calls, resolve }));
  }

  /** Lets the calls under way end, and counts. */
  async stop(): Promise<Accounting> {
    this.#isEnding = true;
    await this.#running;
    return accountOf(this.#made, this.#at.project);
  }

  async #keepCalling(session: string): Promise<void> {
    for (let number = 0; !this.#isEnding; number++) {
      const kind = KINDS[Math.floor(this.#random() * KINDS.length)] ?? 'append';
      this.#made.push(await this.#call(session, `${session}-${number}`, kind));
      const due = this.#waiting.filter(({ calls }) => calls <= this.#made.length);
      this.#waiting = this.#waiting.filter((one) => !due.includes(one));
      for (const { resolve } of due) resolve();
    }
  }

  async #call(session: string, id: string, kind: MadeCall['kind']): Promise<MadeCall> {
    const append = `echo ${id} >> ${effectsOf(session)}`;
    const command = kind === 'append' ? append : `sleep 0.2; ${append}; sleep 0.2`;
    const [tool, input] = kind === 'read' ? ['safe_read', { path: 'constant' }] : ['safe_bash', { command }];
    const link = `.claude/tools/${tool}/${tool}`;
    const env = { CONTEXTD_SESSION_ID: session };
    const { stdout, stderr } = await this.#at.runProcess(link, [JSON.stringify(input)], { env });
    const answer: Answer | null = stdout.startsWith('{"success"') && stdout.endsWith('\n') ? JSON.parse(stdout) : null;
    return { id, kind, session, answer, printed: stdout + stderr };
  }
}

const effectsOf = (session: string): string => `effects-${session}`;

function accountOf(made: readonly MadeCall[], project: string): Accounting {
  const sessions = [...new Set(made.map(({ session }) => session))];
  const lines = sessions.flatMap((session) => readFileSync(join(project, effectsOf(session)), 'utf8').split('\n'));
  const effects = new Map<string, number>();
  for (const line of lines.filter((one) => one !== '')) effects.set(line, (effects.get(line) ?? 0) + 1);
  const sum: Accounting = {
    ...{
      calls: made.length,
      answered: 0,
      interrupted: 0,
      refused: {},
      refusals: [],
      interruptedWithEffect: 0,
      namingUndo: 0,
    },
    ...{ lost: [], doubled: [], denied: [], unanswered: [], failedReads: [] },
  };
  for (const call of made) count(call, effects.get(call.id) ?? 0, sum);
  return sum;
}

function count({ id, kind, answer, printed }: MadeCall, effects: number, sum: Accounting): void {
  if (effects > 1) sum.doubled.push(id);
  if (answer === null) {
    sum.unanswered.push(`${id}: ${printed}`);
    return;
  }
  const code = answer.data.error_code;
  if (kind === 'read') {
    if (answer.success) sum.answered += 1;
    else sum.failedReads.push(`${id}: ${printed}`);
  } else if (answer.success) {
    sum.answered += 1;
    if (effects === 0) sum.lost.push(id);
  } else if (code === 'INTERRUPTED') {
    sum.interrupted += 1;
    if (effects > 0) sum.interruptedWithEffect += 1;

    if (effects > 0 && printed.includes('ctxd undo undo_')) sum.namingUndo += 1;
  } else {
    sum.refused[`${code}`] = (sum.refused[`${code}`] ?? 0) + 1;
    if (effects > 0) sum.denied.push(`${id}: ${printed}`);
    else sum.refusals.push(`${id}: ${printed}`);
  }
}
