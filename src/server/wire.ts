import type { ProjectResponse } from '../protocol/generated/contextd/v1/ProjectResponse.ts';
import type { SandboxStatus } from '../protocol/generated/contextd/v1/SandboxStatus.ts';
import type { SchemaResponse } from '../protocol/generated/contextd/v1/SchemaResponse.ts';
import type { StatusResponse } from '../protocol/generated/contextd/v1/StatusResponse.ts';
import type { StopResponse } from '../protocol/generated/contextd/v1/StopResponse.ts';
import type { ToolInfo as WireToolInfo } from '../protocol/generated/contextd/v1/ToolInfo.ts';
import type { ProjectResult, SandboxState, SchemaResult, ServerStatus, StopResult, ToolInfo } from './door.ts';

// The plain objects of door.ts as messages of proto/contextd/v1, field by field.

export function toStatusResponse(status: ServerStatus): Required<StatusResponse> {
  return {
    pid: status.pid,
    version: status.version,
    uptime_ms: status.uptimeMs,
    socket: status.socket,
    calls: status.calls,
    active_calls: status.activeCalls,
    projects: status.projects,
    resident_bytes: status.residentBytes,
    protocol_version: status.protocolVersion,
    isolation: status.isolation,
    sandbox: toSandboxStatus(status.sandbox),
  };
}

function toSandboxStatus(state: SandboxState): SandboxStatus {
  const { totals } = state;
  return {
    spawner_pid: state.spawnerPid ?? 0,
    spawner_resident_bytes: state.spawnerRssBytes,
    running: state.running,
    processes: state.processes,
    ready: state.ready.map(({ workspace, count }) => ({ project: workspace, count })),
    ready_max: state.readyMax,
    ready_used: state.readyUsed,
    totals:
      totals === null
        ? null
        : {
            memory_bytes: totals.memoryBytes,
            memory_max_bytes: totals.memoryMaxBytes,
            pids: totals.pids,
            pids_max: totals.pidsMax,
          },
  };
}

export function toStop(result: StopResult): Required<StopResponse> {
  return { pid: result.pid, active_calls: result.activeCalls, ended_calls: result.endedCalls };
}

export function toProject(result: ProjectResult): Required<ProjectResponse> {
  return { root: result.root, changed: result.changed, tools: result.tools.map(toToolInfo) };
}

export function toToolInfo(tool: ToolInfo): Required<WireToolInfo> {
  return {
    name: tool.name,
    purpose: tool.purpose,
    bundle_sha256: tool.bundleSha256,
    origin: tool.origin,
    schema_json: tool.schemaJson,
    tool_md: tool.toolMd,
    tool_extended_md: tool.toolExtendedMd,
    grants: [...tool.grants],
  };
}

export function toSchema(schema: SchemaResult): Required<SchemaResponse> {
  return {
    schema_json: schema.schemaJson,
    tool_md: schema.toolMd,
    tool_extended_md: schema.toolExtendedMd,
    bundle_sha256: schema.bundleSha256,
  };
}
