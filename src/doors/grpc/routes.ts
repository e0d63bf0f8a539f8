import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import type { AnswerHook } from '../../call/client-hook.ts';
import type { CallRequest } from '../../call/request.ts';
import { newRequestId, REQUEST_ID_PATTERN } from '../../core/ids.ts';
import type { InstallRequest__Output } from '../../protocol/generated/management.ts';
import type {
  CallableTools,
  ClientHookAnswer,
  ClientHookRequest__Output,
  ExecuteRequest__Output,
  ExecuteResponse,
  RefusalReport__Output,
  SchemaRequest__Output,
  SchemaResponse__Output as SchemaResponse,
  WatchToolsRequest__Output,
} from '../../protocol/generated/tool.ts';
import type { ToolServiceHandlers } from '../../protocol/generated/tool-service.ts';
import type { Management, Requests, RpcMethods, RpcName } from '../../protocol/management-contract.ts';
import { RPC_NAMES, wireName } from '../../protocol/management-rpcs.ts';
import { checkRequests } from '../management-requests.ts';
import { answerReceived } from '../receive-call.ts';
import { receiveCall, receiveRefusal, versionFault } from './call-request.ts';
import type { Caller } from './identities.ts';
import { type PassingRouteDeps, passingRoutes } from './passing-routes.ts';
import type { EventRoute, Route } from './rpc.ts';

export interface RouteDeps extends PassingRouteDeps {
  management: Management;
  answerHook: AnswerHook;
}

const TOOL_CALLERS: readonly Caller[] = ['proxy', 'cli'];
const MANAGEMENT_CALLERS: readonly Caller[] = ['cli'];

/** The allowed callers and the handler of each rpc of ToolService. */
export function toolRoutes(deps: RouteDeps, route: Route, eventRoute: EventRoute): ToolServiceHandlers {
  return {
    Execute: route(TOOL_CALLERS, (wire: ExecuteRequest__Output, signal, caller) => execute(wire, signal, caller, deps)),
    ExecuteWithProgress: eventRoute(TOOL_CALLERS, async (wire: ExecuteRequest__Output, signal, caller, send) => {
      const onProgress = (text: string): void => void send({ progress: { text } });
      return { answer: await execute(wire, signal, caller, deps, onProgress) };
    }),
    GetSchema: route(TOOL_CALLERS, (wire: SchemaRequest__Output) => getSchema(wire, deps)),
    WatchTools: route(TOOL_CALLERS, (wire: WatchToolsRequest__Output, signal) => watchTools(wire, signal, deps)),
    ReportRefusal: route(TOOL_CALLERS, async (wire: RefusalReport__Output, signal, caller) => {
      const { request, why } = receiveRefusal(wire, signal, caller, deps.clock.now());
      await deps.refuse(request, why);
      return {};
    }),
    AnswerHook: route(TOOL_CALLERS, (wire: ClientHookRequest__Output) => answerHook(wire, deps)),
    ...passingRoutes(deps, route, eventRoute),
  };
}

/** The handler of each rpc of ManagementService. Only the CLI may call them. */
export function managementRoutes(
  management: Management,
  route: Route,
  eventRoute: EventRoute,
): UntypedServiceImplementation {
  const checked = checkRequests(management);
  const methods: RpcMethods = checked;
  const unary = <Name extends RpcName>(name: Name) =>
    route(MANAGEMENT_CALLERS, (request: Requests[Name]) => methods[name](request));
  return {
    ...Object.fromEntries(RPC_NAMES.map((name) => [wireName(name), unary(name)])),
    InstallTool: eventRoute(MANAGEMENT_CALLERS, (request: InstallRequest__Output, signal, _caller, send) =>
      checked.installTool(request, signal, send),
    ),
  };
}

async function execute(
  wire: ExecuteRequest__Output,
  signal: AbortSignal,
  caller: Caller,
  deps: RouteDeps,
  onProgress?: CallRequest['onProgress'],
): Promise<ExecuteResponse> {
  const received = receiveCall(wire, signal, caller, deps.clock.now());
  const request = onProgress === undefined ? received.request : { ...received.request, onProgress };
  const answer = await answerReceived({ ...received, request }, deps);
  return {
    envelope_json: Buffer.from(answer.line),
    exit_code: answer.exitCode,
    error_line: answer.errorLine,
    text_stdout: Buffer.from(answer.text?.stdout ?? ''),
    text_stderr: Buffer.from(answer.text?.stderr ?? ''),
    directory: answer.directory ?? '',
  };
}

async function answerHook(
  { context, event_json: eventJson }: ClientHookRequest__Output,
  deps: RouteDeps,
): Promise<ClientHookAnswer> {
  const fault = versionFault(context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
  const { request_id: requestId = '', project_root: project = '', session_id: sessionHint = '' } = context ?? {};
  const isUsable = REQUEST_ID_PATTERN.test(requestId);
  const hook = { requestId: isUsable ? requestId : newRequestId(deps.clock.now()), project, sessionHint, eventJson };
  const output = await deps.answerHook(hook);
  return { output_json: output === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(output)) };
}

async function getSchema(wire: SchemaRequest__Output, { management }: RouteDeps): Promise<SchemaResponse> {
  const fault = versionFault(wire.context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
  return management.getSchema(wire.tool, wire.context?.project_root ?? '');
}

async function watchTools(
  { context, known_version: knownVersion, surface }: WatchToolsRequest__Output,
  signal: AbortSignal,
  { management }: RouteDeps,
): Promise<CallableTools> {
  const fault = versionFault(context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
  return management.watchTools({ root: context?.project_root ?? '', knownVersion, surface, signal });
}
