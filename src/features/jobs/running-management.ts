import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { RunningItem__Output as RunningItem } from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { SessionEnd } from '../sessions/session-end.ts';
import type { CallGate, RunningCall } from '../shared/call-gate.ts';
import type { Job } from './job.ts';
import type { Jobs } from './jobs.ts';

export interface RunningDeps {
  gate: Pick<CallGate, 'running' | 'cancel'>;
  jobs: Pick<Jobs, 'running' | 'end'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  liveSessions: Pick<LiveSessions, 'idFor'>;
  sessionEnd: SessionEnd;
}

/** Characters of a command that `ctxd ps` shows. */
const COMMAND_MAX_CHARS = 200;

/** What a person may see and end: running calls and jobs, and sessions. */
export function createRunningManagement(
  deps: RunningDeps,
): Pick<RpcHandlers, 'endSession' | 'listRunning' | 'killRunning'> {
  const list = async (root: string): Promise<RunningItem[]> => {
    const jobs = await Promise.all(deps.jobs.running().map((job) => jobItem(job, deps)));
    const calls = deps.gate.running().map((call) => callItem(call, deps));
    calls.sort((a, b) => a.started_ms - b.started_ms);
    return [...jobs, ...calls].filter(({ project }) => root === '' || project === root);
  };
  return {
    async endSession({ root, session: hint }) {
      const session = deps.liveSessions.idFor(root, hint);
      return { root, session, ended: await deps.sessionEnd.end({ project: root, session, branch: null }) };
    },
    listRunning: async ({ project_root }) => ({ items: await list(project_root) }),
    async killRunning({ id }, record) {
      const item = oneNamed(id, await list(''));
      record.note({ project: item.project, session: item.session, input: { id: item.id, kind: item.kind } });
      if (item.kind === 'job') await deps.jobs.end(item.id, 'kill');
      else deps.gate.cancel(item.id, callKilled());
      return { items: [item] };
    },
  };
}

function oneNamed(id: string, items: readonly RunningItem[]): RunningItem {
  const named = items.filter((item) => item.id === id);
  const fitting = named.length > 0 ? named : items.filter((item) => item.id.startsWith(id) || item.id.endsWith(id));
  const [item] = fitting;
  if (item === undefined) {
    throw new ContextdError('NOT_FOUND', `nothing that is running has the id ${id}`, { remedy: 'See `ctxd ps`.' });
  }
  if (fitting.length === 1) return item;
  throw new ContextdError('CONFLICT', `${fitting.length} jobs or calls have an id that begins or ends with ${id}`, {
    remedy: 'Give the whole id from `ctxd ps`.',
  });
}

function callKilled(): ContextdError {
  return new ContextdError('CANCELLED', `a person ended the call with ctxd kill`, {
    remedy: 'Ask the person before you start it again.',
    details: { ended_by: 'person' },
  });
}

async function jobItem(job: Job, { scrubber }: RunningDeps): Promise<RunningItem> {
  const { id, number, session, tool, command, startedMs } = job.spec;
  const usage = await job.usage();
  return {
    id,
    kind: 'job',
    project: session.project,
    session: scrubber.maskText(session.session),
    tool,
    job: number,
    started_ms: startedMs,
    command: shortened(scrubber.maskText(command)),
    ...(usage === null ? {} : { memory_bytes: usage.memoryBytes, cpu_ms: usage.cpuMs }),
  };
}

function callItem({ request, startedMs }: RunningCall, { scrubber, liveSessions }: RunningDeps): RunningItem {
  const { requestId, projectRoot, tool } = request;
  return {
    id: requestId,
    kind: 'call',
    project: projectRoot,
    session: scrubber.maskText(liveSessions.idFor(projectRoot, request.sessionHint)),
    tool: scrubber.maskText(tool).slice(0, COMMAND_MAX_CHARS),
    job: 0,
    started_ms: startedMs,
    command: shortened(scrubber.maskText(commandOf(request))),
  };
}

/** The command of a call, or its whole input: the plain words, then the arguments. Of a tool that executes others it names the other. */
function commandOf({ inputText, inputJson }: RunningCall['request']): string {
  const words = inputText?.toString('utf8') ?? '';
  const json = inputJson.toString('utf8');
  const input = objectIn(json);
  if (input === null) return [words, json].filter((part) => part !== '').join(' ');
  const { tool_id: id, args, ...options } = input;
  const asked =
    typeof id === 'string' ? [id, isJsonObject(args) ? inputOf(args) : '', inputOf(options)] : [inputOf(input)];
  return [words, ...asked].filter((part) => part !== '').join(' ');
}

function inputOf(input: JsonObject): string {
  if (typeof input.command === 'string') return input.command;
  return Object.keys(input).length === 0 ? '' : JSON.stringify(input);
}

/** Null if it is not a JSON object. */
function objectIn(json: string): JsonObject | null {
  try {
    const input: unknown = JSON.parse(json);
    return isJsonObject(input) ? input : null;
  } catch {
    return null;
  }
}

/** One line. */
function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= COMMAND_MAX_CHARS ? line : `${line.slice(0, COMMAND_MAX_CHARS - 1)}…`;
}
