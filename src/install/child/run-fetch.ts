import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { within } from '../../core/deadline.ts';
import { ContextdError } from '../../core/errors.ts';
import type { FetchedSignature, FetchedTool, FetchRequest, Progress } from '../messages.ts';
import { type ArchiveSource, formatSource, type HttpSource, type S3Source } from '../source.ts';
import { readArchive } from './archive.ts';
import { checkSum, hashOf, type Incoming, saveTo } from './download.ts';
import { readFolder } from './folder.ts';
import { readGit } from './git.ts';
import { get, type HttpOptions } from './http.ts';
import { Meter } from './meter.ts';
import { getObject } from './s3.ts';
import { checkRequired, type ReadBeside, readIfThere, signatureOfArchive, signatureOfFolder } from './signed.ts';
import { Tree } from './tree.ts';

/** What a fetch works with. */
interface Job {
  request: FetchRequest;
  meter: Meter;
  /** For everything that is not the tool; removed in the end. */
  work: string;
  tree: Tree;
}

/** What is known of a tool besides its files. */
interface Found {
  resolved: Omit<FetchedTool['resolved'], 'source'>;
  signature: FetchedSignature | null;
}

/** Fetches one tool as the request says. Throws ContextdError; TIMEOUT at the deadline. */
export async function runFetch(request: FetchRequest, report: (progress: Progress) => void): Promise<FetchedTool> {
  return within(request.limits.time_ms, fetchNow(request, new Meter(report)), () => {
    throw tooLate(request);
  });
}

async function fetchNow(request: FetchRequest, meter: Meter): Promise<FetchedTool> {
  const { source, into, limits, signers } = request;
  const dir = join(into, 'tool');
  await mkdir(dir, { mode: 0o700 });
  // Of a repository only the files of the folder are listed, so its tree is that of the tool.
  const tree = new Tree(dir, source.kind === 'folder' || source.kind === 'git' ? '' : source.sub, limits, meter);
  const { resolved, signature } = await readSource({ request, meter, work: join(into, 'work'), tree });
  meter.begin('check', 'Checking the files', tree.bytes);
  const inside = topOf(request, tree);
  const own = signature ?? (await signatureOfFolder(join(dir, inside), inside, tree.sums(), signers));
  checkRequired(request, own);
  const canonical = { source: formatSource(source), ...resolved };
  return { dir: join(dir, inside), resolved: canonical, signature: own, files: tree.files, bytes: tree.bytes };
}

async function readSource(job: Job): Promise<Found> {
  const { request, meter, work, tree } = job;
  const { source, limits, expected } = request;
  switch (source.kind) {
    case 'folder':
      meter.begin('unpack', `Copying ${source.path}`);
      await readFolder(source.path, tree);
      return { resolved: {}, signature: null };
    case 'git': {
      const { commit, ref } = await readGit(source, expected, { work, limits, meter, http: httpOptions(job) }, tree);
      return { resolved: { commit, ...(ref === null ? {} : { ref }) }, signature: null };
    }
    case 'archive':
      return unpack(job, source, source.path, await hashOf(source.path), (suffix) =>
        readIfThere(`${source.path}${suffix}`),
      );
    case 'http':
    case 's3': {
      const path = join(work, 'archive');
      const request = (suffix: string): Promise<Incoming | null> => ask(job, source, suffix);
      meter.begin('resolve', `Connecting for ${formatSource(source)}`);
      const incoming = await request('');
      if (incoming === null) throw notThere(formatSource(source));
      const sha256 = await saveTo(path, formatSource(source), incoming, limits, meter);
      return unpack(job, source, path, sha256, async (suffix) => readSmall(await request(suffix)));
    }
  }
}

function httpOptions({ request }: Job): HttpOptions {
  const { home, variables, limits } = request;
  return { home, variables, stallMs: limits.stall_ms };
}

function ask(job: Job, source: HttpSource | S3Source, suffix: string): Promise<Incoming | null> {
  const options = httpOptions(job);
  return source.kind === 's3'
    ? getObject(source, `${source.key}${suffix}`, options)
    : get(`${source.url}${suffix}`, options);
}

/** Nothing of an archive is unpacked before its checksum and its signature are known to be right. */
async function unpack(
  { request, meter, tree }: Job,
  source: ArchiveSource | HttpSource | S3Source,
  path: string,
  sha256: string,
  readBeside: ReadBeside,
): Promise<Found> {
  const name = basename(
    source.kind === 's3' ? source.key : source.kind === 'http' ? new URL(source.url).pathname : path,
  );
  checkSum(name, sha256, source.sha256, request.expected);
  const signature = await signatureOfArchive(path, sha256, readBeside, request.signers);
  await readArchive({ path, name, limits: request.limits, meter }, tree);
  if (source.sub !== '' && tree.top().length === 0) throw notThere(`the folder ${source.sub} in ${name}`);
  return { resolved: { sha256 }, signature };
}

const SIGNATURE_MAX_BYTES = 1024 * 1024;

async function readSmall(incoming: Incoming | null): Promise<Buffer | null> {
  if (incoming === null) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of incoming.body) {
      bytes += chunk.byteLength;
      if (bytes > SIGNATURE_MAX_BYTES) return null;
      chunks.push(chunk);
    }
  } finally {
    incoming.close();
  }
  return Buffer.concat(chunks);
}

/** Archives of a release mostly hold one folder, which is the tool. */
function topOf({ source }: FetchRequest, tree: Tree): string {
  const [first, ...more] = tree.top();
  const isPacked = source.kind !== 'git' && source.kind !== 'folder' && source.sub === '';
  return isPacked && first?.type === 'directory' && more.length === 0 ? first.name : '';
}

function notThere(what: string): ContextdError {
  return new ContextdError('NOT_FOUND', `${what} does not exist`, {
    remedy: 'Check the address and the version in it.',
  });
}

function tooLate({ source, limits }: FetchRequest): ContextdError {
  const text = `fetching ${formatSource(source)} took more than ${limits.time_ms / 1_000} s`;
  return new ContextdError('TIMEOUT', text, { remedy: 'Try again, or download it yourself and install the archive.' });
}
