import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { ExecuteRequest__Output } from '../protocol/generated/contextd/v1/ExecuteRequest.ts';
import type { ExecuteResponse } from '../protocol/generated/contextd/v1/ExecuteResponse.ts';
import type { ManagementServiceHandlers } from '../protocol/generated/contextd/v1/ManagementService.ts';
import type { RefusalReport__Output } from '../protocol/generated/contextd/v1/RefusalReport.ts';
import type { SchemaRequest__Output } from '../protocol/generated/contextd/v1/SchemaRequest.ts';
import type { ToolServiceHandlers } from '../protocol/generated/contextd/v1/ToolService.ts';
import { receiveCall, receiveRefusal, versionFault } from './call-request.ts';
import type { CallAnswer, CallRequest, Dispatch, Management, Refuse } from './door.ts';
import type { Caller } from './identities.ts';
import { auditLimit, rootOf, sha256Of, statsDays, whichOf } from './management-requests.ts';
import type { EventRoute, Route } from './rpc.ts';
import { toProject, toSchema, toStatusResponse, toStop, toToolInfo } from './wire.ts';
import { toQuarantine } from './wire-quarantine.ts';
import { toRulesReview, toSessionSecrets, toStatsRow } from './wire-secrets.ts';

export interface RouteDeps {
  dispatch: Dispatch;
  refuse: Refuse;
  management: Management;
  clock: Clock;
  logger: Logger;
}

const TOOL_CALLERS: readonly Caller[] = ['proxy', 'cli'];
const MANAGEMENT_CALLERS: readonly Caller[] = ['cli'];

/** The index of the gRPC door, first half: who may call what, and what answers. */
export function toolRoutes(deps: RouteDeps, route: Route, eventRoute: EventRoute): ToolServiceHandlers {
  return {
    Execute: route(TOOL_CALLERS, (wire: ExecuteRequest__Output, signal) => execute(wire, signal, deps)),
    ExecuteWithProgress: eventRoute(TOOL_CALLERS, async (wire: ExecuteRequest__Output, signal, send) => {
      const onProgress = (text: string): void => send({ progress: { text } });
      return { answer: await execute(wire, signal, deps, onProgress) };
    }),
    GetSchema: route(TOOL_CALLERS, async (wire: SchemaRequest__Output) => toSchema(await getSchema(wire, deps))),
    ReportRefusal: route(TOOL_CALLERS, async (wire: RefusalReport__Output, signal) => {
      const { request, why } = receiveRefusal(wire, signal, deps.clock.now());
      await deps.refuse(request, why);
      return {};
    }),
  };
}

/** The second half: the CLI's own. */
export function managementRoutes({ management }: RouteDeps, route: Route): ManagementServiceHandlers {
  const only = MANAGEMENT_CALLERS;
  return {
    ServerStatus: route(only, async () => toStatusResponse(await management.serverStatus())),
    StopServer: route(only, async (wire: { grace_ms: number; restart: boolean }) =>
      toStop(await management.stopServer(wire.grace_ms, wire.restart)),
    ),
    RegisterProject: route(only, async (wire: { root: string }) =>
      toProject(await management.registerProject(rootOf(wire.root))),
    ),
    UnregisterProject: route(only, async (wire: { root: string }) =>
      toProject(await management.unregisterProject(rootOf(wire.root))),
    ),
    ListTools: route(only, async (wire: { root: string }) => ({
      tools: (await management.listTools(wire.root)).map(toToolInfo),
    })),
    TailAudit: route(only, async (wire: { limit: number; project_root: string }) => ({
      records_json: [...(await management.tailAudit(auditLimit(wire.limit), wire.project_root))],
    })),
    CheckHealth: route(only, async (wire: { project_root: string }) => ({
      checks: [...(await management.checkHealth(wire.project_root === '' ? '' : rootOf(wire.project_root)))],
    })),
    SessionSecrets: route(only, async (wire: { root: string; session: string }) =>
      toSessionSecrets(await management.sessionSecrets(rootOf(wire.root), wire.session)),
    ),
    Stats: route(only, async (wire: { project_root: string; days: number }) => ({
      rows: (await management.stats(wire.project_root, statsDays(wire.days))).map(toStatsRow),
    })),
    ReviewRules: route(only, async (wire: { root: string }) =>
      toRulesReview(await management.reviewRules(rootOf(wire.root))),
    ),
    ApproveRules: route(only, async (wire: { root: string; sha256: string }) =>
      toRulesReview(await management.approveRules(rootOf(wire.root), wire.sha256)),
    ),
    RevokeRules: route(only, async (wire: { root: string }) =>
      toRulesReview(await management.revokeRules(rootOf(wire.root))),
    ),
    ListQuarantine: route(only, async (wire: { root: string; which: string }) =>
      toQuarantine(await management.listQuarantine(rootOf(wire.root), wire.which === '' ? '' : whichOf(wire.which))),
    ),
    RestoreQuarantined: route(only, async (wire: { root: string; which: string }) =>
      toQuarantine(await management.restoreQuarantined(rootOf(wire.root), whichOf(wire.which))),
    ),
    AcceptQuarantined: route(only, async (wire: { root: string; which: string; sha256: string }) =>
      toQuarantine(await management.acceptQuarantined(rootOf(wire.root), whichOf(wire.which), sha256Of(wire.sha256))),
    ),
    RevokeAccepted: route(only, async (wire: { root: string; which: string }) =>
      toQuarantine(await management.revokeAccepted(rootOf(wire.root), whichOf(wire.which))),
    ),
  };
}

async function execute(
  wire: ExecuteRequest__Output,
  signal: AbortSignal,
  deps: RouteDeps,
  onProgress?: CallRequest['onProgress'],
): Promise<ExecuteResponse> {
  const received = receiveCall(wire, signal, deps.clock.now());
  const { fault } = received;
  const request = onProgress === undefined ? received.request : { ...received.request, onProgress };
  const answer = await (fault === undefined ? dispatched(request, deps) : deps.refuse(request, fault));
  return {
    envelope_json: Buffer.from(answer.line),
    exit_code: answer.exitCode,
    error_line: answer.errorLine,
  };
}

/** Dispatch answers every failure itself; should it ever throw, the caller still gets an envelope. */
async function dispatched(request: CallRequest, deps: RouteDeps): Promise<CallAnswer> {
  try {
    return await deps.dispatch(request);
  } catch (thrown) {
    deps.logger.error('call.unanswered', { request_id: request.requestId }, thrown);
    return await deps.refuse(request, ContextdError.from(thrown));
  }
}

async function getSchema(wire: SchemaRequest__Output, { management }: RouteDeps) {
  const fault = versionFault(wire.context?.protocol_version ?? 0);
  if (fault !== undefined) throw fault;
  return management.getSchema(wire.tool, wire.context?.project_root ?? '');
}
