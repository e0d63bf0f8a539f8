import type { PassingCaller, PassingRequests } from '../call/passing.ts';
import type { Clock } from '../core/clock.ts';
import { ContextdError, isErrorCode } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { PassedCall } from '../core/passing.ts';
import type { PassingPort } from '../mcp/passthrough-server.ts';
import { type AnswerDeps, answerReceived, receive } from './receive-call.ts';

export interface PassingPortDeps extends AnswerDeps {
  passing: Pick<PassingRequests, 'request'>;
  clock: Clock;
}

/** Passes requests of a client on: calls of tools as calls of `tool_execute`, everything else as it is. */
export function passingPort(caller: PassingCaller, deps: PassingPortDeps): PassingPort {
  return {
    request: (request) => deps.passing.request(caller, request),
    async call({ toolId }, args, request) {
      const passed: PassedCall = { request };
      const inputJson = Buffer.from(JSON.stringify({ tool_id: toolId, args }));
      const given = { requestId: '', branch: '', cwd: '', inputText: null, form: 'json', inputJson } as const;
      const { principal, project: projectRoot, sessionHint: session } = caller;
      const call = { ...given, principal, tool: 'tool_execute', projectRoot, session, surface: 'passthrough' };
      const received = receive(call, request.signal, deps.clock.now());
      const { line } = await answerReceived({ ...received, request: { ...received.request, passed } }, deps);
      const fault = faultOf(line);
      // What the server itself said is the answer; anything else that failed withholds it.
      if (passed.answer === undefined || (fault !== null && fault.code !== 'UPSTREAM_ERROR'))
        throw fault ?? new ContextdError('INTERNAL_ERROR', 'the call ended without an answer of the server');
      if ('error' in passed.answer) throw passed.answer.error;
      return passed.answer.result;
    },
  };
}

/** The failure in an envelope; null if it has none. */
function faultOf(line: string): ContextdError | null {
  const envelope: unknown = JSON.parse(line);
  if (!isJsonObject(envelope) || envelope.success === true) return null;
  const { error_code: code, remediation } = isJsonObject(envelope.data) ? envelope.data : {};
  return new ContextdError(isErrorCode(code) ? code : 'INTERNAL_ERROR', String(envelope.error), {
    ...(typeof remediation === 'string' ? { remedy: remediation } : {}),
  });
}
