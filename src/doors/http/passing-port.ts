import { ContextdError, isErrorCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { PassedCall } from '../../core/passing.ts';
import type { PassingPort } from '../../mcp/passthrough-server.ts';
import { answerReceived, receive } from '../receive-call.ts';
import type { RouteDeps, RouteRequest } from './route.ts';

/** Passes requests of a client on: calls of tools as calls of `tool_execute`, everything else as it is. */
export function passingPort(project: string, { grant, query }: RouteRequest, deps: RouteDeps): PassingPort {
  const principal = { door: 'mcp', token: grant.name } as const;
  const session = query.session ?? '';
  return {
    request: (request) =>
      inFlight(request.signal, deps, (signal) =>
        deps.passing.request({ principal, project, sessionHint: session }, { ...request, signal }),
      ),
    call: ({ toolId }, args, given) =>
      inFlight(given.signal, deps, async (signal) => {
        const passed: PassedCall = { request: { ...given, signal } };
        const inputJson = Buffer.from(JSON.stringify({ tool_id: toolId, args }));
        const call = { requestId: '', branch: '', cwd: '', inputText: null, form: 'json', inputJson } as const;
        const received = receive(
          { ...call, principal, tool: 'tool_execute', projectRoot: project, session },
          signal,
          deps.clock.now(),
        );
        const { line } = await answerReceived({ ...received, request: { ...received.request, passed } }, deps);
        const fault = faultOf(line);
        // What the server itself said is the answer; anything else that failed withholds it.
        if (passed.answer === undefined || (fault !== null && fault.code !== 'UPSTREAM_ERROR'))
          throw fault ?? new ContextdError('INTERNAL_ERROR', 'the call ended without an answer of the server');
        if ('error' in passed.answer) throw passed.answer.error;
        return passed.answer.result;
      }),
  };
}

function inFlight<T>(given: AbortSignal, deps: RouteDeps, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return deps.inFlight.run((cancel) => {
    if (given.aborted) cancel();
    else given.addEventListener('abort', cancel, { once: true });
  }, work);
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
