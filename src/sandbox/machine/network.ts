import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { closeSync, openSync, readlinkSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { ContextdError } from '../../core/errors.ts';
import { explainFailure } from './failures.ts';

/**
 * A network namespace with nothing but loopback, which several sandboxes join. Its descriptors keep it alive, so no
 * process needs to stay inside.
 */
export interface LoopbackNamespace {
  readonly netFd: number;
  /** The user namespace that owns it, which an ordinary user has to enter first; null if root made it. */
  readonly userFd: number | null;
  /** For example `net:[4026532179]`. */
  readonly name: string;
}

/** Milliseconds for a program inside to do its part; it usually takes some hundredths of a second. */
export const MAKE_MAX_MS = 10_000;
/**
 * The user's id in the user namespace that owns the network. It must not be 0: any other id loses its capabilities at
 * the next `execve`, and does not own /proc/sys/net.
 */
const ID_INSIDE = '1000';
export const ENVIRONMENT = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };
/** Reports its pid, by which the namespace is opened, and waits until that is done. */
const WAIT_INSIDE = 'echo $$; read -r end';

/**
 * The command line that runs a program in a new network namespace, made with bubblewrap, which also brings its loopback up.
 * `enter`: the command line of the namespaces in which it is made, from which alone an ordinary user can join it together
 * with them. `capabilities` over the new network are all that the program has.
 */
export function inNewNamespace(
  bubblewrap: string,
  enter: readonly string[],
  capabilities: readonly string[],
  program: readonly string[],
): string[] {
  const asUser = isRoot() ? [] : ['--unshare-user', '--uid', ID_INSIDE, '--gid', ID_INSIDE];
  const options = ['--die-with-parent', ...asUser, '--unshare-net', '--cap-drop', 'ALL', '--dev-bind', '/', '/'];
  const kept = capabilities.flatMap((one) => ['--cap-add', one]);
  return [...enter, bubblewrap, ...options, ...kept, '--', ...program];
}

/** Makes a namespace in which nothing listens. Throws SANDBOX_UNAVAILABLE. */
export async function makeLoopbackNamespace(bubblewrap: string): Promise<LoopbackNamespace> {
  const [program = bubblewrap, ...argv] = inNewNamespace(bubblewrap, [], [], ['sh', '-c', WAIT_INSIDE]);
  const child = spawn(program, argv, {
    cwd: '/',
    env: ENVIRONMENT,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  const closed = new Promise<void>((resolve) => void child.once('close', resolve).once('error', () => resolve()));
  const giveUp = setTimeout(() => child.kill('SIGKILL'), MAKE_MAX_MS);
  try {
    return openNamespace(await pidInside(child));
  } finally {
    clearTimeout(giveUp);
    child.stdin.end();
    await closed;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

export function closeNamespace({ netFd, userFd }: LoopbackNamespace): void {
  closeSync(netFd);
  if (userFd !== null) closeSync(userFd);
}

/** What the program that enters the namespace must inherit; empty if none is entered. */
export function namespaceFds(namespace: LoopbackNamespace | null): number[] {
  if (namespace === null) return [];
  return namespace.userFd === null ? [namespace.netFd] : [namespace.netFd, namespace.userFd];
}

/** The command that enters the namespace, with `namespaceFds` under these numbers. */
export function enterNamespace([netFd, userFd]: readonly number[]): string[] {
  if (netFd === undefined) return [];
  const user = userFd === undefined ? [] : ['--preserve-credentials', `--user=/proc/self/fd/${userFd}`];
  return ['nsenter', ...user, `--net=/proc/self/fd/${netFd}`, '--'];
}

function pidInside(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let said = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.includes('\n')) resolve(Number(said));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  child.once('error', (cause) => reject(notMade(String(cause))));
  child.once('close', () => reject(notMade(complaint)));
  return promise;
}

/** Opens the namespaces of a process that waits in them. */
export function openNamespace(pid: number): LoopbackNamespace {
  const name = readlinkSync(`/proc/${pid}/ns/net`);
  if (name === readlinkSync('/proc/self/ns/net')) throw notMade("bubblewrap left it in the host's own network");
  const netFd = openSync(`/proc/${pid}/ns/net`, 'r');
  try {
    return { netFd, userFd: isRoot() ? null : openSync(`/proc/${pid}/ns/user`, 'r'), name };
  } catch (cause) {
    closeSync(netFd);
    throw cause;
  }
}

export function notMade(complaint: string): ContextdError {
  const { missing, remedy } = explainFailure(complaint);
  return new ContextdError('SANDBOX_UNAVAILABLE', `a network namespace could not be made: ${missing}`, { remedy });
}
