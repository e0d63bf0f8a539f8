import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Clock } from '../../core/clock.ts';
import type { SetAside } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import type { LogFields, Logger } from '../../core/log.ts';
import { packError } from '../../core/wire-error.ts';
import type {
  Answer,
  GuardCall,
  GuardReply,
  GuardRequest,
  GuardResults,
  GuardSettings,
  GuardThreadData,
} from '../contract/messages.ts';
import type { Protection } from '../contract/protection.ts';
import type { Run } from '../index/runs.ts';
import { QuarantineLedger } from '../quarantine/ledger.ts';
import { GuardEngine } from './guard-engine.ts';

interface Guarded {
  readonly engine: GuardEngine;
  /** Unsettled runs by the main thread's run id. */
  readonly runs: Map<number, Run>;
  isClosed: boolean;
}

/** Message port of the thread. Keeps order, and can be polled during other work. */
const port = parentPort;
if (port === null) throw new Error('the engine of the guard runs in a thread');

const { clockStartMs }: GuardThreadData = workerData;
/** Synchronized with the main thread's clock. */
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint()) / 1e6 - clockStartMs,
};

const logger = ((): Logger => {
  const at =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (event: string, fields: LogFields = {}, cause?: unknown): void => {
      const why = cause === undefined ? {} : { cause: String(cause) };
      send({ re: 'log', level, event, fields: { ...fields, ...why } });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
})();

const guards = new Map<number, Guarded>();
/** Keyed by file; the guards of one workspace share a ledger. */
const ledgers = new Map<string, QuarantineLedger>();
/** Received calls that are not served yet. */
const waiting: (() => void)[] = [];

port.on('message', (request: GuardRequest) => {
  take(request);
  pause();
});

/** Yields during long work: serves pending calls and answers due reports. */
function pause(): void {
  takeAll();
  for (let serve = waiting.shift(); serve !== undefined; serve = waiting.shift()) serve();
  for (const { engine } of guards.values()) engine.answerReports();
  helpOthers();
}

/** Time slice in milliseconds: after this much work, other engines may work for as long. */
const TURN_MS = 5;
let turnEndedAtMs = 0;

/** Fairness: one huge directory must not block the walk that another project's first call waits for. */
function helpOthers(): void {
  if (clock.monotonic() - turnEndedAtMs < TURN_MS) return;
  turnEndedAtMs = clock.monotonic();
  for (const { engine } of guards.values()) engine.workIfAwaited(TURN_MS);
  turnEndedAtMs = clock.monotonic();
}

/** Processes all messages received so far. Calls are served later, without waiting for another message. */
function catchUp(): void {
  takeAll();
  if (waiting.length > 0) setImmediate(pause);
}

function takeAll(): void {
  if (port === null) return;
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) take(next.message);
}

function take(request: GuardRequest): void {
  if (request.op === 'stop') waiting.push(() => stop(request));
  else if (request.op === 'open') guards.set(request.guard, open(request.guard, request.settings));
  else {
    const guarded = guards.get(request.guard);
    if (guarded !== undefined) takeFor(guarded, request);
    else if ('call' in request)
      answerTo(request).reject(new ContextdError('SANDBOX_UNAVAILABLE', 'contextd is stopping'));
  }
}

function takeFor(guarded: Guarded, request: Exclude<GuardRequest, { op: 'open' | 'stop' }>): void {
  const { engine, runs } = guarded;
  switch (request.op) {
    case 'begin':
      runs.set(request.run, engine.begin(request.cover, request.began, request.isSearched));
      break;
    case 'resume':
      runs.set(request.run, engine.resume(request.cover, request.began, request.ended, request.isSearched));
      break;
    case 'forget': {
      const run = runs.get(request.run);
      runs.delete(request.run);
      if (run !== undefined) engine.runs.settle(run);
      break;
    }
    case 'building':
      engine.markBuilding(request.paths, request.change);
      break;
    case 'companions':
      engine.setCompanions(request.trees);
      break;
    case 'enclosing':
      engine.setEnclosing(request.gitDir);
      break;
    case 'read_only':
      engine.setReadOnly(request.places);
      break;
    case 'close':
      guarded.isClosed = true;
      engine.close();
      break;
    case 'protection':
      waiting.push(() => engine.protection(answerIfNew(request)));
      break;
    case 'finish': {
      const run = runs.get(request.run);
      if (run === undefined) {
        answerTo(request).reject(new Error(`run ${request.run} is not known`));
        break;
      }
      engine.runs.end(run, request.ended);
      waiting.push(() => engine.finish(run, answerTo(request)));
      break;
    }
    case 'search':
      waiting.push(() => engine.search(answerTo(request)));
      break;
    case 'quarantine':
      waiting.push(() => engine.quarantine(request.action, answerTo(request)));
      break;
    case 'settled':
      waiting.push(() => engine.whenSettled(() => answerTo(request).resolve(null)));
      break;
  }
  if (guarded.isClosed && !engine.runs.isAnyActive) guards.delete(request.guard);
}

function open(guard: number, { ledgerFile, ...settings }: GuardSettings): Guarded {
  const { workspace } = settings;
  const ledger = ledgers.get(ledgerFile) ?? new QuarantineLedger(ledgerFile, logger, clock, workspace);
  ledgers.set(ledgerFile, ledger);
  const runs = new Map<number, Run>();
  const numbersOf = (wanted: Run): number[] => [...runs].flatMap(([run, one]) => (one === wanted ? [run] : []));
  const onSettled = (settled: Run): void => {
    for (const run of numbersOf(settled)) {
      runs.delete(run);
      send({ re: 'settled', guard, run });
    }
  };
  const onFound = (maker: Run, found: SetAside): void => {
    for (const run of numbersOf(maker)) send({ re: 'found', guard, run, found });
  };
  const shared = { ledger, logger, clock, catchUp, pause };
  const engine = new GuardEngine({ ...shared, ...settings, onSettled, onFound });
  return { engine, runs, isClosed: false };
}

function stop(call: GuardCall & { op: 'stop' }): void {
  for (const ledger of ledgers.values()) ledger.flush();
  answerTo(call).resolve(null);
}

function answerTo<Op extends GuardCall['op']>({
  call,
}: {
  readonly op: Op;
  readonly call: number;
}): Answer<GuardResults[Op]> {
  return {
    resolve: (result) => send({ re: 'ok', call, result }),
    reject: (cause) => send({ re: 'error', call, error: packError(cause) }),
  };
}

/** A protection is large and rarely changes, so it is sent only if the main thread's copy is outdated. */
function answerIfNew(request: GuardCall & { op: 'protection' }): Answer<Protection> {
  const answer = answerTo(request);
  return {
    resolve: (protection) => answer.resolve(protection.fingerprint === request.fingerprint ? null : protection),
    reject: (cause) => answer.reject(cause),
  };
}

function send(reply: GuardReply): void {
  port?.postMessage(reply);
}
