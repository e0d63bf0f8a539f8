import type { HttpStanding } from '../../call/http-standing.ts';
import { ContextdError } from '../../core/errors.ts';
import type { HttpDoorDeps, OpenHttp } from './door-deps.ts';

export interface HttpDoor {
  name: string;
  /** Never throws: without this door the daemon goes on, and `standing` says why. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Accepts no more connections, because the next daemon does. Calls that run go on. */
  leave(): void;
  standing(): HttpStanding;
}

/** HTTP on loopback, for automation. Its code is loaded only if a person turned it on. */
export function createHttpDoor(deps: HttpDoorDeps): HttpDoor {
  const { enabled } = deps.config;
  let open: OpenHttp | null = null;
  let why: ContextdError | null = null;
  return {
    name: 'http',
    async start() {
      if (!enabled) return;
      try {
        const { openHttp } = await import('./open.ts');
        open = await openHttp(deps);
        deps.logger.info('http.listening', { url: open.at.url });
      } catch (thrown) {
        why = ContextdError.from(thrown);
        deps.logger.error('http.not_listening', { why: why.message }, thrown);
      }
    },
    leave: () => open?.leave(),
    async stop() {
      const closing = open;
      open = null;
      await closing?.close();
    },
    standing: () => ({ enabled, at: open?.at ?? null, why, certificateSha256: open?.certificateSha256 ?? '' }),
  };
}
