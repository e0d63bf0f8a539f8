import { isJsonObject, type Json } from '../../../core/json.ts';
import type { NamedValue } from './seed-value.ts';

/**
 * Reads the values in a text. Never throws: a malformed file holds nothing. The text may be hostile, so the time must grow
 * with its length alone: in each pattern, the next character decides which part it belongs to.
 */
type SeedFormat = (text: string) => NamedValue[];

/** `.env`: `export NAME="value" # comment`. A quoted value may have several lines; its escapes are read and left. */
export const readDotenv: SeedFormat = (text) => {
  const line = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*[=:][ \t]*("(?:[^"\\]|\\[\s\S])*"|'[^']*'|`[^`]*`|[^\r\n]*)/gm;
  const read = [...text.matchAll(line)].flatMap(([, name = '', written = '']) => {
    const quote = /^(["'`])([\s\S]*)\1$/.exec(written);
    if (quote === null) return [{ name, value: written.replace(/[ \t]#[\s\S]*$/, '').trim() }];
    const inner = quote[2] ?? '';
    const plain = quote[1] === '"' ? unescaped(inner) : inner;
    return [...new Set([inner, plain])].map((value) => ({ name, value }));
  });
  // An unclosed quote swallows the lines after it, so lines are also read one by one.
  return [...read, ...readAssignments(text)];
};

/** `name = value` and `name: value`, one a line, quoted or not: INI, TOML and YAML. */
const readAssignments: SeedFormat = (text) =>
  [...text.matchAll(/^[ \t-]*"?([^\s=:#;"-][^\s=:"]*)"?[ \t]*[=:][ \t]*(.*)$/gm)].map(
    ([, name = '', written = '']) => ({
      name,
      value: written.trim().replace(/^(["'])(.*)\1(?:[ \t]*#.*)?$/, '$2'),
    }),
  );

/** npm's own: `//host/:name=value`, where the name holds colons. */
const readNpmrc: SeedFormat = (text) =>
  [...text.matchAll(/^[ \t]*([^\s=;#][^=\r\n\u2028\u2029]*)=[ \t]*(.*)$/gm)].map(([, name = '', written = '']) => ({
    name: name.trimEnd(),
    value: written.trim().replace(/^(["'])(.*)\1$/, '$2'),
  }));

/** Every string of a JSON document, under the name of its property. */
const readJson: SeedFormat = (text) => {
  try {
    const value: Json = JSON.parse(text);
    return namedStrings(value, '', 0);
  } catch {
    return [];
  }
};

/** `machine`, `login` and `password`, each before its value, in any order of words. */
const readNetrc: SeedFormat = (text) =>
  [...text.matchAll(/(?:^|\s)(password|account)\s+("(?:[^"\\]|\\.)*"|\S+)/g)].map(([, name = '', written = '']) => ({
    name,
    value: written.startsWith('"') ? unescaped(written.slice(1, -1)) : written,
  }));

/** `host:port:database:user:password`, where `\:` and `\\` stand for themselves. */
const readPgpass: SeedFormat = (text) =>
  text.split(/\r?\n/).flatMap((line) => {
    const fields = line.startsWith('#') ? [] : line.split(/(?<!\\)(?:\\\\)*:/);
    const written = fields.slice(4).join(':');
    return [...new Set([written, written.replaceAll(/\\([\\:])/g, '$1')])].map((value) => ({
      name: 'password',
      value,
    }));
  });

/** One URL a line. */
const readUrls: SeedFormat = (text) => text.split(/\r?\n/).map((value) => ({ name: 'url', value: value.trim() }));

/** Keeps the values with these names, and adds what those in base64 (`user:password`, a PEM block) decode to. */
function only(names: RegExp, read: SeedFormat): SeedFormat {
  return (text) =>
    read(text)
      .filter(({ name }) => names.test(name))
      .flatMap(({ name, value }) => [value, ...fromBase64(value)].map((one) => ({ name, value: one })));
}

/** A file of credentials in a user's home. */
interface CredentialFile {
  /** Relative to the home. */
  path: string;
  /** The rule name shown for its secrets. */
  rule: string;
  read: SeedFormat;
}

const CLOUD_FIELDS = /^(?:client_?secret|refresh_?token|access_?token|id_?token|private_?key|secret|password)$/i;

/** Each holds secrets only under the names that are read, so these need not be telling. */
export const CREDENTIAL_FILES: readonly CredentialFile[] = [
  { path: '.netrc', rule: 'seed-netrc', read: readNetrc },
  { path: '_netrc', rule: 'seed-netrc', read: readNetrc },
  { path: '.npmrc', rule: 'seed-npmrc-token', read: only(/(?:^|:)_(?:authToken|auth|password)$/, readNpmrc) },
  { path: '.pypirc', rule: 'seed-pypirc-password', read: only(/^password$/, readAssignments) },
  {
    path: '.aws/credentials',
    rule: 'seed-aws-credentials',
    read: only(/^aws_(?:secret_access_key|session_token)$/i, readAssignments),
  },
  {
    path: '.docker/config.json',
    rule: 'seed-docker-credentials',
    read: only(/^(?:auth|identitytoken|registrytoken|password)$/i, readJson),
  },
  {
    path: '.kube/config',
    rule: 'seed-kubeconfig-token',
    read: only(
      /^(?:token|password|client-key-data|id-token|refresh-token|access-token|client-secret)$/,
      readAssignments,
    ),
  },
  { path: '.config/gh/hosts.yml', rule: 'seed-gh-token', read: only(/^oauth_token$/, readAssignments) },
  { path: '.git-credentials', rule: 'seed-git-credentials', read: readUrls },
  { path: '.config/git/credentials', rule: 'seed-git-credentials', read: readUrls },
  {
    path: '.config/gcloud/application_default_credentials.json',
    rule: 'seed-gcloud-credentials',
    read: only(CLOUD_FIELDS, readJson),
  },
  { path: '.azure/accessTokens.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.azure/msal_token_cache.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.azure/service_principal_entries.json', rule: 'seed-azure-token', read: only(CLOUD_FIELDS, readJson) },
  { path: '.cargo/credentials.toml', rule: 'seed-cargo-token', read: only(/^token$/, readAssignments) },
  { path: '.cargo/credentials', rule: 'seed-cargo-token', read: only(/^token$/, readAssignments) },
  { path: '.pgpass', rule: 'seed-pgpass', read: readPgpass },
];

/** Nothing unless what comes out is text. */
function fromBase64(value: string): string[] {
  if (!/^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)) return [];
  const text = Buffer.from(value, 'base64').toString('utf8');
  if (!/^[\t\n\r\x20-\x7e]{4,}$/.test(text)) return [];
  const colon = text.indexOf(':');
  return text.startsWith('-----BEGIN') || colon === -1 ? [text] : [text.slice(colon + 1)];
}

function namedStrings(value: Json, name: string, depth: number): NamedValue[] {
  if (typeof value === 'string') return [{ name, value }];
  if (depth > 20 || typeof value !== 'object' || value === null) return [];
  if (!isJsonObject(value)) return [...value].flatMap((item: Json) => namedStrings(item, name, depth + 1));
  return Object.entries(value).flatMap(([key, item]) => namedStrings(item, key, depth + 1));
}

function unescaped(text: string): string {
  return text.replaceAll(/\\([\s\S])/g, (_escape, char: string) => ({ n: '\n', r: '\r', t: '\t' })[char] ?? char);
}
