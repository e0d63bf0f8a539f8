import type { BoundCredential } from './messages.ts';

/** What a request is, as far as a credential depends on it. */
export interface RequestLine {
  readonly method: string;
  /** As it was sent: a path, with or without a query. */
  readonly target: string;
}

export type CredentialCheck =
  /** `target` is the normal form, which is what the host gets. */
  | { readonly credential: BoundCredential; readonly target: string; readonly why: null }
  /** A clause about the request, without anything of its path. `isBindable`: a credential for it would change it. */
  | { readonly credential: null; readonly why: string; readonly isBindable: boolean };

/** The two services of git over HTTP: reading and pushing. */
const [READ_SERVICE, PUSH_SERVICE] = ['git-upload-pack', 'git-receive-pack'];

/**
 * Finds the credential that a request may use. The path must have one reading only: a server must not find another one in
 * it than the one that was compared. `credentials` are those of the host.
 */
export function findCredential(credentials: readonly BoundCredential[], request: RequestLine): CredentialCheck {
  const [, rawPath = '', query = ''] = /^([^?]*)(\?.*)?$/s.exec(request.target) ?? [];
  const { path, why } = normalPath(rawPath);
  if (path === null || !isPlainText(query)) return refused(why ?? 'its query holds characters that a URL cannot hold');
  const compared = path.replace(SCOPED_PACKAGE, '$1/');
  // A server may take an encoded slash for a slash or for a character of a name.
  const isClear = !ENCODED_SLASH.test(compared);
  const onPath = credentials.filter(
    ({ paths }) => paths.length === 0 || (isClear && paths.some((glob) => matches(glob, compared))),
  );
  if (onPath.length === 0)
    return isClear
      ? unbound('no credential for this host is bound to its path')
      : refused('its path holds an encoded slash, and the credentials for this host are bound to paths');
  const needed = isClear && asksForPush(path, query) ? 'POST' : request.method;
  const readsWithPost = request.method === 'POST' && path.endsWith(`/${READ_SERVICE}`);
  const credential = onPath.find(
    (one) => one.methods.includes(needed) || (readsWithPost && isOfGit(one) && one.methods.includes('GET')),
  );
  if (credential?.value === '') return refused(EXPIRED);
  if (credential !== undefined) return { credential, target: `${path}${query}`, why: null };
  if (needed !== request.method) return unbound('no credential for its path allows a push');
  const allowed = [...new Set(onPath.flatMap(({ methods }) => methods))];
  return unbound(`the credential for its path is for ${list(allowed)}, not for ${shownMethod(request.method)}`);
}

const EXPIRED = 'the credential for it has expired; a person can give it again (ctxd network credential refresh)';

/** git asks with GET whether it may push. */
function asksForPush(path: string, query: string): boolean {
  const services = new URLSearchParams(query).getAll('service');
  const isQuestion = path.endsWith('/info/refs') && services.some((service) => service !== READ_SERVICE);
  return isQuestion || path.endsWith(`/${PUSH_SERVICE}`);
}

/** git reads with POST too. An API would take such a POST for a change of something with that name. Empty: expired. */
function isOfGit({ header, value }: BoundCredential): boolean {
  return header === 'authorization' && /^(?:Basic |$)/.test(value);
}

/** `@scope%2fname`, as npm asks for a package: the only encoded slash that is accepted, if no `.` or `..` follows. It is compared as a slash. */
const SCOPED_PACKAGE = /(\/@[\w.~-]+)%2f(?!\.{1,2}(?:\/|$))(?=[\w.~-]+(?:\/|$))/i;
const ENCODED = /%([0-9a-f]{2})/gi;
const ENCODED_SLASH = /%2f/i;
/** Encoded backslashes, what was encoded twice, and characters that end or split a line. */
const AMBIGUOUS = /%(?:5c|(?:25)+(?:2e|2f|5c|0.|1.)|0.|1.|7f)/i;

type NormalPath = { readonly path: string; readonly why: null } | { readonly path: null; readonly why: string };

/** Decodes what needs no encoding (RFC 3986 §6.2.2.2), and refuses what servers are known to read in different ways. */
export function normalPath(raw: string): NormalPath {
  if (!raw.startsWith('/')) return unclear('it names its whole address instead of a path');
  if (!isPlainText(raw) || /[#\\]/.test(raw)) return unclear('its path holds characters that a URL cannot hold');
  if (/%(?![0-9a-f]{2})/i.test(raw)) return unclear('its path holds a broken encoding');
  const path = raw.replace(ENCODED, (encoded, digits: string) => {
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[\w.~-]/.test(character) ? character : encoded;
  });
  if (path.includes('//')) return unclear('its path holds an empty part');
  // `..;x` too: some servers drop what follows a semicolon, encoded or not, first.
  if (path.split('/').some((part) => /^\.{1,2}(?:[;%].*)?$/.test(part))) return unclear('its path holds . or ..');
  if (AMBIGUOUS.test(path)) return unclear('its path holds an encoded character that servers read in different ways');
  // Lenient servers read longer encodings of a dot or a slash as well.
  if (!isUtf8Encoded(path)) return unclear('its path holds an encoding that is not UTF-8');
  return { path, why: null };
}

function isUtf8Encoded(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

/** `*` stands for any characters, slashes included; all others for themselves. */
export function matches(glob: string, path: string): boolean {
  const [first = '', ...rest] = glob.split('*');
  const last = rest.pop();
  if (last === undefined) return path === first;
  if (!path.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = path.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return path.length - last.length >= from && path.endsWith(last);
}

function isPlainText(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

function shownMethod(method: string): string {
  return method.slice(0, 20).replace(/[^\x21-\x7e]/g, '?');
}

function refused(why: string): CredentialCheck {
  return { credential: null, why, isBindable: false };
}

function unbound(why: string): CredentialCheck {
  return { credential: null, why, isBindable: true };
}

function unclear(why: string): NormalPath {
  return { path: null, why };
}
