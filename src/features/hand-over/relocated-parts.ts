import type { FileChanges } from '../../call/outcome.ts';
import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { untilAborted } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RawPath } from '../../fs/raw-path.ts';
import {
  HOST_METHODS,
  type HostServices,
  isHostMethod,
  type ServiceAnswer,
  type ServiceCall,
} from '../../runner/host-methods.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { CallFiles } from '../branches/branch-runner.ts';
import type { Branches } from '../branches/branches.ts';
import type { CallId, UndoState, Watched } from '../undo/call-changes.ts';
import type { Undo } from '../undo/undo.ts';
import type { Moves } from './moves.ts';
import type { Relocation } from './relocation.ts';

type WatchedUndo = Pick<Undo, 'before' | 'after' | 'changesOf'>;

/** What is written about the files of calls, wherever the calls run. */
export class RelocatedUndo implements WatchedUndo {
  readonly changesOf: WatchedUndo['changesOf'];
  readonly #undo: WatchedUndo & Pick<Undo, 'adopt'>;
  /** By request id: calls of the daemon before. */
  readonly #watched = new Map<string, { readonly project: string; readonly watched: Watched }>();
  readonly #before: (project: string, call: CallId, input: string) => Promise<Watched | null>;
  readonly #after: (
    project: string,
    requestId: string,
  ) => Promise<{ fileChanges: FileChanges | null; changed: readonly RawPath[] }>;

  constructor(undo: WatchedUndo & Pick<Undo, 'adopt'>, relocation: Relocation) {
    this.#undo = undo;
    this.changesOf = relocation.work('undo.changesOf', (project: string, requestId: string) =>
      undo.changesOf(project, requestId),
    );
    this.#before = relocation.work('undo.before', async (project: string, call: CallId, input: string) => {
      const watched = await undo.before(project, call, input);
      if (watched !== null) this.#watched.set(call.requestId, { project, watched });
      return watched;
    });
    this.#after = relocation.work('undo.after', async (project: string, requestId: string) => {
      const known = this.#watched.get(requestId);
      this.#watched.delete(requestId);
      const fileChanges = known === undefined ? null : await undo.after(project, known.watched);
      return { fileChanges, changed: known?.watched.changed ?? [] };
    });
  }

  before(project: string, call: CallId, input = ''): Promise<Watched | null> {
    return this.#before(project, call, input);
  }

  async after(project: string, watched: Watched): Promise<FileChanges | null> {
    const { fileChanges, changed } = await this.#after(project, watched.call.requestId);
    watched.changed = changed;
    return fileChanges;
  }

  adopt(state: UndoState): void {
    for (const watched of this.#undo.adopt(state)) {
      const project = state.find(({ calls }) => calls.includes(watched))?.project;
      if (project !== undefined) this.#watched.set(watched.call.requestId, { project, watched });
    }
  }

  /** Ends a call whose daemon is gone. */
  async cutShort(requestId: string): Promise<FileChanges | null> {
    const known = this.#watched.get(requestId);
    return known === undefined ? null : (await this.#after(known.project, requestId)).fileChanges;
  }
}

/** The changes of a merge, by whichever daemon made it. */
export function relocatedChanges(branches: Pick<Branches, 'hold' | 'takeChanges'>, relocation: Relocation): CallFiles {
  const changesThere = relocation.work('branches.takeChanges', async (requestId: string) =>
    branches.takeChanges(requestId),
  );
  return {
    hold: (session, requestId) => branches.hold(session, requestId),
    takeChanges: async (requestId) => branches.takeChanges(requestId) ?? changesThere(requestId),
  };
}

/** A call of a service as plain data. */
interface PlainCall extends Omit<ServiceCall, 'endsAt' | 'signal' | 'commandPolicy'> {
  /** For `cancel`. */
  readonly key: string;
  readonly leftMs: number;
  /** True if its caller no longer waited when it was sent to the next daemon. */
  readonly isCancelled: boolean;
}

interface ServicesDeps {
  moves: Moves;
  commandPolicyFor(session: SessionRef): SandboxPolicy;
  clock: Clock;
}

/** The services for tools. `cancelled`: call for the daemon before, with the key of a call. */
export function relocatedServices(
  services: HostServices,
  { moves, commandPolicyFor, clock }: ServicesDeps,
): { services: HostServices; cancelled(key: string): void } {
  const asked = new Map<string, AbortController>();
  const own = new Map<string, ServiceCall>();
  const leaving = moves.leaving.signal;
  const serve = moves.works.work(
    'service',
    async (method: string, session: SessionRef, request: JsonObject, plain: PlainCall): Promise<ServiceAnswer> => {
      const service = isHostMethod(method) ? services[method] : undefined;
      if (service === undefined) throw new ContextdError('NOT_IMPLEMENTED', `no service ${method}`);
      const ours = own.get(plain.key);
      if (ours !== undefined) return service(session, request, ours);
      const { key, leftMs, isCancelled, ...call } = plain;
      const ending = new AbortController();
      if (isCancelled) ending.abort();
      asked.set(key, ending);
      try {
        return await service(session, request, {
          ...call,
          endsAt: clock.monotonic() + leftMs,
          signal: ending.signal,
          commandPolicy: () => commandPolicyFor(session),
        });
      } finally {
        asked.delete(key);
      }
    },
  );
  const through = async (method: string, session: SessionRef, request: JsonObject, call: ServiceCall) => {
    const { endsAt, signal, commandPolicy: _policy, ...plain } = call;
    const key = newShortId();
    const onAbort = (): void => moves.cancelService(key);
    signal.addEventListener('abort', onAbort, { once: true });
    own.set(key, call);
    // Read when the state has moved, until which it may wait.
    const sent: PlainCall = {
      ...plain,
      key,
      get leftMs() {
        return endsAt - clock.monotonic();
      },
      get isCancelled() {
        return signal.aborted;
      },
    };
    try {
      return await serve(method, session, request, sent);
    } finally {
      own.delete(key);
      signal.removeEventListener('abort', onAbort);
    }
  };
  /** A wait may take as long as its job, and can begin again. */
  const waiting = async (session: SessionRef, request: JsonObject, call: ServiceCall): Promise<ServiceAnswer> => {
    if (leaving.aborted || services.Jobs === undefined) return through('Jobs', session, request, call);
    const signal = AbortSignal.any([call.signal, leaving]);
    try {
      return await untilAborted(services.Jobs(session, request, { ...call, signal }), signal);
    } catch (thrown) {
      if (!leaving.aborted || call.signal.aborted) throw thrown;
      return through('Jobs', session, request, call);
    }
  };
  const relocated = Object.keys(HOST_METHODS).flatMap((method) => {
    if (!isHostMethod(method) || services[method] === undefined) return [];
    const one: HostServices[typeof method] = (session, request, call) =>
      method === 'Jobs' && request.action === 'wait'
        ? waiting(session, request, call)
        : through(method, session, request, call);
    return [[method, one] as const];
  });
  return { services: Object.fromEntries(relocated), cancelled: (key) => asked.get(key)?.abort() };
}
