import { createHash } from 'node:crypto';
import { constants, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import { formatSource, type GitSource } from '../source.ts';
import type { GitDeps, Repository } from './git-repository.ts';
import { get, type HttpOptions, postJson } from './http.ts';
import { tooLarge } from './names.ts';

/** What stands in a repository for a file whose content is in Git LFS. */
export interface LfsPointer {
  /** sha256 of the content. */
  oid: string;
  size: number;
}

const POINTER_MAX_BYTES = 1_024;
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[^\n]+\n)*?oid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n/;
const MEDIA_TYPE = 'application/vnd.git-lfs+json';
/** Objects of one request, as git-lfs itself asks. */
const BATCH = 100;

export function parsePointer(content: Buffer): LfsPointer | null {
  if (content.length > POINTER_MAX_BYTES) return null;
  const [, oid, size] = POINTER.exec(content.toString('latin1')) ?? [];
  return oid === undefined ? null : { oid, size: Number(size) };
}

/** Reads one object of Git LFS. Each has the size and the hash that its pointer names, or the reader throws. */
export type ReadLfs = (pointer: LfsPointer) => AsyncIterable<Uint8Array>;

/**
 * Finds the content of pointers: over the batch API of an https server, with the credentials that git has for it, or in
 * the directory of a local repository. Settings of the repository, such as `.lfsconfig`, have no effect.
 */
export async function openLfs(
  repository: Repository,
  source: GitSource,
  pointers: readonly LfsPointer[],
  deps: GitDeps,
): Promise<ReadLfs> {
  const bytes = pointers.reduce((sum, { size }) => sum + size, 0);
  if (bytes > deps.limits.bytes)
    throw tooLarge(`the files of Git LFS have ${bytes} bytes, more than ${deps.limits.bytes}`);
  const url = [repository.url, source.url].find((one) => one.startsWith('https://'));
  if (repository.url.startsWith('file://')) {
    const places = await localPlaces(fileURLToPath(repository.url));
    return (pointer) => checked(pointer, source, readLocal(places, pointer, source));
  }
  if (url === undefined)
    throw new ContextdError(
      'PERMISSION_DENIED',
      `${formatSource(source)} holds files of Git LFS, which need an https address`,
      {
        remedy: 'Install it by its https address.',
      },
    );
  const actions = await findActions(repository, url, source, pointers, deps);
  return (pointer) => checked(pointer, source, download(actions.get(pointer.oid), pointer, source, deps.http, url));
}

async function* checked(
  pointer: LfsPointer,
  source: GitSource,
  content: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.byteLength;
    if (bytes > pointer.size) break;
    hash.update(chunk);
    yield chunk;
  }
  if (bytes === pointer.size && hash.digest('hex') === pointer.oid) return;
  throw new ContextdError(
    'INTEGRITY_FAILED',
    `an object of Git LFS of ${formatSource(source)} is not what its pointer says`,
    {
      remedy: 'Do not install it. Tell its author that the Git LFS object is damaged.',
      details: { oid: pointer.oid },
    },
  );
}

async function localPlaces(path: string): Promise<string[]> {
  const real = await realpath(path);
  return [join(real, 'lfs/objects'), join(real, '.git/lfs/objects')];
}

async function* readLocal(
  places: readonly string[],
  { oid }: LfsPointer,
  source: GitSource,
): AsyncIterable<Uint8Array> {
  for (const place of places) {
    const path = join(place, oid.slice(0, 2), oid.slice(2, 4), oid);
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((thrown: unknown) => {
      if (isErrno(thrown, 'ENOENT', 'ENOTDIR')) return null;
      throw thrown;
    });
    if (handle === null) continue;
    try {
      yield* handle.createReadStream({ autoClose: false });
    } finally {
      await handle.close();
    }
    return;
  }
  throw missing(source, oid, 'is not in its repository');
}

interface Action {
  href: string;
  headers: Record<string, string>;
}

async function findActions(
  repository: Repository,
  url: string,
  source: GitSource,
  pointers: readonly LfsPointer[],
  deps: GitDeps,
): Promise<Map<string, Action>> {
  const place = `${url.endsWith('.git') ? url : `${url.replace(/\/$/, '')}.git`}/info/lfs/objects/batch`;
  const actions = new Map<string, Action>();
  for (let at = 0; at < pointers.length; at += BATCH) {
    const objects = pointers.slice(at, at + BATCH).map(({ oid, size }) => ({ oid, size }));
    const answer = await askBatch(
      repository,
      place,
      { operation: 'download', transfers: ['basic'], objects },
      deps.http,
    );
    for (const object of objectsOf(answer)) {
      const action = actionOf(object);
      if (typeof object.oid === 'string' && action !== null) actions.set(object.oid, action);
    }
  }
  for (const { oid } of pointers) if (!actions.has(oid)) throw missing(source, oid, 'is not on its server');
  return actions;
}

/** First without credentials, as git does, then with those that git has. */
async function askBatch(repository: Repository, place: string, body: JsonObject, http: HttpOptions): Promise<unknown> {
  const headers = { Accept: MEDIA_TYPE, 'Content-Type': MEDIA_TYPE };
  try {
    return await postJson(place, body, http, headers);
  } catch (thrown) {
    if (!(thrown instanceof ContextdError) || thrown.code !== 'AUTH_FAILED') throw thrown;
    const { user, password } = await repository.credential(place);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    return postJson(place, body, http, { ...headers, Authorization: authorization });
  }
}

function objectsOf(answer: unknown): JsonObject[] {
  const objects = isJsonObject(answer) && Array.isArray(answer.objects) ? answer.objects : [];
  return objects.filter(isJsonObject);
}

function actionOf({ actions }: JsonObject): Action | null {
  const action = isJsonObject(actions) ? actions.download : undefined;
  if (!isJsonObject(action) || typeof action.href !== 'string' || !/^https:\/\//i.test(action.href)) return null;
  const header = isJsonObject(action.header) ? Object.entries(action.header) : [];
  const headers = header.flatMap(([name, value]) => (isHeader(name, value) ? [[name, value] as const] : []));
  return { href: action.href, headers: Object.fromEntries(headers) };
}

function isHeader(name: string, value: unknown): value is string {
  return /^[A-Za-z0-9-]{1,64}$/.test(name) && typeof value === 'string' && /^[\x20-\x7e]{0,8192}$/.test(value);
}

async function* download(
  action: Action | undefined,
  { oid }: LfsPointer,
  source: GitSource,
  http: HttpOptions,
  url: string,
): AsyncIterable<Uint8Array> {
  // The server says where the content is, but not who gets a login of the person.
  const answer = action === undefined ? null : await get(action.href, http, action.headers, new URL(url).origin);
  if (answer === null) throw missing(source, oid, 'is not on its server');
  try {
    yield* answer.body;
  } finally {
    answer.close();
  }
}

function missing(source: GitSource, oid: string, fault: string): ContextdError {
  return new ContextdError('NOT_FOUND', `an object of Git LFS of ${formatSource(source)} ${fault}`, {
    remedy: 'Tell the author to push it with `git lfs push --all`.',
    details: { oid },
  });
}
