import { randomUUID } from 'node:crypto';
import type { PassingCaller, PassingRequests } from '../../call/passing.ts';
import { isJsonObject } from '../../core/json.ts';
import { OpenQuestions } from '../../core/open-questions.ts';
import { McpError, type McpMessage, type PassedRequest } from '../../core/passing.ts';
import type {
  FollowRequest__Output,
  PassedEvent,
  PassedRequest__Output,
  QuestionAnswer__Output,
} from '../../protocol/generated/tool.ts';
import type { ToolServiceHandlers } from '../../protocol/generated/tool-service.ts';
import { errorBytes, jsonBytes, messageBytes, messageIn, objectIn } from '../../protocol/passed-json.ts';
import { type PassingPortDeps, passingPort } from '../passing-port.ts';
import { versionFault } from './call-request.ts';
import type { Send as SendEvent } from './event-sender.ts';
import type { Caller } from './identities.ts';
import { type PassedQuestions, readable } from './passed-questions.ts';
import type { EventRoute, Route } from './rpc.ts';

export interface PassingRouteDeps extends PassingPortDeps {
  passing: PassingRequests;
  questions: PassedQuestions;
}

type Send = SendEvent<PassedEvent>;

/** An MCP client behind a bridge. */
interface FollowingClient {
  readonly project: string;
  readonly questions: OpenQuestions;
  notify(message: McpMessage): void;
}

const CALLERS: readonly Caller[] = ['proxy', 'cli'];

/** The rpcs with which the bridge of an MCP client reaches the MCP servers of a project. */
export function passingRoutes(
  deps: PassingRouteDeps,
  route: Route,
  eventRoute: EventRoute,
): Pick<ToolServiceHandlers, 'FollowServers' | 'Pass' | 'AnswerQuestion'> {
  const clients = new Map<string, FollowingClient>();
  return {
    FollowServers: eventRoute(CALLERS, (wire: FollowRequest__Output, signal, _caller, send) =>
      follow(wire, signal, send, clients, deps),
    ),
    Pass: eventRoute(CALLERS, (wire: PassedRequest__Output, signal, caller, send) => {
      const client = clients.get(wire.client);
      return pass(wire, { signal, send, caller, client }, deps);
    }),
    AnswerQuestion: route(CALLERS, async (wire: QuestionAnswer__Output) => {
      deps.questions.answer(wire);
      return {};
    }),
  };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function follow(
  { context, earlier }: FollowRequest__Output,
  signal: AbortSignal,
  send: Send,
  clients: Map<string, FollowingClient>,
  { passing }: PassingRouteDeps,
): Promise<PassedEvent> {
  checkVersion(context);
  const project = context?.project_root ?? '';
  // Nobody else knows the name, and a question that a client carries is for its name.
  const client = UUID.test(earlier) && !clients.has(earlier) ? earlier : randomUUID();
  const notify = (message: McpMessage): void => void send({ notice_json: messageBytes(message) }, 'vital');
  clients.set(client, { project, notify, questions: new OpenQuestions() });
  const unfollow = passing.follow(project, notify);
  send({ client }, 'vital');
  try {
    return await new Promise<never>((_resolve, reject) => {
      if (signal.aborted) reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    unfollow();
    clients.delete(client);
    void passing.closeClient(project, client);
  }
}

interface Passage {
  signal: AbortSignal;
  send: Send;
  caller: Caller;
  client: FollowingClient | undefined;
}

async function pass(
  wire: PassedRequest__Output,
  { signal, send, caller, client }: Passage,
  deps: PassingRouteDeps,
): Promise<PassedEvent> {
  const { context } = wire;
  checkVersion(context);
  const project = context?.project_root ?? '';
  if (client === undefined || client.project !== project) return { is_unknown_client: true };
  const { method, params } = readable(() => messageIn(wire.message_json));
  const capabilities = readable(() => objectIn(wire.capabilities_json));
  const ended = new AbortController();
  // Of the progress that a slow bridge misses only the newest counts. It comes before the result.
  let missed: McpMessage | null = null;
  const request: PassedRequest = {
    method,
    params,
    signal,
    notify(message) {
      const isProgress = message.method === 'notifications/progress';
      const isSent = send({ notice_json: messageBytes(message) }, isProgress ? undefined : 'vital');
      if (isProgress) missed = isSent ? null : message;
    },
    client: {
      key: wire.client,
      isLegacy: wire.is_legacy,
      capabilities,
      ask: (message, asking) =>
        client.questions.ask(() => deps.questions.ask(message, AbortSignal.any([asking, ended.signal]), send)),
      notify: client.notify,
    },
  };
  const principal = { door: 'mcp', client: caller } as const;
  const asked: PassingCaller = { principal, project, sessionHint: context?.session_id ?? '' };
  const port = passingPort(asked, deps);
  try {
    const { arguments: args } = params;
    const result = await (method === 'tools/call'
      ? port.call({ toolId: wire.tool_id }, isJsonObject(args) ? args : {}, request)
      : port.request(request));
    if (missed !== null) send({ notice_json: messageBytes(missed) }, 'vital');
    return { result_json: jsonBytes(result) };
  } catch (thrown) {
    if (thrown instanceof McpError) return { error_json: errorBytes(thrown) };
    throw thrown;
  } finally {
    ended.abort(new McpError(-32_603, 'the request that the question belonged to has ended'));
  }
}

function checkVersion(context: FollowRequest__Output['context']): void {
  const fault = versionFault(context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
}
