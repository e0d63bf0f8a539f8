import { fileURLToPath } from 'node:url';
import type { Paths } from '../../config/paths.ts';
import type { Config } from '../../config/schema.ts';
import type { Timer } from '../../core/clock.ts';
import type { Denial } from '../../core/envelope.ts';
import { SANDBOX_HOME } from '../../sandbox/contract/places.ts';
import { baseView, type SandboxPolicy, type SessionStorage } from '../../sandbox/contract/policy.ts';
import type { Sandbox, SandboxProgram } from '../../sandbox/contract/sandbox.ts';
import type { StoredServer } from '../../stores/upstream-servers.ts';
import type { Refusal, ServerProcess } from '../../upstream/start-server.ts';
import type { Network } from '../network/network.ts';
import type { CredentialUse } from '../network/told-scope.ts';
import type { Outside } from '../outside/outside.ts';
import { policyFor } from '../outside/policy.ts';
import { packageRunner } from './package-runners.ts';
import { NOT_GRANTED, refusalOf } from './refusals.ts';
import { placeOf, targetOf } from './server-place.ts';
import { unseenPaths } from './unseen-paths.ts';

export interface ServerProcessDeps {
  sandbox: Pick<Sandbox, 'open'>;
  outside: Pick<Outside, 'partsFor'>;
  network: Pick<Network, 'forTool' | 'beganTool' | 'groupOf'>;
  timer: Timer;
  config: Config['sandbox'];
  paths: Paths;
}

/**
 * Milliseconds for a server to answer after its package runner was refused the hosts that it downloads from. A runner without them
 * tries for more than a minute, unless it has the package already.
 */
const BLOCKED_MS = 3_000;
/** The same without any network. It may have the package, and nothing shows that it waits for one. */
const OFFLINE_MS = 20_000;
const NETWORK_OFF: Refusal = {
  what: 'the network of this project is off',
  remedy: 'A person can turn it on: `ctxd network on`.',
};

/** Holds the relay, and the script that starts a program in a directory. */
const RELAY_DIR = fileURLToPath(new URL('../../relay', import.meta.url));

/** Starts the process of a server in a sandbox with what a person granted to the server. */
export async function openServerProcess(
  server: StoredServer,
  deps: ServerProcessDeps,
): Promise<ServerProcess & { refused: readonly Denial[] }> {
  const { project, name } = server;
  const { promise: blocked, resolve: block } = Promise.withResolvers<void>();
  const runner = packageRunner(server.spec.command);
  const refusals = deps.network.beganTool({ project, tool: networkNameOf(name) }, ({ host = '', port }) => {
    if (runner?.group === deps.network.groupOf(host, port)) deps.timer.after(BLOCKED_MS, block);
  });
  try {
    const policy = serverPolicy(server, deps);
    const isOffline = policy.network === 'none' && runner !== null;
    const process = await deps.sandbox.open(policy, programOf(server));
    void process.exited.then(refusals.end);
    if (isOffline) deps.timer.after(OFFLINE_MS, block);
    const refusal = (): Refusal | null => {
      const lacking = { denied: refusals.denied, unseen: unseenPaths(server, deps) };
      return isOffline && lacking.unseen === null ? NETWORK_OFF : refusalOf(server, lacking, deps.network);
    };
    // The relay to a server with a URL says itself what was refused.
    return { ...process, refused: refusals.denied, blocked, ...(server.spec.url === '' ? { refusal } : {}) };
  } catch (thrown) {
    refusals.end();
    throw thrown;
  }
}

/**
 * Whose HOME, /tmp and caches a server has: not those of the project, because a package runner runs what lies in its cache. Commands of the
 * project must not be able to change that.
 */
export function storageOf({ project, name }: Pick<StoredServer, 'project' | 'name'>): Required<SessionStorage> {
  return { owner: `${networkNameOf(name)} of ${project}`, session: name };
}

/** The name by which the rules and the log of the network know a server. No tool has a colon in its name. */
export function networkNameOf(name: string): string {
  return `upstream:${name}`;
}

/** The grants of a server for the network, its own host among them. */
export function networkGrants({ spec }: Pick<StoredServer, 'spec'>): string[] {
  const own = spec.url === '' ? [] : [targetOf(spec.url)];
  return [...new Set([...own, ...spec.hosts])].map((target) => `network:${target}`);
}

function serverPolicy(server: StoredServer, { outside, network, config }: ServerProcessDeps): SandboxPolicy {
  const { project, name, spec } = server;
  const { toolchains, hostNetwork } = outside.partsFor(project);
  const use = {
    credential: credentialOf(server),
    undeclaredWhy: NOT_GRANTED,
    isWatched: packageRunner(spec.command) !== null,
  };
  const own = network.forTool(project, networkNameOf(name), networkGrants(server), use);
  return {
    ...policyFor(baseView(project), config),
    ...own,
    ...(spec.project === 'none' ? { isWorkspaceHidden: true as const } : {}),
    ...(spec.project === 'read' ? { isWorkspaceReadOnly: true as const } : {}),
    ...(spec.paths.length === 0 ? {} : { toolPaths: spec.paths }),
    ...(own.network === 'none' ? {} : { hostNetwork }),
    ...(spec.url === '' ? { toolchains } : {}),
    storage: storageOf(server),
  };
}

/** A server of 2024 names the path that messages are posted to, below its own origin. */
function credentialOf({ spec }: StoredServer): CredentialUse | null {
  const place = spec.usesCredential ? placeOf(spec.url) : null;
  if (place === null) return null;
  const url = { paths: [new URL(spec.url).pathname], methods: ['GET', 'POST', 'DELETE'] };
  return { ...place, requests: [url, { paths: [], methods: ['POST'] }] };
}

function programOf({ project, spec, variables }: StoredServer): SandboxProgram {
  const takesInput = true as const;
  if (spec.url !== '')
    // The proxy alone knows the way, also to names that programs look for on their own machine.
    return { bundleDir: RELAY_DIR, runtime: 'node', entry: 'main.js', args: [], env: { NO_PROXY: '' }, takesInput };
  const directory = spec.project === 'none' ? SANDBOX_HOME : project;
  return {
    bundleDir: RELAY_DIR,
    runtime: 'plugin',
    entry: 'run.sh',
    args: [directory, ...spec.command],
    env: variables,
    takesInput,
  };
}
