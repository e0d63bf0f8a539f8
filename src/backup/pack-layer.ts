import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, createWriteStream, openSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { fdPath } from '../core/descriptors.ts';
import { PATH_MAX_BYTES } from '../fs/raw-path.ts';
import { LAYER_FILE_MAX_BYTES, OVERLAY_ATTRIBUTES } from '../sandbox/layers/place.ts';
import { becomeOwner, type Identity } from '../sandbox/machine/identity.ts';

const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
const SAID_MAX_CHARS = 300;
/** Of the list of an archive. A name and the target of a link have four characters for each byte at most. */
const LINE_MAX_CHARS = 64 * 1024;

/** What a branch may take. */
export interface PackLimits {
  /** Of its packed files. */
  readonly maxBytes: number;
  /** Milliseconds of each program: the user inside can stop it, as a process of this user. */
  readonly withinMs: number;
}

/**
 * tar ends with 1 if a file was written meanwhile: the backup has it as it was in the middle of that, as after a loss of power.
 * Only the shell sees whether that was tar: `unshare` ends with 1 if it cannot make a namespace.
 */
const PACK = 'tar "$@"; [ $? -le 1 ]';

/**
 * Packs the files of a branch as the user inside, who unpacks them on the other machine: what this user cannot read would be
 * given away there. Throws Error with the reason if they cannot be packed, or could not be unpacked.
 */
export async function packLayer(identity: Identity, files: string, target: string, limits: PackLimits): Promise<void> {
  await pack(identity, files, target, limits);
  if ((await stat(target)).size === 0) throw new Error('tar wrote nothing');
  await checkEntries(identity, target, limits);
}

async function pack(identity: Identity, files: string, target: string, limits: PackLimits): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const what = ['-c', '--sparse', '--one-file-system', ...owner, ...OVERLAY_ATTRIBUTES, '-f', '-'];
  // The user inside cannot enter the directories above.
  const dir = openSync(files, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const argv = ['sh', '-c', PACK, 'contextd-backup', ...what, '-C', fdPath(DIR_FD), '.'];
    await follow(start(identity, argv, dir), limits, (chunks) =>
      pipeline(limited(chunks, limits.maxBytes), createWriteStream(target, { flags: 'wx', mode: 0o600 })),
    );
  } finally {
    closeSync(dir);
  }
}

/** The descriptor of a program that is started here. */
const DIR_FD = 3;

/** Throws Error if the list of the archive has an entry that no restore could unpack. */
async function checkEntries(identity: Identity, target: string, limits: PackLimits): Promise<void> {
  const archive = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const argv = ['tar', '-t', '-v', '--numeric-owner', '--quoting-style=c', '-f', '-'];
    await follow(start(identity, argv, null, archive), limits, async (chunks) => {
      for await (const line of linesOf(chunks)) checkEntry(line);
    });
  } finally {
    closeSync(archive);
  }
}

/** Mode, owner, size or numbers of a device, day, time, name. Bytes of a name that are not printable are escaped. */
const ENTRY = /^\S+\s+\S+\s+(\d+)(?:,\d+)?\s+\S+\s+\S+\s+"((?:[^"\\]|\\.)*)"/;
const ESCAPED = /\\(?:[0-7]{3}|.)/g;

function checkEntry(line: string): void {
  const [, size, name] = ENTRY.exec(line) ?? [];
  if (size === undefined || name === undefined) throw new Error(`tar lists ${line.slice(0, 100)}`);
  const bytes = name.replaceAll(ESCAPED, '?').replace(/\/$/, '').length;
  if (bytes > PATH_MAX_BYTES)
    throw new Error(`the path ${name.slice(0, 100)}… has ${bytes} bytes, too many to unpack it`);
  if (Number(size) > LAYER_FILE_MAX_BYTES)
    throw new Error(`${name.slice(0, 100)} has ${size} bytes, and at most ${LAYER_FILE_MAX_BYTES} are unpacked`);
}

function start(
  identity: Identity,
  argv: readonly string[],
  dir: number | null,
  input: number | 'ignore' = 'ignore',
): ChildProcess {
  const [program = '', ...args] = [...becomeOwner(identity), 'sh', '-c', asUser(identity), 'contextd-backup', ...argv];
  return spawn(program, args, { env: ENV, cwd: '/', stdio: [input, 'pipe', 'pipe', ...(dir === null ? [] : [dir])] });
}

/**
 * The rights that the user inside has in the branch, and no others. A namespace with this user alone gives back the right to read what the
 * user has closed for itself, as with `chmod 0`. Where none can be made, such a file cannot be packed.
 */
function asUser({ kind }: Identity): string {
  const without = kind === 'root' ? 'setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all -- "$@"' : '"$@"';
  return `unshare --user --map-root-user true 2>/dev/null && exec unshare --user --map-root-user -- "$@"; exec ${without}`;
}

/** Throws Error with what the program said if it fails. It has ended when this returns, and is killed when this throws. */
async function follow(
  child: ChildProcess,
  { withinMs }: PackLimits,
  use: (chunks: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('it has no streams');
  let said = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < SAID_MAX_CHARS) said += text;
  });
  const ended = once(child, 'close');
  ended.catch(() => {});
  const kill = (why: string): void => {
    child.kill('SIGKILL');
    stderr.destroy();
    stdout.destroy(new Error(why));
  };
  const late = setTimeout(() => kill(`it took more than ${withinMs / 1000} s`), withinMs);
  try {
    await use(stdout);
    const [code] = await ended;
    if (code !== 0) throw new Error(said.trim() || `tar ended with ${code}`);
  } catch (thrown) {
    kill('it failed');
    throw thrown;
  } finally {
    clearTimeout(late);
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + chunk.toString('latin1')).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
    if (rest.length > LINE_MAX_CHARS) throw new Error(`tar lists ${rest.slice(0, 100)}`);
  }
}

async function* limited(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`too large: they are more than ${maxBytes / 1024 ** 2} MiB`);
    yield chunk;
  }
}
