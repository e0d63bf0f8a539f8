import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { untilAborted } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import {
  HOST_METHODS,
  type HostServices,
  isHostMethod,
  type ServiceAnswer,
  type ServiceCall,
} from '../../runner/host-methods.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Moves } from './moves.ts';

/** A call of a service as plain data. */
interface PlainCall extends Omit<ServiceCall, 'endsAt' | 'signal' | 'commandPolicy'> {
  /** For `cancel`. */
  readonly key: string;
  readonly leftMs: number;
  /** True if its caller no longer waited when it was sent to the next daemon. */
  readonly isCancelled: boolean;
}

type Asked = (method: string, session: SessionRef, request: JsonObject, call: PlainCall) => Promise<ServiceAnswer>;

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
  /** Calls of earlier daemons, by key. */
  const received = new Map<string, AbortController>();
  /** All calls, by key. */
  const calls = new Map<string, ServiceCall>();
  const leaving = moves.leaving.signal;
  const serve: Asked = moves.works.work(
    'service',
    async (method: string, session: SessionRef, request: JsonObject, { key }: PlainCall): Promise<ServiceAnswer> => {
      const service = isHostMethod(method) ? services[method] : undefined;
      const call = calls.get(key);
      if (service === undefined || call === undefined)
        throw new ContextdError('NOT_IMPLEMENTED', `no service ${method}`);
      return service(session, request, call);
    },
    // Known before it may have to wait, so that its cancellation finds it, whichever daemon it goes on to.
    async (method, session, request, { key, leftMs, isCancelled, ...plain }) => {
      const ending = new AbortController();
      if (isCancelled) ending.abort();
      received.set(key, ending);
      const endsAt = clock.monotonic() + leftMs;
      const commandPolicy = (): SandboxPolicy => commandPolicyFor(session);
      try {
        return await follow(key, method, session, request, { ...plain, endsAt, signal: ending.signal, commandPolicy });
      } finally {
        received.delete(key);
      }
    },
  );
  const follow = async (
    key: string,
    method: string,
    session: SessionRef,
    request: JsonObject,
    call: ServiceCall,
  ): Promise<ServiceAnswer> => {
    const { endsAt, signal, commandPolicy: _policy, ...plain } = call;
    const onAbort = (): void => moves.cancelService(key);
    signal.addEventListener('abort', onAbort, { once: true });
    calls.set(key, call);
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
      calls.delete(key);
      signal.removeEventListener('abort', onAbort);
    }
  };
  const through = (method: string, session: SessionRef, request: JsonObject, call: ServiceCall) =>
    follow(newShortId(), method, session, request, call);
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
  return { services: Object.fromEntries(relocated), cancelled: (key) => received.get(key)?.abort() };
}
