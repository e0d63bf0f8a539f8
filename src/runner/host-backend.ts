import type { HostProgram } from '../call/tool-program.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { ToolOutput } from '../protocol/tool-output.ts';
import { NO_RUN_FACTS } from './call-facts.ts';
import type { ToolBackend, ToolCall } from './runner.ts';
import { failedRun } from './tool-run.ts';

/** A core tool that the daemon answers itself. A ContextdError that it throws is the failure of the call. */
export type HostVerb = (call: ToolCall<HostProgram>) => Promise<ToolOutput>;

/**
 * The backend for verbs of the daemon, by tool. Their output has no first pass: no other process is there to search it, and the
 * daemon searches every string that leaves.
 */
export function createHostBackend(
  verbs: Readonly<Record<string, HostVerb>>,
  clock: Pick<Clock, 'monotonic'>,
): ToolBackend<HostProgram> {
  let isStopped = false;
  return {
    async start() {
      isStopped = false;
    },
    async stop() {
      isStopped = true;
    },
    async run(call) {
      const startedAt = clock.monotonic();
      try {
        if (isStopped) throw new ContextdError('INTERRUPTED', `contextd stopped before ${call.tool} began`);
        const verb = Object.hasOwn(verbs, call.tool) ? verbs[call.tool] : undefined;
        if (verb === undefined) throw new Error(`no verb ${call.tool}`);
        const output = await verb(call);
        return { outcome: { output, firstPass: [], durationMs: clock.monotonic() - startedAt }, facts: NO_RUN_FACTS };
      } catch (thrown) {
        return failedRun(thrown);
      }
    },
  };
}
