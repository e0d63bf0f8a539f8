import type { AnswerHook } from '../../call/client-hook.ts';
import { left } from '../../dispatch/carried-call.ts';
import type { Management, Requests, RpcMethods, RpcName } from '../../protocol/management-contract.ts';
import { actOf, rpcMethods } from '../../protocol/management-rpcs.ts';
import { Pausable } from '../shared/pausable.ts';

/**
 * What persons and clients do beside calls. It changes what the next daemon goes on with, so it is over before the state moves, or
 * waits and is refused then: the caller asks the next daemon.
 */
export class Acts {
  readonly #pausable = new Pausable();
  #hasLeft = false;

  /** Throws DAEMON_UNAVAILABLE once the state has moved; then nothing was done. */
  run<T>(act: () => Promise<T>): Promise<T> {
    return this.#pausable.run(async () => {
      if (this.#hasLeft) throw left();
      return act();
    });
  }

  /** Lets further acts wait, and returns when none is under way. If that takes too long, they go on and it throws CONFLICT. */
  pause(maxMs?: number): Promise<void> {
    return this.#pausable.pause(maxMs);
  }

  resume(): void {
    this.#pausable.resume();
  }

  /** Refuses the acts that wait, and all further ones. */
  leave(): void {
    this.#hasLeft = true;
    this.resume();
  }
}

/** The same service, whose rpcs that change something are acts. `leaving` aborts when the state is about to move. */
export function holdActs(management: Management, acts: Pick<Acts, 'run'>, leaving: AbortSignal): Management {
  const methods: RpcMethods = management;
  return {
    ...management,
    installTool: untilLeaving(management.installTool, acts, leaving),
    ...rpcMethods((name) => (request) => {
      const act = () => methods[name](request);
      return changesState(name, request) ? acts.run(act) : act();
    }),
  };
}

/** An installation may wait for a person and is no act until that accepts it: it ends with nothing installed, so that the person can repeat it. */
function untilLeaving(
  installTool: Management['installTool'],
  acts: Pick<Acts, 'run'>,
  leaving: AbortSignal,
): Management['installTool'] {
  return async (request, signal, send) => {
    await acts.run(async () => {});
    try {
      return await installTool(request, AbortSignal.any([signal, leaving]), send);
    } catch (thrown) {
      throw leaving.aborted && !signal.aborted ? left() : thrown;
    }
  };
}

export function holdHooks(answerHook: AnswerHook, acts: Pick<Acts, 'run'>): AnswerHook {
  return (hook) => acts.run(() => answerHook(hook));
}

/** A restart and a stop decide themselves whether they can be. */
const EXEMPT: ReadonlySet<RpcName> = new Set(['restartServer', 'stopServer']);
/** They are no acts of a person, and write all the same. */
const WRITING: ReadonlySet<RpcName> = new Set(['takeHook', 'recordSettings']);

function changesState<Name extends RpcName>(name: Name, request: Requests[Name]): boolean {
  return !EXEMPT.has(name) && (WRITING.has(name) || actOf(name, request) !== null);
}
