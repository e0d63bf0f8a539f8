import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { checkCommand } from '../../runner/host-api.ts';
import type { ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import { STEERING_SIGNALS, type SteeringSignal } from '../../sandbox/contract/command.ts';
import { readOptionalString, readString, readStringMap } from '../../sdk/input.ts';
import type { OpenJob } from '../../stores/open-jobs.ts';
import type { Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { factsOf, shown } from './shown.ts';
import { type FindLine, waitFor } from './wait.ts';

export interface JobServiceDeps {
  jobs: Pick<Jobs, 'begin' | 'find' | 'interrupted' | 'of' | 'refreshArtifact' | 'renew' | 'takeInterrupted'>;
  findLine: FindLine;
  clock: Clock;
}

/** Milliseconds that a job gets to end after SIGTERM. */
const STOP_GRACE_MS = 5_000;
/** Characters of a command in a list. */
const COMMAND_SHOWN_CHARS = 200;
/** Milliseconds in which a job usually reacts to a signal. */
const REACTION_MS = 500;

/** `JobStart`: `{command, cwd, env, stdin?, own_loopback?, tty?}` → `{job}`. Throws ARGS_INVALID and what `Jobs.begin` throws. */
export async function startJob(
  session: SessionRef,
  request: JsonObject,
  call: ServiceCall,
  { jobs }: JobServiceDeps,
): Promise<ServiceAnswer> {
  const command = readString(request, 'command');
  const cwd = readString(request, 'cwd');
  const env = readStringMap(request, 'env');
  checkCommand({ command, cwd, env });
  const policy = call.commandPolicy();
  const job = await jobs.begin({
    session,
    tool: call.tool,
    command,
    cwd,
    env,
    stdin: readOptionalString(request, 'stdin') ?? null,
    isTerminal: request.tty === true,
    policy: request.own_loopback === true ? { ...policy, network: 'none' } : policy,
    opened: call.opened,
    outputKillBytes: call.outputKillBytes,
  });
  return { answer: { job: job.spec.number, state: 'running' } };
}

type Action = (job: Job, request: JsonObject, call: ServiceCall, deps: JobServiceDeps) => Promise<ServiceAnswer>;

const ACTIONS: Readonly<Record<string, Action>> = {
  show: async (job) => shown(job),
  wait: waitFor,
  input: sendInput,
  signal: sendSignal,
  stop: stopJob,
};

/** `Jobs`: `{action, job?, text?, eof?}`. Every use renews the lease of the job. Throws ARGS_INVALID, NOT_FOUND, CONFLICT. */
export async function useJobs(
  session: SessionRef,
  request: JsonObject,
  call: ServiceCall,
  deps: JobServiceDeps,
): Promise<ServiceAnswer> {
  const name = readString(request, 'action');
  if (name === 'list') return { answer: { jobs: await listed(session, deps) } };
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    throw invalid('action', `is not one of list, ${Object.keys(ACTIONS).join(', ')}: ${JSON.stringify(name)}`);
  }
  const number = request.job;
  if (typeof number !== 'number') throw invalid('job', `is missing: ${name} needs the number of a job`);
  const interrupted = await findInterrupted(session, number, deps);
  if (interrupted !== null) return showInterrupted(name, interrupted, deps);
  const job = deps.jobs.find(session, number);
  const answer = await action(job, request, call, deps);
  deps.jobs.renew(job);
  return answer;
}

/** Null if the job runs or has ended in this daemon, or it is not on record. */
async function findInterrupted(session: SessionRef, number: number, { jobs }: JobServiceDeps) {
  if (jobs.of(session).some(({ spec }) => spec.number === number)) return null;
  return (await jobs.interrupted(session)).find((one) => one.number === number) ?? null;
}

/** What is on record of a job that ended with an earlier daemon: its output as far as it was looked at. */
function showInterrupted(action: string, job: OpenJob, { clock }: Pick<JobServiceDeps, 'clock'>): ServiceAnswer {
  if (action !== 'show' && action !== 'wait') {
    throw new ContextdError('CONFLICT', `job ${job.number} was interrupted: it ended with contextd`, {
      remedy: `Start it again, or look at its output: safe_jobs 'show ${job.number}'.`,
    });
  }
  const facts = { job: job.number, state: 'interrupted', age_s: ageOf(job.startedMs, clock) };
  const answer = { ...facts, command: job.command.slice(0, COMMAND_SHOWN_CHARS) };
  return { answer, shows: job.artifact, standardView: 'tail' };
}

function ageOf(startedMs: number, clock: Clock): number {
  return Math.round((clock.now() - startedMs) / 1000);
}

/** Running jobs first, then those that a daemon's end interrupted, then the newest: a budget cuts the end of a long list. */
async function listed(session: SessionRef, { jobs, clock }: Pick<JobServiceDeps, 'jobs' | 'clock'>): Promise<Json> {
  const interrupted = (await jobs.takeInterrupted(session)).map(
    ({ number, startedMs, command, artifact }): JsonObject => ({
      ...{ job: number, state: 'interrupted', age_s: ageOf(startedMs, clock) },
      ...{ command: command.slice(0, COMMAND_SHOWN_CHARS), output: artifact },
    }),
  );
  const [running, ended] = [true, false].map((runs) => jobs.of(session).filter(({ end }) => (end === null) === runs));
  const facts = (job: Job): JsonObject => {
    if (job.end === null) jobs.renew(job);
    const { command, startedMs } = job.spec;
    return { ...factsOf(job), age_s: ageOf(startedMs, clock), command: command.slice(0, COMMAND_SHOWN_CHARS) };
  };
  return [...(running ?? []).map(facts), ...interrupted, ...(ended ?? []).toReversed().map(facts)];
}

/** A line is sent with its line end, unless it is the end of the input. */
async function sendInput(job: Job, request: JsonObject): Promise<ServiceAnswer> {
  const text = readOptionalString(request, 'text') ?? '';
  const isEnd = request.eof === true;
  if (text === '' && !isEnd) throw invalid('text', 'is missing: pass the input, or eof to end it');
  await job.input(text === '' || isEnd || text.endsWith('\n') ? text : `${text}\n`, isEnd);
  return { answer: factsOf(job) };
}

async function sendSignal(job: Job, request: JsonObject): Promise<ServiceAnswer> {
  const reached = await job.signal(signalOf(readOptionalString(request, 'text') ?? ''));
  await within(REACTION_MS, job.ended, () => {});
  return shown(job, { processes: reached });
}

function signalOf(text: string): SteeringSignal {
  const wanted = text.toUpperCase().replace(/^(?!SIG)/, 'SIG');
  const signal = STEERING_SIGNALS.find((one) => one === wanted);
  if (signal !== undefined) return signal;
  const names = STEERING_SIGNALS.map((one) => one.slice(3)).join(', ');
  throw invalid('text', `must name a signal (${names}), not ${JSON.stringify(text.slice(0, 40))}`);
}

async function stopJob(job: Job, _request: JsonObject, call: ServiceCall, { clock }: JobServiceDeps) {
  const left = call.endsAt - clock.monotonic();
  await job.stop('stop', Math.max(0, Math.min(STOP_GRACE_MS, left / 2)));
  return shown(job);
}

function invalid(name: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `/${name} ${fault}`, {
    remedy: `For example: safe_jobs '{"action":"show","job":1}'. \`safe_jobs --help --extended\` describes every action.`,
    details: { faults: [{ pointer: `/${name}`, fault }] },
  });
}
