import { resolve } from 'node:path';
import { ContextdError } from '../core/errors.ts';
import { invisibleIn } from '../core/invisible.ts';
import { SOURCE_REMEDY } from './source-forms.ts';

/** A repository. `url` is what git gets, before a person's own `url.insteadOf`. */
export interface GitSource {
  kind: 'git';
  url: string;
  /** Folder of the tool in the repository, such as `tools/weather`; "" is the top. */
  sub: string;
  /** Tag, branch or whole commit id; null: the default branch. */
  ref: string | null;
  /** True: fetch submodules too. Otherwise a tool with submodules is refused. */
  submodules: boolean;
  /** True: fetch the content of Git LFS. Otherwise a tool with LFS pointers is refused. */
  lfs: boolean;
}

/** What archives have in common, wherever they are. */
interface Packed {
  /** Folder of the tool in the archive; "": the top, or the only folder at the top. */
  sub: string;
  /** What the archive must hash to, 64 hexadecimal digits; null: not given. */
  sha256: string | null;
}

export interface HttpSource extends Packed {
  kind: 'http';
  /** Always https, without a query. */
  url: string;
}

export interface S3Source extends Packed {
  kind: 's3';
  /** `https://host[:port]` of an S3-compatible service; null: AWS. */
  endpoint: string | null;
  bucket: string;
  key: string;
}

export interface FolderSource {
  kind: 'folder';
  /** Absolute. */
  path: string;
}

export interface ArchiveSource extends Packed {
  kind: 'archive';
  /** Absolute. */
  path: string;
}

/** Where a tool comes from (issue 17, part 1). */
export type FetchSource = GitSource | HttpSource | S3Source | FolderSource | ArchiveSource;

const SOURCE_MAX_CHARS = 2_048;
const ARCHIVE_NAME = /\.(?:tar\.gz|tgz|zip)$/i;
/** Hosts whose repositories need no `git::`, and the number of names that lead to one; 0: two or more. */
const KNOWN_HOSTS = { 'github.com': 2, 'gitlab.com': 0 } as const;
type KnownHost = keyof typeof KNOWN_HOSTS;
const GIT_SCHEMES = ['https', 'ssh', 'file'];

/**
 * Reads a source as a person types it. A local path is taken relative to `cwd`. Throws ARGS_INVALID with
 * SOURCE_REMEDY; no credential of the text is in the message.
 */
export function parseSource(text: string, cwd: string): FetchSource {
  if (text === '' || text.length > SOURCE_MAX_CHARS)
    throw invalid('the source', text === '' ? 'is empty' : `has more than ${SOURCE_MAX_CHARS} characters`);
  const invisible = invisibleIn(text);
  if (invisible !== null) throw invalid('the source', `holds ${invisible}, which does not print`);
  if (text.startsWith('git::')) return parseGit(text.slice('git::'.length), text);
  if (text.startsWith('s3::')) return parseS3(text.slice('s3::'.length), text);
  if (/^(?:\.{0,2}\/|\.{1,2}$)/.test(text)) return parseLocal(text, cwd);
  const known = knownHostOf(text);
  if (known !== null) return parseKnownHost(known, text);
  if (/^https:\/\//i.test(text)) return parseHttp(text);
  throw invalid(shown(text), 'is not a source that contextd knows');
}

/** The canonical text of a source: `parseSource` reads it as the same source. It holds no credential. */
export function formatSource(source: FetchSource): string {
  switch (source.kind) {
    case 'git':
      return formatGit(source);
    case 'http':
      return `${source.url}${formatPacked(source)}`;
    case 's3':
      return `s3::${source.endpoint === null ? '' : `${source.endpoint}/`}${source.bucket}/${source.key}${formatPacked(source)}`;
    case 'folder':
      return source.path;
    case 'archive':
      return `${source.path}${formatPacked(source)}`;
  }
}

function formatPacked({ sub, sha256 }: Packed): string {
  return `${sub === '' ? '' : `//${sub}`}${sha256 === null ? '' : `?checksum=sha256:${sha256}`}`;
}

function formatGit({ url, sub, ref, submodules, lfs }: GitSource): string {
  const place = `${knownPlaceOf(url) ?? `git::${url}`}${sub === '' ? '' : `//${sub}`}`;
  const inQuery = afterHost(place).includes('@');
  const query = [
    ...(ref !== null && inQuery ? [`ref=${ref}`] : []),
    ...(submodules ? ['submodules=true'] : []),
    ...(lfs ? ['lfs=true'] : []),
  ];
  return `${place}${ref !== null && !inQuery ? `@${ref}` : ''}${query.length === 0 ? '' : `?${query.join('&')}`}`;
}

/** The short text of a repository of a known host; null if it would be read as another one. */
function knownPlaceOf(url: string): string | null {
  const [, place = ''] = /^https:\/\/(.+)\.git$/.exec(url) ?? [];
  const host = knownHostOf(place);
  if (host === null || place.endsWith('.git')) return null;
  return isRepositoryOf(host, place.slice(host.length + 1).split('/')) ? place : null;
}

function isRepositoryOf(host: KnownHost, names: readonly string[]): boolean {
  const wanted = KNOWN_HOSTS[host];
  const isWhole = wanted === 0 ? names.length >= 2 : names.length === wanted;
  return isWhole && names.every((name) => /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(name));
}

/** The host of a text such as `github.com/org/repo` or `https://github.com/org/repo`; null: no known host, or an archive. */
function knownHostOf(text: string): KnownHost | null {
  const bare = text.replace(/^https:\/\//i, '');
  const host = Object.keys(KNOWN_HOSTS).find((name): name is KnownHost => bare.toLowerCase().startsWith(`${name}/`));
  if (host === undefined) return null;
  const { path } = splitQuery(bare, text);
  const isArchive = bare !== text && ARCHIVE_NAME.test(splitSub(path).place);
  return isArchive ? null : host;
}

function parseKnownHost(host: KnownHost, text: string): GitSource {
  const rest = text.replace(/^https:\/\//i, '').slice(host.length + 1);
  const { path, options } = splitQuery(rest, text);
  const { place, sub, ref } = splitRepository(path, options, text);
  const names = place
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
    .split('/');
  if (!isRepositoryOf(host, names))
    throw invalid(shown(text), `does not name a repository of ${host}; a folder in it follows after //`);
  return gitSource(`https://${host}/${names.join('/')}.git`, sub, ref, options);
}

function parseGit(rest: string, text: string): GitSource {
  const { path, options } = splitQuery(rest, text);
  const scp = /^([A-Za-z0-9_][A-Za-z0-9_.-]*)@([A-Za-z0-9][A-Za-z0-9.-]*):(?!\/\/)(.+)$/.exec(path);
  if (scp !== null) {
    const [, user = '', host = '', inHost = ''] = scp;
    const { place, sub, ref } = splitRepository(inHost, options, text);
    return gitSource(`${user}@${host}:${checkedPath(place, text)}`, sub, ref, options);
  }
  const [, scheme = '', authority = '', inHost = ''] = /^([a-z]+):\/\/([^/]*)(\/.+)$/i.exec(path) ?? [];
  const protocol = scheme.toLowerCase();
  if (!GIT_SCHEMES.includes(protocol)) {
    const instead = `git:: takes ${GIT_SCHEMES.join('://, ')}://, or USER@HOST:PATH`;
    throw invalid(shown(text), scheme === '' ? `is not a URL; ${instead}` : `uses ${protocol}://; ${instead}`);
  }
  const { place, sub, ref } = splitRepository(inHost, options, text);
  return gitSource(
    `${protocol}://${checkedHost(protocol, authority, text)}${checkedPath(place, text)}`,
    sub,
    ref,
    options,
  );
}

function gitSource(url: string, sub: string, ref: string | null, options: ReadonlyMap<string, string>): GitSource {
  const known = /^https:\/\/(?:github\.com|gitlab\.com)\//.test(url) && !url.endsWith('.git') ? `${url}.git` : url;
  const [submodules, lfs] = [options.get('submodules') === 'true', options.get('lfs') === 'true'];
  return { kind: 'git', url: known, sub, ref, submodules, lfs };
}

function splitRepository(
  text: string,
  options: ReadonlyMap<string, string>,
  whole: string,
): { place: string; sub: string; ref: string | null } {
  checkOptions(options, { ref: /^.+$/, submodules: /^(?:true|false)$/, lfs: /^(?:true|false)$/ }, whole);
  const inQuery = options.get('ref');
  const at = inQuery === undefined ? text.indexOf('@') : -1;
  const ref = inQuery ?? (at === -1 ? null : text.slice(at + 1));
  if (ref !== null && !isRef(ref)) throw invalid(shown(whole), 'names no possible tag, branch or commit after the @');
  const { place, sub } = splitSub(at === -1 ? text : text.slice(0, at));
  return { place, sub: checkedSub(sub, whole), ref };
}

/** The rules of `git check-ref-format`, and nothing that git could take for an option or a range. */
function isRef(ref: string): boolean {
  if (ref.length > 255 || ref === '@' || !/^[^\s~^:?*[\\&#]+$/.test(ref) || ref.includes('@{')) return false;
  const parts = ref.split('/');
  return (
    !ref.startsWith('-') &&
    !ref.includes('..') &&
    parts.every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.') && !part.endsWith('.lock'))
  );
}

function parseHttp(text: string): HttpSource {
  const { path, options } = splitQuery(text, text);
  const sha256 = checksumOf(options, text);
  const [, authority = '', inHost = ''] = /^https:\/\/([^/]*)(\/.*)$/i.exec(path) ?? [];
  const { place, sub } = splitSub(inHost);
  if (!ARCHIVE_NAME.test(place)) throw invalid(shown(text), 'does not end with .tar.gz, .tgz or .zip');
  const url = `https://${checkedHost('https', authority, text)}${checkedPath(place, text)}`;
  return { kind: 'http', url: new URL(url).href, sub: checkedSub(sub, text), sha256 };
}

function parseS3(rest: string, text: string): S3Source {
  const { path, options } = splitQuery(rest, text);
  const sha256 = checksumOf(options, text);
  const [, scheme, authority = '', inHost = ''] = /^([a-z]+):\/\/([^/]*)\/(.*)$/i.exec(path) ?? [undefined, undefined];
  if (scheme !== undefined && scheme.toLowerCase() !== 'https')
    throw invalid(shown(text), 'must name its server with https://');
  const endpoint = scheme === undefined ? null : `https://${checkedHost('https', authority, text)}`;
  const { place, sub } = splitSub(scheme === undefined ? path : inHost);
  const slash = place.indexOf('/');
  const [bucket, key] = [place.slice(0, Math.max(slash, 0)), place.slice(slash + 1)];
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw invalid(shown(text), 'does not name a bucket: 3 to 63 lower-case letters, digits, dots and hyphens');
  if (!ARCHIVE_NAME.test(key)) throw invalid(shown(text), 'does not end with .tar.gz, .tgz or .zip');
  return { kind: 's3', endpoint, bucket, key, sub: checkedSub(sub, text), sha256 };
}

function parseLocal(text: string, cwd: string): FolderSource | ArchiveSource {
  const { path, options } = /\?checksum=/.test(text)
    ? splitQuery(text, text)
    : { path: text, options: new Map<string, string>() };
  const sha256 = checksumOf(options, text);
  const [, file = path, sub = ''] = /^(.+\.(?:tar\.gz|tgz|zip))(?:\/\/(.*))?$/i.exec(path) ?? [];
  const absolute = resolve(cwd, file);
  if (ARCHIVE_NAME.test(absolute)) return { kind: 'archive', path: absolute, sub: checkedSub(sub, text), sha256 };
  if (sha256 !== null) throw invalid(shown(text), 'has a checksum, which only archives can have');
  return { kind: 'folder', path: absolute };
}

/** Keys and values after the `?`; a key is given once. */
function splitQuery(text: string, whole: string): { path: string; options: Map<string, string> } {
  const at = text.indexOf('?');
  if (at === -1) return { path: text, options: new Map() };
  const options = new Map<string, string>();
  for (const pair of text.slice(at + 1).split('&')) {
    const equals = pair.indexOf('=');
    const key = pair.slice(0, Math.max(equals, 0));
    if (key === '' || options.has(key))
      throw invalid(shown(whole), 'has an option after the ? that is empty or repeated');
    options.set(key, pair.slice(equals + 1));
  }
  return { path: text.slice(0, at), options };
}

function checkOptions(
  options: ReadonlyMap<string, string>,
  known: Readonly<Record<string, RegExp>>,
  whole: string,
): void {
  for (const [key, value] of options) {
    if (known[key]?.test(value) === true) continue;
    const names = Object.keys(known).join(', ');
    const why = 'The source is kept in contextd.lock, where everyone can read it, so it takes no tokens';
    throw invalid(shown(whole), `has an option after the ? other than ${names}, or with a wrong value. ${why}`);
  }
}

function checksumOf(options: ReadonlyMap<string, string>, whole: string): string | null {
  checkOptions(options, { checksum: /^sha256:[0-9a-fA-F]{64}$/ }, whole);
  return options.get('checksum')?.slice('sha256:'.length).toLowerCase() ?? null;
}

/** Splits `repo.git//folder`. */
function splitSub(text: string): { place: string; sub: string } {
  const at = text.indexOf('//', 1);
  return at === -1 ? { place: text, sub: '' } : { place: text.slice(0, at), sub: text.slice(at + 2) };
}

function checkedSub(sub: string, whole: string): string {
  const path = sub.replace(/\/+$/, '');
  if (path === '') return '';
  const isInside =
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..') && !path.includes('\\');
  if (!isInside) throw invalid(shown(whole), 'has a folder after // that is not a plain path inside the source');
  return path;
}

function checkedHost(scheme: string, authority: string, whole: string): string {
  const [, user, host = '', port = ''] =
    /^(?:([^@]*)@)?([A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])?(:\d{1,5})?$/.exec(authority) ?? [];
  const isMissing = scheme === 'file' ? authority !== '' : host === '';
  const canHaveUser = scheme === 'ssh' && user !== undefined && /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/.test(user);
  if (authority.includes('@') && !canHaveUser) {
    const fix = 'Take them out: contextd uses git credential helpers, ssh keys, ~/.netrc and AWS profiles';
    throw invalid(shown(whole), `holds a user name or a password. ${fix}`);
  }
  if (isMissing) throw invalid(shown(whole), scheme === 'file' ? 'needs the form file:///path' : 'names no host');
  return `${canHaveUser ? `${user}@` : ''}${host.toLowerCase()}${port}`;
}

function checkedPath(path: string, whole: string): string {
  const isPlain = path !== '' && path !== '/' && !/[\s\\#]/.test(path) && !path.startsWith('-');
  if (isPlain && path.split('/').every((part) => part !== '.' && part !== '..')) return path;
  throw invalid(shown(whole), 'has a path with spaces (write %20), backslashes, . or .. in it');
}

/** What follows the host, where an `@` cannot be that of a user. */
function afterHost(place: string): string {
  return place.replace(/^git::(?:[a-z]+:\/\/[^/]*|[^/@]*@[^/:]*:)/, '');
}

/** The text for a message, without what may be a credential. */
function shown(text: string): string {
  return JSON.stringify(text.replace(/\/\/[^/]*@/, '//…@').replace(/\?.*$/, '?…'));
}

function invalid(what: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', `${what} ${fault}`, { remedy: SOURCE_REMEDY });
}
