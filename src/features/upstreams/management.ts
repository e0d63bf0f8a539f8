import { structuredPatch } from 'diff';
import type { Paths } from '../../config/paths.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  UpstreamChange__Output as UpstreamChange,
  UpstreamInfo__Output as UpstreamInfo,
} from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import { checkToolPaths } from '../../sandbox/machine/tool-paths.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import { type ToolChange, unchanged } from '../../upstream/definitions.ts';
import type { NetworkCredentials } from '../network/credentials.ts';
import type { Network } from '../network/network.ts';
import { describedServer } from './described-server.ts';
import { packageRunner } from './package-runners.ts';
import { readServer, withKept } from './read-server.ts';
import { unseenClause } from './refusals.ts';
import { placeOf, targetOf } from './server-place.ts';
import { networkGrants } from './server-process.ts';
import type { UnseenPaths } from './unseen-paths.ts';
import type { Upstreams } from './upstreams.ts';
import type { VariableMasks } from './variable-masks.ts';

export interface UpstreamManagementDeps {
  upstreams: Upstreams;
  masks: Pick<VariableMasks, 'add'>;
  network: Pick<Network, 'isOn'>;
  credentials: Pick<NetworkCredentials, 'list'>;
  scrubber: Pick<Scrubber, 'maskText'>;
  counter: TokenCounter;
  clock: Clock;
  paths: Paths;
}

type UpstreamHandlers = Pick<
  RpcHandlers,
  'addUpstream' | 'listUpstreams' | 'removeUpstream' | 'restartUpstream' | 'reviewUpstream' | 'approveUpstream'
>;

/** Characters of all diffs of one answer, and edits after which two definitions are shown one after the other. */
const DIFFS_MAX_CHARS = 1024 * 1024;
const EDITS_MAX = 2_000;
const CONTEXT_LINES = 3;
/** Shorter values of variables would be masked in ordinary words. */
const VALUE_MIN_CHARS = 6;

/** What a person decides about the MCP servers of a project. */
export function createUpstreamManagement(deps: UpstreamManagementDeps): UpstreamHandlers {
  const { upstreams, clock } = deps;
  const info = (root: string, name: string): { servers: UpstreamInfo[] } => ({
    servers: [infoOf(upstreams.find(root, name), deps)],
  });
  return {
    async addUpstream(request) {
      const server = await readServer(withKept(request, upstreams.list(request.root)), clock.now());
      checkCredential(server, deps);
      // As at each start of the server, so that a person learns it now.
      checkToolPaths({ toolPaths: server.spec.paths, workspace: { path: server.project } }, deps.paths);
      if (request.dry_run) return { servers: [infoOf(server, deps)] };
      deps.masks.add(server.project, server.variables);
      await upstreams.add(server);
      return info(server.project, server.name);
    },
    async listUpstreams({ root, name }) {
      if (name !== '') return info(root, name);
      return { servers: upstreams.list(root).map((server) => infoOf(server, deps)) };
    },
    async removeUpstream({ root, name }) {
      const server = upstreams.find(root, name);
      const removed = infoOf(server, deps);
      await upstreams.remove(server);
      return { servers: [removed] };
    },
    async restartUpstream({ root, name }) {
      await upstreams.restart(upstreams.find(root, name));
      return info(root, name);
    },
    async reviewUpstream({ root, name }) {
      const { sha256, changes } = upstreams.pending(upstreams.find(root, name));
      return { name, sha256, changes: withDiffs(changes) };
    },
    async approveUpstream({ root, name, sha256 }) {
      const server = upstreams.find(root, name);
      const { changes } = upstreams.pending(server);
      await upstreams.approve(server, sha256);
      return { name, sha256, changes: changes.map(({ tool, kind }) => ({ tool, kind, diff: '' })) };
    },
  };
}

function checkCredential({ project, spec }: StoredServer, { credentials }: UpstreamManagementDeps): void {
  const place = spec.usesCredential ? placeOf(spec.url) : null;
  if (place === null) return;
  const { host, port } = place;
  if (credentials.list(project).some((one) => one.host === host && one.port === port)) return;
  const target = targetOf(spec.url);
  throw new ContextdError('NOT_FOUND', `no credential is bound to ${target}`, {
    remedy: `Bind it first: ctxd network credential add ${target} --from env:NAME`,
  });
}

function infoOf(server: StoredServer, deps: UpstreamManagementDeps): UpstreamInfo {
  const { spec, variables, addedMs, accepted, seen } = server;
  const isAdded = deps.upstreams.list(server.project).includes(server);
  const live = isAdded ? deps.upstreams.liveOf(server) : null;
  // Of a file that is not added yet it is what would be.
  const offers = unchanged(accepted ?? (spec.catalogue === undefined ? [] : seen), seen);
  const tools = offers.filter(({ kind = 'tool' }) => kind === 'tool');
  const prompts = offers.filter(({ kind }) => kind === 'prompt');
  const { unseen, toGrant } = deps.upstreams.lackOf(server);
  const masked = (text: string): string => deps.scrubber.maskText(withoutValues(text, variables));
  return {
    ...describedServer(server),
    variables: Object.keys(variables).sort(),
    hosts: networkGrants(server).map((grant) => grant.slice(grant.indexOf(':') + 1)),
    state: live?.state ?? (spec.catalogue === undefined ? 'stopped' : 'catalogue'),
    protocol: live?.protocol ?? '',
    tools: tools.length,
    waiting: deps.upstreams.pending(server).changes.length,
    tokens: tools.length === 0 ? 0 : deps.counter.count(`[${tools.map(({ text }) => text).join(',')}]`),
    last_error: masked(live?.lastError ?? ''),
    last_lines: (live?.lastLines ?? []).map(masked),
    left_out: (live?.leftOut ?? spec.catalogue?.leftOut ?? []).map(masked),
    refused: isAdded ? deps.upstreams.refusedTo(server) : [],
    to_grant: toGrant,
    unseen: [...(unseen?.names ?? [])],
    added_ms: addedMs,
    notes: [...notesOn(server, deps), ...(unseen === null ? [] : [noteOn(unseen)])].map(masked),
    resources: offers.length - tools.length - prompts.length,
    prompts: prompts.length,
  };
}

/** A server may print what it has. */
function withoutValues(text: string, variables: Readonly<Record<string, string>>): string {
  const values = Object.entries(variables).filter(([, value]) => value.length >= VALUE_MIN_CHARS);
  return values.reduce((rest, [name, value]) => rest.replaceAll(value, `[value of ${name}]`), text);
}

function notesOn(server: StoredServer, { network }: UpstreamManagementDeps): string[] {
  const { project, spec } = server;
  const runner = packageRunner(spec.command);
  const isReached = network.isOn(project) || networkGrants(server).length === 0;
  return [
    ...(isReached ? [] : ['The network of this project is off: ctxd network on']),
    ...(runner === null || spec.hosts.includes(runner.group)
      ? []
      : [`${runner.program} downloads its package: without --allow-host ${runner.group} it can only run what it has.`]),
  ];
}

function noteOn(unseen: UnseenPaths): string {
  return `${unseenClause(unseen)}${unseen.why === '' ? '' : `, and cannot: ${unseen.why}`}`;
}

function withDiffs(changes: readonly ToolChange[]): UpstreamChange[] {
  let room = DIFFS_MAX_CHARS;
  return changes.map(({ tool, kind, before, after }) => {
    const whole = diffOf(before, after);
    const diff = whole.length <= room ? whole : `${whole.slice(0, Math.max(0, room))}\n…`;
    room -= diff.length;
    return { tool, kind, diff };
  });
}

function diffOf(before: string, after: string): string {
  const lines = (text: string): string => (text === '' ? '' : `${text}\n`);
  const patch = structuredPatch('', '', lines(before), lines(after), '', '', {
    context: CONTEXT_LINES,
    maxEditLength: EDITS_MAX,
  });
  if (patch !== undefined) return patch.hunks.flatMap((hunk) => hunk.lines).join('\n');
  return [...before.split('\n').map((line) => `-${line}`), ...after.split('\n').map((line) => `+${line}`)].join('\n');
}
