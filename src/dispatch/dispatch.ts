import type { EndedCall } from '../call/ended-call.ts';
import { withoutOutput } from '../call/fact-operations.ts';
import type { CallFacts } from '../call/outcome.ts';
import type { CallAnswer, CallRequest, Dispatch } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import type { LiveSessions } from '../stores/live-sessions.ts';
import { readView } from '../tokens/views/read-view.ts';
import { type CallRecordDeps, createCallRecord } from './audit.ts';
import { type Asking, type AuthorizeDeps, authorize } from './authorize.ts';
import type { CallBranches } from './branch.ts';
import { type BudgetDeps, budget, budgetPage, turnedAway, withoutText } from './budget.ts';
import { addFacts, type Call, EMPTY_OUTCOME, failedOutcome, type RawOutcome, type VerifiedCall } from './call.ts';
import { CallState, type StepName, type StepResults } from './call-state.ts';
import { callerWords, inCallersWords } from './caller-words.ts';
import { arrived, type CarriedCalls } from './carried-call.ts';
import { factsOfOpenings } from './coded-warnings.ts';
import { withGatewayKeys } from './gateway-error.ts';
import { identify } from './identify.ts';
import { type OpenSecretsDeps, openSecrets } from './open-secrets.ts';
import { openCursor, openPage, type PageDeps } from './page.ts';
import { unrecorded } from './refuse.ts';
import { withRefusedHosts } from './refused-hosts.ts';
import { reported } from './report-failure.ts';
import { type RunDeps, run } from './run.ts';
import { type ScrubbedOutcome, type ScrubDeps, scrub, withheld } from './scrub.ts';
import { slotOwnerOf } from './slots.ts';
import { createStepTimes } from './step-times.ts';
import { type StoreDeps, type StoredOutput, store } from './store.ts';
import type { Budgeted } from './tally.ts';
import * as text from './text/budget-text.ts';
import { refusalBudget, type VerifyDeps, verify } from './verify.ts';

export interface DispatchDeps
  extends VerifyDeps,
    Omit<AuthorizeDeps, 'config' | 'scrubber'>,
    Omit<RunDeps, 'config' | 'catalog' | 'access'>,
    CallRecordDeps,
    Omit<BudgetDeps, 'config'>,
    Omit<text.TextDeps, 'config'>,
    ScrubDeps,
    StoreDeps,
    PageDeps {
  config: AuthorizeDeps['config'] & RunDeps['config'] & OpenSecretsDeps['config'] & BudgetDeps['config'];
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  branches: CallBranches;
  findings: SessionFindings;
  /** Gets the times of the steps of each call, as `StepTimes.fields` has them. Must not throw. */
  callFigures: { took(times: Readonly<Record<string, number>>): void };
  carried: CarriedCalls;
  /** Gets each call that was answered, for its trace. Absent: traces are off. Must not throw. */
  traceCall?(call: EndedCall): void;
  clock: Clock;
  logger: Logger;
}

/** Paths set aside and accesses refused for a session outside its calls, by jobs. */
interface SessionFindings {
  /** Returns what the next answer reports: its call's own findings and the pending ones. */
  report(session: SessionRef, own: Findings): Findings;
}

type Findings = Pick<CallFacts, 'quarantined' | 'denied'>;

interface Step<Name extends StepName = StepName> {
  name: Name;
  run(state: CallState, deps: DispatchDeps): StepResults[Name] | Promise<StepResults[Name]>;
  /** True if the call proceeds without this step. Default: false. */
  skips?(state: CallState): boolean;
}

/** The nine steps, in order (ARCHITECTURE.md). Each returns its result and reads the results of earlier steps. */
export const STEPS: readonly { [Name in StepName]: Step<Name> }[StepName][] = [
  { name: 'identify', run: (state, deps) => identify(state.request, deps) },
  { name: 'verify', run: (state, deps) => verify(state.from('identify'), deps) },
  {
    name: 'authorize',
    run: (state, deps) => authorize(state.from('verify'), deps, askingOf(state)),
    skips: continuesEarlier,
  },
  { name: 'open_secrets', run: (state, deps) => openSecrets(state.from('verify'), deps), skips: runsNothing },
  { name: 'run', run: outcomeOf },
  { name: 'scrub', run: scrubOrWithhold },
  { name: 'store', run: storeText },
  { name: 'budget', run: makeAnswer },
  { name: 'audit', run: recordAnswer },
];

/** Every call takes the steps from here on, even if an earlier one failed. */
const WAY_OUT = STEPS.findIndex(({ name }) => name === 'scrub');

/** Runs a call from any door through the steps. Any step may end it; every answer passes scrub and audit. */
export function createDispatch(deps: DispatchDeps): Dispatch {
  return async (request: CallRequest): Promise<CallAnswer> => {
    const arriving = deps.carried.take(request.requestId);
    const record = createCallRecord(request, deps);
    const state =
      arriving === null
        ? new CallState(request, record, createStepTimes(deps.clock))
        : await arrived(arriving, request, record, deps.clock);
    if (arriving !== null) deps.carried.arrived(state);
    try {
      const answer = await takeSteps(state, arriving !== null, deps);
      if (answer !== null) return answer;
    } finally {
      deps.carried.answered(state);
    }
    const times = state.times.fields();
    deps.callFigures.took(times);
    deps.traceCall?.(endedCall(state, times));
    deps.logger.debug('call.answered', { request_id: state.call.requestId, ...request.principal, ...times });
    return state.from('audit');
  };
}

/** `hasRun`: begins after step 5. Returns the answer of the next daemon, or null if the answer is the result of the last step. */
async function takeSteps(state: CallState, hasRun: boolean, deps: DispatchDeps): Promise<CallAnswer | null> {
  let next = hasRun ? WAY_OUT : 0;
  for (let step = STEPS[next]; step !== undefined; step = STEPS[next]) {
    const answer = next === WAY_OUT && !hasRun ? await deps.carried.ended(state) : null;
    if (answer !== null) return answer;
    next = (await takeStep(step, state, deps)) ? next + 1 : WAY_OUT;
  }
  return null;
}

function endedCall(state: CallState, times: EndedCall['times']): EndedCall {
  const { request } = state;
  const { line, text, exitCode } = state.from('audit');
  return {
    tool: state.find('verify')?.tool.manifest.name ?? request.tool,
    door: request.principal.door,
    projectRoot: request.projectRoot,
    errorCode: state.unrecordedAs ?? state.from('scrub').failure?.code ?? null,
    exitCode,
    tokens: state.from('budget').tally.tokensReturned,
    bytes: Buffer.byteLength(text === undefined ? line : text.stdout + text.stderr),
    startedMs: state.call.receivedAt,
    times,
    ...(request.traceParent === undefined ? {} : { traceParent: request.traceParent }),
  };
}

/** Returns false if the step failed. The failure becomes the call's outcome, scrubbed and recorded like any other. */
async function takeStep<Name extends StepName>(
  step: Step<Name>,
  state: CallState,
  deps: DispatchDeps,
): Promise<boolean> {
  if (step.skips?.(state)) return true;
  try {
    state.keep(step.name, await step.run(state, deps));
    return true;
  } catch (thrown) {
    endWithFailure(step.name, state, thrown, deps);
    return false;
  } finally {
    state.times.end(step.name);
  }
}

/** Keeps the facts of the run, even if its output could not be stored or cut. Throws if the refusal itself fails. */
function endWithFailure(step: StepName, state: CallState, thrown: unknown, deps: DispatchDeps): void {
  if (state.isRefused) throw thrown;
  state.isRefused = !state.has('verify') || state.has('run') || continuesEarlier(state);
  const { facts, tokenNotes } = state.find('run') ?? withEarlierFacts(EMPTY_OUTCOME, state);
  const failure = reported(state.from('identify'), thrown, deps, step);
  state.keep('run', { ...failedOutcome(failure, withoutOutput(facts)), tokenNotes });
}

function askingOf(state: CallState): Asking {
  return {
    begin: (rule) => state.record.ask(state.from('verify'), rule),
    note: (asked) => void state.approvals.push(asked),
    underPolicy(hash) {
      state.policyHash = hash;
    },
    ruled(rules) {
      state.commandRules = rules;
    },
  };
}

/** True if the call continues an earlier output. Nothing runs then. */
function continuesEarlier(state: CallState): boolean {
  return state.from('verify').options.continuation !== null;
}

function runsNothing(state: CallState): boolean {
  return continuesEarlier(state) || state.from('verify').options.dryRun;
}

/** Runs the tool. A dry run's outcome is its report; a continuation's outcome is an earlier output. */
async function outcomeOf(state: CallState, deps: DispatchDeps): Promise<RawOutcome> {
  const call = state.from('verify');
  const { continuation, dryRun, isViewAsked } = call.options;
  if (continuation !== null && isViewAsked) {
    const { artifactId } = await openCursor(call, continuation, deps);
    return addFacts(EMPTY_OUTCOME, { shows: artifactId });
  }
  if (continuation !== null) {
    state.page = await openPage(call, continuation, deps);
    return addFacts(EMPTY_OUTCOME, { shows: state.page.artifactId });
  }
  const { isolation, report } = state.from('authorize');
  if (dryRun) return addFacts({ ...EMPTY_OUTCOME, data: report }, { policyHash: state.policyHash });
  await state.times.of('journal', state.record.begin(call));
  deps.carried.began(state);
  const release = await state.times.of('slot', deps.slots.take(slotOwnerOf(call), call.request.signal));
  try {
    return withRefusedHosts(withEarlierFacts(await run(call, state.from('open_secrets'), isolation, deps), state));
  } finally {
    release();
  }
}

/** Adds what the steps before `run` found: the answers of a person, and the tokens in the call's input. */
function withEarlierFacts(outcome: RawOutcome, state: CallState): RawOutcome {
  const { execution } = state.find('verify') ?? {};
  const provenance = { argRepairs: execution?.repairs ?? [] };
  const repaired = provenance.argRepairs.length === 0 ? outcome : addFacts(outcome, { provenance });
  const { approvals, commandRules, policyHash } = state;
  const approved = addFacts(repaired, {
    policyHash,
    ...(approvals.length > 0 && { approvals }),
    ...(commandRules.length > 0 && { commandRules }),
  });
  const secrets = state.find('open_secrets');
  if (secrets === undefined) return approved;
  const facts = { secretsOpened: secrets.opened, ...factsOfOpenings(secrets.openings) };
  return { ...addFacts(approved, facts), tokenNotes: secrets.notes };
}

async function scrubOrWithhold(state: CallState, deps: DispatchDeps): Promise<ScrubbedOutcome> {
  // The session is the one of the call, not of its branch: the numbers of secrets are the same in all of them.
  const call = { ...state.from('identify'), request: state.call.request };
  const said = inCallersWords(state.from('run'), callerWords(state.call, deps));
  const found = withGatewayKeys(said, state.call, deps.catalog);
  const raw = state.hasOutput ? addFacts(found, deps.findings.report(call.session, found.facts)) : found;
  state.keep('run', raw);
  try {
    const started = deps.clock.monotonic();
    const scrubbed = await scrub(call, raw, deps);
    return { ...scrubbed, scrubMs: Math.round((deps.clock.monotonic() - started) * 10) / 10 };
  } catch (thrown) {
    return withheld(reported(call, thrown, deps, 'scrub'), raw);
  }
}

async function storeText(state: CallState, deps: DispatchDeps): Promise<StoredOutput | null> {
  return state.hasOutput ? store(state.from('verify'), state.from('scrub'), deps) : null;
}

async function makeAnswer(state: CallState, deps: DispatchDeps): Promise<Budgeted> {
  if (state.isRefused) return answerWithoutText(state.from('identify'), state.from('scrub'), deps);
  const verified = state.from('verify');
  const isText = state.request.form === 'text';
  if (state.page !== null)
    return isText ? text.budgetPageText(verified, state.page, deps) : budgetPage(verified, state.page, deps);
  const viewed = withStandardView(verified, state.from('run').facts);
  const stored = state.from('store');
  const answering = isText ? text.budgetText : budget;
  let budgeted = await answering(viewed, state.from('scrub'), stored, deps);
  const warning = deps.branches.warning(verified.session, budgeted.tally.tokensReturned);
  if (warning !== null) {
    state.keep(
      'scrub',
      addFacts(state.from('scrub'), { warnings: [callerWords(verified, deps)?.advice(warning) ?? warning] }),
    );
    budgeted = await answering(viewed, state.from('scrub'), stored, deps);
  }
  state.times.end('budget');
  await state.times.of('store', stored?.committed ?? Promise.resolve());
  return budgeted;
}

/** Applies the view that the tool chose, unless the caller named one. */
function withStandardView(call: VerifiedCall, { standardView }: RawOutcome['facts']): VerifiedCall {
  if (standardView === null || call.options.isViewAsked) return call;
  return { ...call, options: { ...call.options, view: readView(standardView) } };
}

/** Always returns an answer, because a call without one would go unrecorded. */
function answerWithoutText(call: Call, outcome: ScrubbedOutcome, deps: DispatchDeps): Budgeted {
  const { counter } = deps;
  const isText = call.request.form === 'text';
  try {
    const maxTokens = refusalBudget(call, deps);
    if (isText) return text.withoutText({ outcome, maxTokens, counter });
    return withoutText(call.requestId, outcome, maxTokens, counter);
  } catch (thrown) {
    const why = reported(call, thrown, deps, 'budget');
    return isText ? text.turnedAway(why, withheld(why), counter) : turnedAway(call.requestId, why, counter);
  }
}

/** No record, no answer. The error does not describe the withheld answer: that too would go unrecorded. */
async function recordAnswer(state: CallState, deps: DispatchDeps): Promise<CallAnswer> {
  const budgeted = state.from('budget');
  try {
    const artifactHashes = [...state.call.artifacts.values()];
    await state.record.end(state.call, addFacts(state.from('scrub'), { artifactHashes }), budgeted);
    return budgeted.answer;
  } catch (thrown) {
    const failure = unrecorded(reported(state.call, thrown, deps, 'audit'));
    state.unrecordedAs = failure.code;
    return answerWithoutText(state.call, { ...withheld(failure), failure }, deps).answer;
  }
}
