import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { answerReceived, receive } from '../receive-call.ts';
import { callAnswer, type PlainAnswer } from './answers.ts';
import { projectOf } from './project-of.ts';
import type { RouteDeps, RouteRequest } from './route.ts';

/** Carries a call to dispatch, as the other doors do. A call for a project that the token does not cover is on record too. */
export async function executeTool(tool: string, request: RouteRequest, deps: RouteDeps): Promise<PlainAnswer> {
  const { body, grant, headers, signal } = request;
  const { project, fault } = coveredProject(textIn(body, 'project'), request);
  const { input } = body;
  const isWords = typeof input === 'string';
  const received = receive(
    {
      requestId: '',
      principal: { door: 'http', token: grant.name },
      tool,
      projectRoot: project,
      session: textIn(body, 'session'),
      branch: textIn(body, 'branch'),
      cwd: textIn(body, 'cwd'),
      inputJson: Buffer.from(isWords ? '' : JSON.stringify(isJsonObject(input) ? input : {})),
      inputText: isWords ? Buffer.from(input) : null,
      form: 'json',
      ...(typeof headers.traceparent === 'string' ? { traceParent: headers.traceparent } : {}),
    },
    signal,
    deps.clock.now(),
  );
  return callAnswer(await answerReceived({ ...received, fault: fault ?? received.fault }, deps));
}

function coveredProject(
  given: string,
  { grant }: Pick<RouteRequest, 'grant'>,
): { project: string; fault: ContextdError | undefined } {
  try {
    const project = projectOf(given, grant);
    return { project, fault: project === '' ? namesNoProject() : undefined };
  } catch (thrown) {
    return { project: given, fault: ContextdError.from(thrown) };
  }
}

function namesNoProject(): ContextdError {
  return new ContextdError('ARGS_INVALID', 'the body names no project, and the token is for the whole machine', {
    remedy: 'Add "project":"/path/of/the/project" to the body.',
  });
}

function textIn(body: JsonObject, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}
