import { type ChildProcess, type SendHandle, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isJsonObject } from '../../core/json.ts';
import { ownProgram } from '../../core/own-program.ts';
import {
  closeNamespace,
  ENVIRONMENT,
  enterNamespace,
  inNewNamespace,
  type LoopbackNamespace,
  MAKE_MAX_MS,
  namespaceFds,
  notMade,
  openNamespace,
} from '../machine/network.ts';

const PROGRAM = fileURLToPath(ownProgram(new URL('./inside/main.js', import.meta.url)));
/** Node's handles are taken from under its server objects, which Node calls deprecated. */
const NODE = [process.execPath, '--no-deprecation', '--no-warnings', PROGRAM];
/** To open ports below 1024 and, for an ordinary user, to let those of later rules be opened. */
const CAPABILITIES = ['CAP_NET_BIND_SERVICE', 'CAP_NET_ADMIN'];
/** Descriptors of the child before those that it inherits: stdin, stdout, stderr, the IPC channel. */
const OWN_FDS = 4;

/** Node's handle of a listener. Nothing accepts on it until it is sent to a process that does. */
export interface ListenerHandle {
  /** For `ChildProcess.send`. */
  readonly sendable: SendHandle;
  close(): void;
}

/** What was opened in a namespace, by port. */
export interface OpenedListeners {
  readonly tcp: Map<number, ListenerHandle>;
  readonly udp: Map<number, ListenerHandle>;
  /** What could not be opened, and why. */
  readonly failed: Map<number, string>;
}

export interface WantedPorts {
  readonly tcp: readonly number[];
  readonly udp: readonly number[];
}

/** Makes a namespace and opens listeners in it. Throws SANDBOX_UNAVAILABLE. */
export async function makeListeningNamespace(
  bubblewrap: string,
  enter: readonly string[],
  wanted: WantedPorts,
): Promise<{ namespace: LoopbackNamespace; listeners: OpenedListeners }> {
  const commandLine = inNewNamespace(bubblewrap, enter, CAPABILITIES, [...NODE, ...wordsOf(wanted)]);
  const namespaces: LoopbackNamespace[] = [];
  try {
    const listeners = await collectListeners(start(commandLine, []), (pid) => namespaces.push(openNamespace(pid)));
    const [namespace] = namespaces;
    if (namespace === undefined) throw notMade('the program inside did not say who it is');
    return { namespace, listeners };
  } catch (cause) {
    for (const namespace of namespaces) closeNamespace(namespace);
    throw cause;
  }
}

/** Opens more listeners in a namespace. `enter` as above. Throws SANDBOX_UNAVAILABLE. */
export function openInNamespace(
  namespace: LoopbackNamespace,
  enter: readonly string[],
  wanted: WantedPorts,
): Promise<OpenedListeners> {
  const fds = namespaceFds(namespace);
  const inside = enterNamespace(fds.map((_, i) => OWN_FDS + i));
  return collectListeners(start([...enter, ...inside, ...NODE, ...wordsOf(wanted)], fds), () => {});
}

function wordsOf({ tcp, udp }: WantedPorts): string[] {
  return [tcp.join(','), udp.join(',')];
}

function start([program = '', ...argv]: readonly string[], fds: readonly number[]): ChildProcess {
  const stdio = ['ignore', 'ignore', 'pipe', 'ipc', ...fds] as const;
  return spawn(program, argv, { cwd: '/', env: ENVIRONMENT, stdio: [...stdio] });
}

/** Takes the handles that the child sends; the child ends then. */
async function collectListeners(child: ChildProcess, onPid: (pid: number) => unknown): Promise<OpenedListeners> {
  const opened: OpenedListeners = { tcp: new Map(), udp: new Map(), failed: new Map() };
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  // Not `close`, which Node does not emit if this side closes the channel.
  const ended = new Promise<void>((end) => void child.once('exit', () => end()).once('error', () => end()));
  let complaint = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  child.once('error', (cause) => reject(notMade(String(cause))));
  child.once('close', () => reject(notMade(complaint)));
  child.on('message', (message: unknown, handle: SendHandle | undefined) => {
    try {
      if (note(opened, message, handle, onPid)) resolve();
    } catch (cause) {
      reject(cause);
    }
  });
  const giveUp = setTimeout(() => child.kill('SIGKILL'), MAKE_MAX_MS);
  try {
    await done;
    return opened;
  } catch (cause) {
    closeListeners(opened);
    throw cause;
  } finally {
    clearTimeout(giveUp);
    if (child.connected) child.disconnect();
    await ended;
  }
}

/** Notes what the child says; true if that was all. */
function note(
  opened: OpenedListeners,
  message: unknown,
  handle: SendHandle | undefined,
  onPid: (pid: number) => unknown,
): boolean {
  if (!isJsonObject(message)) return false;
  const { pid, tcp, udp, failed, why, done } = message;
  if (typeof pid === 'number') onPid(pid);
  if (typeof failed === 'number') opened.failed.set(failed, String(why));
  if (typeof tcp === 'number' && isNative(handle)) opened.tcp.set(tcp, handleOf(handle));
  if (typeof udp === 'number' && isNative(handle)) opened.udp.set(udp, handleOf(handle));
  return done === true;
}

type Native = SendHandle & { close(): void };

function isNative(handle: SendHandle | undefined): handle is Native {
  return handle !== undefined && handle !== null && typeof Reflect.get(handle, 'close') === 'function';
}

function handleOf(native: Native): ListenerHandle {
  let isClosed = false;
  return {
    sendable: native,
    close() {
      if (!isClosed) native.close();
      isClosed = true;
    },
  };
}

export function closeListeners({ tcp, udp }: OpenedListeners): void {
  for (const handle of [...tcp.values(), ...udp.values()]) handle.close();
}
