import type { ApprovalAnswer } from '../../core/approval-answers.ts';
import type { Clock, Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { Approvals, WaitEnd } from '../../dispatch/approval.ts';
import type { VerifiedCall } from '../../dispatch/call.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { type ApprovalRule, type ApprovalRules, approvalRuleHash } from '../../stores/approval-rules.ts';
import { approvalSubject, type Consents } from '../../stores/consents.ts';
import { maskOwnWords } from '../shared/kept-text.ts';
import type { LiveEvents } from '../shared/live-events.ts';
import { OpenQuestion, type Question, type Waiter } from './open-question.ts';
import { compileOrAsk, inputText, type MatchedCall, type RuleMatcher } from './rule-matcher.ts';

export interface CallApprovalsDeps {
  rules: Pick<ApprovalRules, 'list'>;
  consents: Pick<Consents, 'change'>;
  scrubber: Pick<Scrubber, 'scrub' | 'issuedIn'>;
  liveEvents: Pick<LiveEvents, 'isFollowed'>;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** A question that came up, or that nobody has to answer any more. */
export type QuestionEvent =
  | { kind: 'asked'; question: Question }
  | { kind: 'ended'; question: Question; how: QuestionEnd };

export type QuestionEnd = 'answered' | 'not answered in time' | 'cancelled' | 'its rule was removed';

/** A person's answer. */
export interface Answer {
  answer: ApprovalAnswer;
  /** For how long it holds, if it is `for`. */
  forMs: number;
  /** How many calls `once` covers, in the order in which they asked: those that the person was shown. */
  calls: number;
  by: string;
}

/** What an answer did. */
export interface Decided {
  rule: ApprovalRule;
  project: string;
  /** The session of the question; '' for an answer that was given before anything asked. */
  session: string;
  /** Waiting calls that the answer let run or refused. */
  calls: number;
  /** Milliseconds since the epoch; null: nothing is kept, or it holds without an end. */
  expiresMs: number | null;
}

/** Waiting calls beyond which further ones are refused. The socket takes twice as many: the person who answers needs one. */
const WAITING_MAX = 512;
/** The same in one project, so that others can still ask. */
const PROJECT_WAITING_MAX = 256;
/** Milliseconds in which a program that watches asks for the list again: `ctxd approve --watch` does twice in a second. */
const WATCH_MS = 5_000;
/** Ended questions of which it is known how they ended. */
const ENDED_MAX = 1_000;

/** Asks a person about calls that rules cover, and keeps the answers. Everything but kept answers is in memory only. */
export class CallApprovals implements Approvals {
  readonly #deps: CallApprovalsDeps;
  readonly #matchers = new WeakMap<ApprovalRule, RuleMatcher>();
  /** By what makes calls identical. */
  readonly #open = new Map<string, OpenQuestion>();
  /** By id, oldest first. */
  readonly #ended = new Map<string, { project: string; how: QuestionEnd }>();
  readonly #listeners = new Set<(event: QuestionEvent) => void>();
  #watchedMs = Number.NEGATIVE_INFINITY;

  constructor(deps: CallApprovalsDeps) {
    this.#deps = deps;
  }

  rulesFor(call: VerifiedCall): readonly ApprovalRule[] {
    const rules = this.#deps.rules.list();
    if (rules.length === 0) return rules;
    // A rule about the tool that executes others covers what it executes.
    const own = matchedCall(call);
    const matched = call.execution === undefined ? [own] : [own, { ...own, tool: call.execution.via }];
    const isHere = ({ scope }: ApprovalRule): boolean => scope === '' || scope === call.session.project;
    return rules.filter((rule) => isHere(rule) && matched.some(this.#matcherOf(rule)));
  }

  ask(call: VerifiedCall, rule: ApprovalRule, waitMs: number): Promise<WaitEnd> {
    const { signal } = call.request;
    if (signal.aborted) return Promise.reject(endOf(signal));
    const crowded = this.#crowdedBy(call.session.project);
    if (crowded !== null) return Promise.reject(crowded);
    const { promise, resolve, reject } = Promise.withResolvers<WaitEnd>();
    const leave = (): void => {
      cancelTimer();
      signal.removeEventListener('abort', onAbort);
      waiter.question.waiters.delete(waiter);
    };
    const waiter: Waiter = {
      question: this.#questionOf(call, rule),
      isOverdue: false,
      announce: () =>
        call.request.onProgress?.(
          `[contextd ${rule.id} asks a person about this call: ctxd approve ${waiter.question.id}]\n`,
        ),
      end(how) {
        leave();
        resolve(how);
      },
    };
    const onAbort = (): void => {
      leave();
      reject(endOf(signal));
      this.#endIfEmpty(waiter.question, 'cancelled');
    };
    const cancelTimer = this.#deps.timer.after(waitMs, () => {
      waiter.isOverdue = true;
      if (!waiter.question.isDecided) this.#endOverdue(waiter.question);
    });
    signal.addEventListener('abort', onAbort, { once: true });
    waiter.question.add(waiter);
    return promise;
  }

  isWatched(): boolean {
    return this.#deps.liveEvents.isFollowed || this.#deps.clock.monotonic() - this.#watchedMs < WATCH_MS;
  }

  /** A program looks for questions, to show them to a person. */
  watched(): void {
    this.#watchedMs = this.#deps.clock.monotonic();
  }

  /** The questions that are open, oldest first. `project`: '' for those of every project. */
  list(project: string): readonly Question[] {
    return [...this.#open.values()].filter(({ session }) => project === '' || session.project === project);
  }

  /** Calls `listener` for every question from now on, until the returned function is called. It must not throw. */
  subscribe(listener: (event: QuestionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Answers a question. `once` lets the first `calls` of this question run, and the others ask again; every other answer is kept for its rule and project, and
   * settles all calls that wait for it. `project`: '' if the person decides in every project. Throws NOT_FOUND for an
   * unknown question and one of another project, CONFLICT if it was answered, EXPIRED if nobody waits any more.
   */
  async decide(id: string, project: string, answer: Answer): Promise<Decided> {
    const question = this.#find(id, project);
    if (question.isDecided) throw answeredBefore(id);
    question.isDecided = true;
    try {
      return await this.#settle(question, answer);
    } catch (thrown) {
      question.isDecided = false;
      this.#endOverdue(question);
      throw thrown;
    }
  }

  /** Keeps an answer to a rule before a call asks, and settles the calls that wait for it. `once` has no meaning here. */
  async decideRule(rule: ApprovalRule, project: string, answer: Answer): Promise<Decided> {
    const expiresMs = await this.#keep(rule, project, answer);
    const waiting = this.list(project).filter((question) => question.rule.id === rule.id);
    const calls = this.#answerAll(waiting, answer);
    return { rule, project, session: '', calls, expiresMs };
  }

  /** Refuses the calls that wait for a rule that was removed: nobody allowed them. */
  ruleRemoved(id: string): void {
    this.#refuse((question) => question.rule.id === id);
  }

  /** Refuses the waiting calls of a project that is no longer registered. */
  forget(project: string): void {
    this.#refuse(({ session }) => session.project === project);
  }

  async #settle(question: OpenQuestion, answer: Answer): Promise<Decided> {
    const { rule, session } = question;
    const { project } = session;
    if (answer.answer !== 'once')
      return { ...(await this.decideRule(rule, project, answer)), session: session.session };
    const later = question.takeAfter(answer.calls);
    const calls = this.#answerAll([question], answer);
    this.#askAgain(question, later);
    return { rule, project, session: session.session, calls, expiresMs: null };
  }

  /** Calls that came after the person was shown the question are asked about under a new id. */
  #askAgain(answered: OpenQuestion, later: readonly Waiter[]): void {
    if (later.length === 0) return;
    const question = new OpenQuestion({ ...answered, askedMs: this.#deps.clock.now() });
    this.#open.set(question.key, question);
    for (const waiter of later) question.add(waiter);
    this.#tell({ kind: 'asked', question });
  }

  async #keep(rule: ApprovalRule, project: string, { answer, forMs }: Answer): Promise<number | null> {
    const verdict = answer === 'never' ? 'never' : 'allow';
    const other = verdict === 'never' ? 'allow' : 'never';
    const expiresMs = answer === 'for' ? this.#deps.clock.now() + forMs : null;
    await this.#deps.consents.change(project, {
      withdraw: [approvalSubject(other, rule.id)],
      give: [{ subject: approvalSubject(verdict, rule.id), hash: approvalRuleHash(rule), expiresMs }],
    });
    return expiresMs;
  }

  #answerAll(questions: readonly Question[], { answer, by }: Answer): number {
    const chosen = this.#openOf(questions);
    const calls = chosen.reduce((sum, { waiters }) => sum + waiters.size, 0);
    for (const question of chosen) this.#end(question, 'answered', { kind: 'answered', answer, by });
    return calls;
  }

  #refuse(isMeant: (question: OpenQuestion) => boolean): void {
    for (const question of [...this.#open.values()].filter(isMeant))
      this.#end(question, 'its rule was removed', { kind: 'rule removed' });
  }

  #openOf(questions: readonly Question[]): OpenQuestion[] {
    return [...this.#open.values()].filter((question) => questions.includes(question));
  }

  /** Why no further call of the project may wait; null if one may. */
  #crowdedBy(project: string): ContextdError | null {
    const count = (root: string): number => this.list(root).reduce((sum, { calls }) => sum + calls, 0);
    if (count('') >= WAITING_MAX) return tooManyWait(WAITING_MAX, '');
    return count(project) >= PROJECT_WAITING_MAX ? tooManyWait(PROJECT_WAITING_MAX, ` in ${project}`) : null;
  }

  #endOverdue(question: OpenQuestion): void {
    for (const waiter of [...question.waiters]) if (waiter.isOverdue) waiter.end({ kind: 'nobody answered' });
    this.#endIfEmpty(question, 'not answered in time');
  }

  #endIfEmpty(question: OpenQuestion, how: QuestionEnd): void {
    if (question.waiters.size === 0 && !question.isDecided) this.#end(question, how);
  }

  #end(question: OpenQuestion, how: QuestionEnd, end?: WaitEnd): void {
    if (!this.#open.delete(question.key)) return;
    this.#ended.set(question.id, { project: question.session.project, how });
    const [oldest] = this.#ended.keys();
    if (oldest !== undefined && this.#ended.size > ENDED_MAX) this.#ended.delete(oldest);
    if (end !== undefined) for (const waiter of [...question.waiters]) waiter.end(end);
    this.#tell({ kind: 'ended', question, how });
  }

  #find(id: string, project: string): OpenQuestion {
    const isHere = (root: string): boolean => project === '' || root === project;
    const open = [...this.#open.values()].find((question) => question.id === id);
    if (open !== undefined && isHere(open.session.project)) return open;
    const ended = this.#ended.get(id);
    if (ended === undefined || !isHere(ended.project)) throw unknownQuestion(id);
    if (ended.how === 'answered') throw answeredBefore(id);
    throw new ContextdError('EXPIRED', `no call waits for ${id} any more: ${ended.how}`, {
      remedy: 'The next call asks again. See `ctxd approve`.',
    });
  }

  #questionOf(call: VerifiedCall, rule: ApprovalRule): OpenQuestion {
    const { session, input, request, tool } = call;
    const key = JSON.stringify([rule.id, session, tool.manifest.name, request.cwd, input]);
    const present = this.#open.get(key);
    if (present !== undefined) return present;
    const [askedMs, text] = [this.#deps.clock.now(), this.#textOf(call)];
    const asked = { key, rule, session, tool: tool.manifest.name, cwd: request.cwd, text, askedMs };
    const question = new OpenQuestion(asked);
    this.#open.set(key, question);
    this.#tell({ kind: 'asked', question });
    return question;
  }

  async #textOf(call: VerifiedCall): Promise<string | null> {
    const { scrubber, logger } = this.#deps;
    try {
      return await maskOwnWords(call.session, inputText(matchedCall(call)), scrubber);
    } catch (thrown) {
      logger.warn('approvals.text_withheld', { request_id: call.requestId, cause: String(thrown) });
      return null;
    }
  }

  #tell(event: QuestionEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #matcherOf(rule: ApprovalRule): RuleMatcher {
    const known = this.#matchers.get(rule) ?? compileOrAsk(rule);
    this.#matchers.set(rule, known);
    return known;
  }
}

function matchedCall({ tool, input }: VerifiedCall): MatchedCall {
  return { tool: tool.manifest.name, primary: tool.arguments.primary, input };
}

/** Nothing has run: a daemon that stops says so. */
function endOf({ reason }: AbortSignal): ContextdError {
  if (!(reason instanceof ContextdError)) return new ContextdError('CANCELLED', 'the call was cancelled');
  if (reason.code !== 'INTERRUPTED') return reason;
  return new ContextdError('INTERRUPTED', 'contextd stopped while the call waited for a person. Nothing has run', {
    remedy: 'Call again: the next call starts contextd and asks again.',
    details: reason.details,
  });
}

function tooManyWait(limit: number, where: string): ContextdError {
  return new ContextdError('RATE_LIMITED', `${limit} calls wait for a person already${where}`, {
    remedy: 'Call again later. A person answers them with `ctxd approve`.',
    details: { limit },
    retryAfterMs: 1_000,
  });
}

function answeredBefore(id: string): ContextdError {
  return new ContextdError('CONFLICT', `${id} was answered already`, {
    remedy: '`ctxd approve list` shows the answers that are kept; `ctxd approve remove` takes one back.',
  });
}

function unknownQuestion(id: string): ContextdError {
  return new ContextdError('NOT_FOUND', `no call waits for ${JSON.stringify(id.slice(0, 80))}`, {
    remedy: 'See `ctxd approve`.',
  });
}
