import { once } from 'node:events';
import { unlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ContextdError } from '../../core/errors.ts';
import type { Logger } from '../../core/log.ts';
import type { ListeningPort__Output as ListeningPort } from '../../protocol/generated/management.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { adoptSocket } from '../../runner/plugin/host-broker.ts';
import { SOCKET_DIR } from '../../sandbox/contract/places.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox, SandboxProcess } from '../../sandbox/contract/sandbox.ts';

export interface PortDeps {
  sandbox: Pick<Sandbox, 'isolationFor' | 'open' | 'run' | 'status'>;
  policyFor(root: string): SandboxPolicy;
  /** Directory that only the daemon's user can enter. */
  privateSocketsDir: string;
  logger: Logger;
}

/** Mounted into the sandbox of the forwarder: the folder holds that program and nothing else. */
const FORWARDER_DIR = fileURLToPath(new URL('../../forward', import.meta.url));
const SOCKET_NAME = 'port';
/** Milliseconds for the forwarder to listen, and for a list. */
const START_MAX_MS = 10_000;
const LIST_MAX_BYTES = 1024 * 1024;
const FORWARDER_LIMITS = { memoryBytes: 256 * 1024 * 1024, pids: 32, cpus: 1 };

/** What a person does with the loopback of a project: see what listens there, and reach it from the host. */
export function createPortManagement(deps: PortDeps): Pick<Management, 'listPorts' | 'openPort'> {
  return {
    async listPorts({ root }) {
      const policy = await sharedPolicy(root, deps);
      const { stdout } = await deps.sandbox.run(policy, {
        argv: ['sh', '-c', 'readlink /proc/self/ns/net; exec cat /proc/net/tcp /proc/net/tcp6'],
        cwd: root,
        env: {},
        stdin: null,
        timeoutMs: START_MAX_MS,
        outputMaxBytes: LIST_MAX_BYTES,
        outputKillBytes: LIST_MAX_BYTES,
        signal: new AbortController().signal,
      });
      const said = stdout.head.toString();
      const { networks } = await deps.sandbox.status();
      const own = networks.find(({ name }) => said.startsWith(`${name}\n`))?.ports ?? [];
      return { ports: listeningPorts(said).filter((one) => !isOfProxy(one, own)) };
    },
    async openPort({ root, port }) {
      const policy = await sharedPolicy(root, deps);
      const limits = { ...policy.limits, ...FORWARDER_LIMITS };
      const socket = await startForwarder(port, { ...policy, limits }, deps);
      deps.logger.info('port.opened', { project: root, port });
      return { socket };
    },
  };
}

/** Throws SANDBOX_UNAVAILABLE if the project's commands share no loopback. */
async function sharedPolicy(root: string, { sandbox, policyFor }: PortDeps): Promise<SandboxPolicy> {
  const { missing, remedy, loopback } = await sandbox.isolationFor(root);
  if (loopback.isShared) return { ...policyFor(root), network: 'project' };
  const why = loopback.why ?? `no command runs here: ${missing.join(', ')}`;
  throw new ContextdError(
    'SANDBOX_UNAVAILABLE',
    `the commands of ${root} share no loopback that could be reached: ${why}`,
    {
      remedy: loopback.remedy ?? remedy ?? 'See `ctxd doctor`.',
    },
  );
}

/** Returns the path of a socket that leads to the port. The forwarder ends when its first connection does. */
async function startForwarder(port: number, policy: SandboxPolicy, deps: PortDeps): Promise<string> {
  const args = [`${SOCKET_DIR}/${SOCKET_NAME}`, String(port)];
  const program = { bundleDir: FORWARDER_DIR, runtime: 'node' as const, entry: 'main.js', args, env: {} };
  const forwarder = await deps.sandbox.open(policy, program);
  forwarder.stderr.resume();
  try {
    await listening(forwarder);
    const { socketDir } = forwarder;
    const socket = await adoptSocket(SOCKET_NAME, { socketDir, privateDir: deps.privateSocketsDir });
    void forwarder.exited.then(() => unlink(socket)).catch(() => {});
    return socket;
  } catch (thrown) {
    await forwarder.kill();
    throw thrown;
  }
}

async function listening({ stdout, exited }: SandboxProcess): Promise<void> {
  const notStarted = (cause?: unknown): ContextdError =>
    new ContextdError('INTERNAL_ERROR', 'the program that forwards a port did not start', {
      remedy: 'See `ctxd server logs`.',
      cause,
    });
  const ended = exited.then((end) => Promise.reject(notStarted(end)));
  const said = once(stdout, 'data', { signal: AbortSignal.timeout(START_MAX_MS) }).catch((cause: unknown) => {
    throw notStarted(cause);
  });
  await Promise.race([said, ended]);
  stdout.resume();
}

/** The listeners of the proxy process are on every address, so nothing else can be there. */
function isOfProxy({ address, port }: ListeningPort, own: readonly number[]): boolean {
  return address === '0.0.0.0' && own.includes(port);
}

const LISTEN = '0A';

/** What listens, from the text of /proc/net/tcp and /proc/net/tcp6; sorted, each address once. */
export function listeningPorts(text: string): ListeningPort[] {
  const found = new Map<string, ListeningPort>();
  for (const line of text.split('\n')) {
    const [, address, hexPort, state] =
      /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) /.exec(line) ?? [];
    if (address === undefined || hexPort === undefined || state !== LISTEN) continue;
    const one = { port: Number.parseInt(hexPort, 16), address: addressOf(address) };
    found.set(`${one.port} ${one.address}`, one);
  }
  return [...found.values()].sort((a, b) => a.port - b.port || a.address.localeCompare(b.address));
}

const ANY_V6 = '0'.repeat(32);
const LOOPBACK_V6 = `${'0'.repeat(24)}01000000`;

/** The kernel prints groups of four bytes in the byte order of the machine; contextd's machines are little endian. */
function addressOf(hex: string): string {
  if (hex === ANY_V6) return '::';
  if (hex === LOOPBACK_V6) return '::1';
  const groups = hex.match(/.{8}/g) ?? [];
  const bytes = groups.flatMap((group) => [...Buffer.from(group, 'hex')].reverse());
  if (bytes.length === 4) return bytes.join('.');
  return (Buffer.from(bytes).toString('hex').match(/.{4}/g) ?? []).join(':');
}
