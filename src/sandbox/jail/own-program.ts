import type { Mount } from '../../guard/contract/mount.ts';
import type { SandboxLimits } from '../contract/policy.ts';
import { coverProc, type Host } from '../machine/host.ts';
import type { Identity } from '../machine/identity.ts';
import { buildEnvironment, planTree } from '../machine/mount-plan.ts';
import { Jail } from './bubblewrap.ts';
import { type Launch, type LaunchRequest, prepareLaunch } from './launch.ts';

/** What such a sandbox needs of a host. */
export type OwnProgramHost = Pick<Host, 'bubblewrap' | 'cgroups' | 'strayFds' | 'baseFor'>;

/** A program that contextd runs for itself, in a sandbox without a workspace. */
export interface OwnProgram extends Pick<LaunchRequest, 'network' | 'seccompFile'> {
  readonly identity: Identity;
  readonly argv: readonly string[];
  readonly mounts: readonly Mount[];
  /** Mounted read-only at the same path. Default: none. */
  readonly roPaths?: readonly string[];
  readonly limits: SandboxLimits;
  /** Milliseconds after which its processes have ended; 0: no limit. */
  readonly wallMs: number;
  /** Characters that are kept of each stream. */
  readonly outputMaxChars: number;
  /** Called when it has been started. */
  onStart?(jail: Jail): void;
}

export interface OwnProgramEnd {
  readonly exit: Awaited<Jail['ended']>;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end: when it returns, every process of it is dead and everything is released. */
export async function runOwnProgram(host: OwnProgramHost, program: OwnProgram): Promise<OwnProgramEnd> {
  const jail = startOwnProgram(host, program, 'ignore');
  program.onStart?.(jail);
  const output = [jail.child.stdout, jail.child.stderr].map((stream) => collect(stream, program.outputMaxChars));
  const exit = await jail.ended;
  const [stdout = '', stderr = ''] = await Promise.all(output);
  await jail.gone;
  return { exit, stdout, stderr };
}

/** Starts it. What it uses is released when its last process is dead. */
export function startOwnProgram(
  host: OwnProgramHost,
  program: Omit<OwnProgram, 'outputMaxChars' | 'onStart'>,
  stdin: 'ignore' | 'pipe',
): Jail {
  const { identity, argv, mounts, roPaths = [], limits, wallMs, network, seccompFile } = program;
  const group = host.cgroups?.create(limits) ?? null;
  const releaseGroup = (): void => {
    if (group !== null) host.cgroups?.remove(group);
  };
  const tree = {
    base: host.baseFor(identity),
    writable: [],
    roPaths,
    toolchains: [],
    protectedMounts: [],
    proc: coverProc(identity),
    program: mounts,
    isWatched: group === null,
  };
  let launch: Launch | null = null;
  try {
    launch = prepareLaunch({
      bubblewrap: host.bubblewrap,
      strayFds: host.strayFds,
      workspace: null,
      enter: [],
      links: [],
      firstFreeFd: 3,
      identity,
      network,
      argv,
      limits,
      group,
      wallMs,
      seccompFile,
      mounts: planTree(tree),
      env: buildEnvironment([]),
      callerEnv: {},
      cwd: '/',
    });
    const jail = new Jail(launch, [stdin, 'pipe', 'pipe']);
    void jail.gone.then(releaseGroup);
    return jail;
  } catch (cause) {
    releaseGroup();
    throw cause;
  } finally {
    // The child has copies.
    launch?.release();
  }
}

/** Everything the stream holds, to its end. */
function collect(stream: NodeJS.ReadableStream | null, maxChars: number): Promise<string> {
  if (stream === null) return Promise.resolve('');
  return new Promise((resolve) => {
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      if (text.length < maxChars) text += chunk.toString();
    });
    stream.once('error', () => resolve(text));
    stream.once('close', () => resolve(text));
  });
}
