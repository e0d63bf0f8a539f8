import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ContextdError, isErrno } from '../../core/errors.ts';
import { contentHash } from './content-hash.ts';
import type { MergeRecord } from './merged-file.ts';

/** What `ctxd init` created in one project. It is kept in the state directory, where the project cannot change it. */
export interface Manifest {
  version: 1;
  root: string;
  /** Directories that did not exist before, parents first. */
  directories: readonly string[];
  /** Path to sha256. */
  files: Readonly<Record<string, string>>;
  /** Path to target. */
  links: Readonly<Record<string, string>>;
  merges: Readonly<Record<string, MergeRecord>>;
}

export function emptyManifest(root: string): Manifest {
  return { version: 1, root, directories: [], files: {}, links: {}, merges: {} };
}

/** The manifest of a project, or undefined if it has no manifest. Throws SCHEMA_INVALID if it is malformed. */
export async function readManifest(projectsDir: string, root: string): Promise<Manifest | undefined> {
  const file = manifestFile(projectsDir, root);
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined;
    if (isErrno(error)) throw error;
  }
  const validate = new Ajv2020({ strict: true }).compile<Manifest>(MANIFEST_SCHEMA);
  if (validate(value) && value.root === root) return value;
  throw new ContextdError('SCHEMA_INVALID', `${file} is not a manifest of this version`, {
    remedy: 'Use the version of contextd that wrote it, or delete it and run `ctxd init` again.',
    details: { path: file },
  });
}

/** Replaces the whole manifest, mode 0600. */
export async function writeManifest(projectsDir: string, manifest: Manifest): Promise<void> {
  await mkdir(projectsDir, { recursive: true, mode: 0o700 });
  const file = manifestFile(projectsDir, manifest.root);
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(manifest, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

export async function deleteManifest(projectsDir: string, root: string): Promise<void> {
  await rm(manifestFile(projectsDir, root), { force: true });
}

function manifestFile(projectsDir: string, root: string): string {
  return join(projectsDir, `${contentHash(root)}.json`);
}

const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;
/** Relative, and never outside the project. */
const PATH = { type: 'string', pattern: '^[^/].*$', not: { pattern: '(^|/)\\.\\.(/|$)' } } as const;

function closed(properties: Record<string, object>) {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

function list(items: object) {
  return { type: 'array', items };
}

function byPath(value: object) {
  return { type: 'object', propertyNames: PATH, additionalProperties: value };
}

const MERGE = {
  created: { type: 'boolean' },
  sha256: TEXT,
  insertions: list(closed({ at: COUNT, length: COUNT })),
  entries: list({ ...closed({ path: list(TEXT), value: {} }), properties: { path: list(TEXT), key: TEXT, value: {} } }),
  containers: list(list(TEXT)),
};
const MERGE_SCHEMA = { ...closed(MERGE), properties: { ...MERGE, hasGap: { const: true } } };

const MANIFEST_SCHEMA = closed({
  version: { const: 1 },
  root: TEXT,
  directories: list(PATH),
  files: byPath(TEXT),
  links: byPath(TEXT),
  merges: byPath(MERGE_SCHEMA),
});
