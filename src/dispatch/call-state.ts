import type { ApprovalRecord, CommandRuleRecord } from '../call/outcome.ts';
import type { CallAnswer, CallRequest } from '../call/request.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { CallRecord } from './audit.ts';
import type { Permit } from './authorize.ts';
import type { Call, RawOutcome, VerifiedCall } from './call.ts';
import type { OpenedInput } from './open-secrets.ts';
import type { Page } from './page.ts';
import type { ScrubbedOutcome } from './scrub.ts';
import type { StepTimes } from './step-times.ts';
import type { StoredOutput } from './store.ts';
import type { Budgeted } from './tally.ts';

/** The result of each step. */
export interface StepResults {
  identify: Call;
  verify: VerifiedCall;
  authorize: Permit;
  open_secrets: OpenedInput;
  /** The outcome of the call. If a step fails, the failure replaces it. */
  run: RawOutcome;
  scrub: ScrubbedOutcome;
  /** Null if there is no text. */
  store: StoredOutput | null;
  budget: Budgeted;
  audit: CallAnswer;
}

export type StepName = keyof StepResults;

/** The state of a call on its way through the steps. */
export class CallState {
  readonly request: CallRequest;
  readonly record: CallRecord;
  /** `journal` and `slot` are the waits inside `run`. */
  readonly times: StepTimes<StepName | 'journal' | 'slot'>;
  /** The part of an earlier output that the call asks for, or null. */
  page: Page | null = null;
  /** The rules that asked a person about the call, and the answers. */
  readonly approvals: ApprovalRecord[] = [];
  /** The rules of clients that cover commands of the call. */
  commandRules: readonly CommandRuleRecord[] = [];
  /** Of the policy that judged the call; "" if none did. */
  policyHash = '';
  /** True if the call failed without output, or lost it: the answer is the failure and the known facts of the run. */
  isRefused = false;
  /** The code of the answer if the call could not be recorded, or null. */
  unrecordedAs: ErrorCode | null = null;
  readonly #results: Partial<StepResults> = {};

  constructor(request: CallRequest, record: CallRecord, times: CallState['times']) {
    this.request = request;
    this.record = record;
    this.times = times;
  }

  /** False for a refusal and for a page of an earlier output. */
  get hasOutput(): boolean {
    return !this.isRefused && this.page === null;
  }

  /** Sets the result of a step, replacing any earlier one. */
  keep<Name extends StepName>(step: Name, result: StepResults[Name]): void {
    this.#results[step] = result;
  }

  has(step: StepName): boolean {
    return step in this.#results;
  }

  /** The result of a step; undefined if it did not run or failed. */
  find<Name extends StepName>(step: Name): StepResults[Name] | undefined {
    return this.#results[step];
  }

  /** The result of an earlier step. Throws if it has no result: the steps are then in the wrong order. */
  from<Name extends StepName>(step: Name): StepResults[Name] {
    const result = this.#results[step];
    if (result === undefined) throw new Error(`the step ${step} has no result yet`);
    return result;
  }

  /** The call, including its branch once that is known. */
  get call(): Call {
    return this.#results.verify ?? this.from('identify');
  }
}
