import type { SessionRef } from '../../call/session.ts';
import { newShortId } from '../../core/ids.ts';
import type { WaitEnd } from '../../dispatch/approval.ts';
import type { ApprovalRule } from '../../stores/approval-rules.ts';

/** What a person is asked: whether identical calls of a session that one rule covers may run. */
export interface Question {
  readonly id: string;
  readonly rule: ApprovalRule;
  readonly session: SessionRef;
  readonly tool: string;
  readonly cwd: string;
  /** The whole input with its secrets masked; null if it could not be searched for secrets. */
  readonly text: Promise<string | null>;
  /** Milliseconds since the epoch. */
  readonly askedMs: number;
  /** Calls that wait for the answer. */
  readonly calls: number;
}

/** A call that waits for a person. */
export interface Waiter {
  /** The question that waits for its answer. A call that an answer left out gets a new one. */
  question: OpenQuestion;
  /** True once its time is over while an answer is carried out. */
  isOverdue: boolean;
  /** Tells the caller which question waits. */
  announce(): void;
  end(how: WaitEnd): void;
}

/** What the calls of a question have in common. */
type Asked = Omit<Question, 'id' | 'calls'> & { readonly key: string };

export class OpenQuestion implements Question {
  readonly id = `ask_${newShortId()}`;
  /** In the order in which they asked. */
  readonly waiters = new Set<Waiter>();
  /** True from when a person answered, while the answer is written. */
  isDecided = false;
  readonly key: string;
  readonly rule: ApprovalRule;
  readonly session: SessionRef;
  readonly tool: string;
  readonly cwd: string;
  readonly text: Promise<string | null>;
  readonly askedMs: number;

  constructor({ key, rule, session, tool, cwd, text, askedMs }: Asked) {
    this.key = key;
    this.rule = rule;
    this.session = session;
    this.tool = tool;
    this.cwd = cwd;
    this.text = text;
    this.askedMs = askedMs;
  }

  get calls(): number {
    return this.waiters.size;
  }

  add(waiter: Waiter): void {
    waiter.question = this;
    this.waiters.add(waiter);
    waiter.announce();
  }

  /** Takes out all calls but the first `count`. */
  takeAfter(count: number): Waiter[] {
    const later = [...this.waiters].slice(count);
    for (const waiter of later) this.waiters.delete(waiter);
    return later;
  }
}
