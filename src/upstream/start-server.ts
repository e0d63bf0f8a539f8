import type { Clock, Timer } from '../core/clock.ts';
import { within } from '../core/deadline.ts';
import { ContextdError } from '../core/errors.ts';
import type { PassingTraits } from './connection.ts';
import { wordsOf } from './faults.ts';
import type { LastLines } from './last-lines.ts';
import type { ServerStreams } from './line-transport.ts';
import type { ServerSession } from './session.ts';

/** A clause that says what a process was not given, and a sentence that says how a person grants it. */
export interface Refusal {
  readonly what: string;
  readonly remedy: string;
}

/** A process that speaks for a server: the server itself, or the relay to one that is reached over HTTP. */
export interface ServerProcess extends ServerStreams {
  /** Settles if its sandbox no longer protects what it should: new calls must go to another process. */
  readonly stale: Promise<void>;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Settles if it waits for hosts that the network refuses, without which it does not start. Default: never. */
  readonly blocked?: Promise<void>;
  /** What it lacked until now, as far as that is known. */
  refusal?(): Refusal | null;
  /** `isEnd` closes its stdin after the data, by which the protocol asks a server to end. */
  input(data: Buffer, isEnd?: boolean): Promise<void>;
  kill(): Promise<void>;
}

export interface StartDeps {
  readonly name: string;
  /** Null: the process is the server. */
  readonly url: string | null;
  /** contextd's own version, which the server gets. */
  readonly version: string;
  /** Milliseconds to wait for the era of a server. After that it counts as old. Default: 15 seconds. */
  readonly probeMs?: number;
  /** How requests of clients are passed on. Default: they are not. */
  readonly passing?: PassingTraits;
  start(): Promise<ServerProcess>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly timer: Timer;
}

export interface StartOptions {
  /** True: the server is known to end when it is asked for its era, so it is not asked. */
  readonly isLegacy: boolean;
  readonly lastLines: LastLines;
  /** Aborts when the server is not wanted any more. */
  readonly signal: AbortSignal;
  /** Called with each process that may be alive. */
  onProcess(process: ServerProcess): void;
  /** Called when the session is open, before the server counts as started. */
  onOpen(session: ServerSession): Promise<void>;
  onToolsChanged(): void;
  /** Called when a question of the server was refused because it may be for any of several requests. */
  onUndecided(): void;
  /** Called once if the server broke a bound; its process is being killed. */
  onBreach(fault: ContextdError): void;
}

/** A server that has answered. */
export interface StartedServer {
  readonly process: ServerProcess;
  readonly session: ServerSession;
  /** Settles with the reason when the process has ended. */
  readonly gone: Promise<ContextdError>;
  /** True: the next start need not ask for the era. */
  readonly isLegacy: boolean;
}

/** Milliseconds for a server to answer the handshake and list its tools; a package runner may download it first. */
const START_MS = 120_000;
/** A package runner downloads before the server reads its first message. */
const PROBE_MS = 15_000;
/** Milliseconds for a process to end after its connection broke, and for the connection to break after the process ended. */
const REASON_WAIT_MS = 2_000;

/** Starts a process and the session with it. Throws why it did not start; then the process is dead. */
export async function startServer(deps: StartDeps, options: StartOptions): Promise<StartedServer> {
  const { name } = deps;
  const { lastLines, isLegacy, signal } = options;
  const process = await deps.start();
  options.onProcess(process);
  if (signal.aborted) await process.kill();
  let breach: ContextdError | null = null;
  const gone = process.exited.then((end) => breach ?? endedFault(name, end, lastLines));
  const onBreach = (fault: ContextdError): void => {
    breach = fault;
    options.onBreach(fault);
    void process.kill().catch(() => {});
  };
  const connecting = connect(process, deps, options, onBreach);
  const ended = gone.then((fault) => Promise.reject(fault));
  ended.catch(() => {});
  let isGivenUp = false;
  const late = (): never => {
    isGivenUp = true;
    throw new ContextdError('UPSTREAM_TIMEOUT', `the MCP server ${name} did not answer within ${START_MS} ms`);
  };
  try {
    const blocked = blockedStart(name, process).catch((thrown: unknown) => {
      isGivenUp = true;
      throw thrown;
    });
    const session = await within(START_MS, Promise.race([connecting, ended, blocked]), late);
    return { process, session, gone, isLegacy: isLegacy || session.isSilentLegacy };
  } catch (thrown) {
    // A relay goes on when the server behind it is not there.
    const mayHaveEnded = deps.url === null && isBroken(thrown);
    const reason = await within(mayHaveEnded ? REASON_WAIT_MS : 0, gone, () => thrown);
    await process.kill();
    // One that was killed here did not end because it was asked for its era.
    if (!isGivenUp && !isLegacy && !signal.aborted && (await endedAtProbe(connecting)))
      return startServer(deps, { ...options, isLegacy: true });
    throw breach ?? withRefusal(reason, process);
  }
}

/** Fails when the process waits for hosts that are refused to it. */
async function blockedStart(name: string, { blocked }: ServerProcess): Promise<never> {
  await (blocked ?? new Promise(() => {}));
  throw new ContextdError('UPSTREAM_UNAVAILABLE', `the MCP server ${name} cannot download what it runs`, {
    details: { server: name },
  });
}

/** A server that did not start may have needed what it was not given. */
function withRefusal(thrown: unknown, { refusal }: ServerProcess): unknown {
  const refused = thrown instanceof ContextdError ? (refusal?.() ?? null) : null;
  if (refused === null || !(thrown instanceof ContextdError)) return thrown;
  const { code, message, details, cause } = thrown;
  return new ContextdError(code, `${message}; ${refused.what}`, { remedy: refused.remedy, details, cause });
}

/** A connection that broke: how the process ended says more. */
function isBroken(thrown: unknown): boolean {
  return thrown instanceof ContextdError && thrown.code === 'UPSTREAM_UNAVAILABLE';
}

/** How a process ended, and what it printed last. */
export function endedFault(
  name: string,
  { code, signal }: { readonly code: number | null; readonly signal: NodeJS.Signals | null },
  { lines }: Pick<LastLines, 'lines'>,
): ContextdError {
  const how = code !== null ? `with status ${code}` : signal !== null ? `by ${signal}` : 'unexpectedly';
  // A runtime that fails prints more after its error, such as its version.
  const last = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
  const message = `the MCP server ${name} ended ${how}${last === undefined ? '' : `; it printed: ${wordsOf(last)}`}`;
  return new ContextdError('UPSTREAM_UNAVAILABLE', message, {
    remedy: `A person can see more with \`ctxd upstream list ${name}\`.`,
    details: { server: name },
  });
}

async function connect(
  process: ServerProcess,
  { name, url, version, clock, timer, passing, probeMs = PROBE_MS }: StartDeps,
  { isLegacy, lastLines, onOpen, onToolsChanged, onUndecided }: StartOptions,
  onBreach: (fault: ContextdError) => void,
): Promise<ServerSession> {
  const { openSession } = await import('./session.ts');
  const session = await openSession(process, {
    server: name,
    url,
    version,
    timeoutMs: START_MS,
    probeMs,
    isLegacy,
    lastLines,
    clock,
    timer,
    ...(passing === undefined ? {} : { passing }),
    onToolsChanged,
    onUndecided,
    onBreach,
  });
  await onOpen(session);
  return session;
}

/** Whether the server ended when it was asked for its era, and may answer if it is not. */
async function endedAtProbe(connecting: Promise<unknown>): Promise<boolean> {
  const { MaybeLegacy } = await import('./session.ts');
  const failed = connecting.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return (await within(REASON_WAIT_MS, failed, () => null)) instanceof MaybeLegacy;
}
