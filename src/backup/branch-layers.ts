import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { OVERLAY_ATTRIBUTES, packedAt, placeOf } from '../sandbox/layers/place.ts';
import { textOf } from '../stores/sqlite.ts';
import { copyIfThere, linkOrCopy } from './files.ts';

const run = promisify(execFile);

/** What a branch keeps beside its files: what it was opened on, and what a merge needs. */
const BESIDE = ['open', 'opened', 'copied', 'before'];
const SAID_MAX_CHARS = 300;
/** Of the packed files of a branch. */
const BRANCH_MAX_BYTES = 4 * 1024 ** 3;

export interface LeftBranch {
  readonly id: string;
  /** What the program said. */
  readonly why: string;
}

/**
 * Packs the files that only branches have into a backup. Returns the branches whose files cannot be packed: without GNU tar nothing
 * here reads the attributes of an overlay. `maxBytes`: of the packed files of a branch.
 */
export async function exportBranches(
  dir: string,
  state: DatabaseSync,
  layersDir: string,
  maxBytes = BRANCH_MAX_BYTES,
): Promise<LeftBranch[]> {
  const left: LeftBranch[] = [];
  for (const { id, project } of branchesWithFiles(state)) {
    const place = placeOf(layersDir, project, id);
    const to = join(dir, 'layers', relative(layersDir, place.dir));
    try {
      await mkdir(to, { recursive: true, mode: 0o700 });
      for (const name of BESIDE) await copyIfThere(join(place.dir, name), join(to, name));
      await packFiles(place, to, maxBytes);
    } catch (thrown) {
      await rm(to, { recursive: true, force: true });
      left.push({ id, why: (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, SAID_MAX_CHARS) });
    }
  }
  return left;
}

export function branchesWithFiles(state: DatabaseSync): { id: string; project: string }[] {
  return state
    .prepare(`SELECT id, project FROM branches WHERE files_state IN ('open', 'merging') ORDER BY id`)
    .all()
    .map((row) => ({ id: textOf(row, 'id'), project: textOf(row, 'project') }));
}

async function packFiles(place: ReturnType<typeof placeOf>, to: string, maxBytes: number): Promise<void> {
  for (const { packed, files } of packedAt(place)) {
    const target = join(to, relative(place.dir, packed));
    // A restored branch that was not used since.
    if (await linkOrCopy(packed, target)) return;
    if (!existsSync(files)) continue;
    await pack(files, target, maxBytes);
    await run('sh', ['-c', 'tar -t -f "$1" >/dev/null', 'contextd-backup', target], { env: ENV });
    return;
  }
  throw new Error('they are gone');
}

const ENV = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' };
/**
 * tar ends with 1 if a file was written meanwhile: the backup has it as it was in the middle of that, as after a loss of power.
 * Only the shell sees whether that was tar: `unshare` ends with 1 if it cannot make a namespace.
 */
const PACK = 'tar "$@"; [ $? -le 1 ]';

/** As an ordinary user it takes a namespace: a command in the branch may have made files that their owner cannot read. */
async function pack(files: string, target: string, maxBytes: number): Promise<void> {
  const asRoot = process.getuid?.() === 0 ? [] : ['unshare', '--user', '--map-root-user', '--'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const what = ['-c', '--sparse', '--one-file-system', ...owner, ...OVERLAY_ATTRIBUTES, '-f', '-', '-C', files, '.'];
  const [program = '', ...args] = [...asRoot, 'sh', '-c', PACK, 'contextd-backup', ...what];
  const packing = spawn(program, args, { env: ENV, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  packing.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < SAID_MAX_CHARS) said += text;
  });
  const ended = once(packing, 'close');
  ended.catch(() => {});
  try {
    const chunks = limited(packing.stdout, maxBytes);
    await pipeline(chunks, createWriteStream(target, { flags: 'wx', mode: 0o600 }));
  } finally {
    packing.kill();
  }
  const [code] = await ended;
  if (code !== 0) throw new Error(said.trim() || `tar ended with ${code}`);
  if ((await stat(target)).size === 0) throw new Error('tar wrote nothing');
}

async function* limited(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Error(`too large: they are more than ${maxBytes / 1024 ** 2} MiB`);
    yield chunk;
  }
}
