import { createHash, randomBytes, type X509Certificate } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { certificatesIn, digestOf, digestsIn, isBuiltIn } from '../../core/certificates.ts';
import { isErrno } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { CA_VARIABLES } from '../../core/variable-names.ts';
import type { Mount } from '../../guard/contract/mount.ts';
import type { HostNetwork, SandboxPolicy, Toolchains } from '../contract/policy.ts';
import { skeletonOf } from '../machine/skeleton.ts';
import { extendJavaStore } from './java-store.ts';

/** Where the distributions keep the certificates that the system trusts, in one file. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];
const SYSTEM_JAVA_STORES = ['/etc/ssl/certs/java/cacerts', '/etc/pki/ca-trust/extracted/java/cacerts'];
const SHIPPED = '/usr/share/ca-certificates';
const JAVA_STORE_MAX_BYTES = 16 * 1024 * 1024;

const TRUST_PREFIX = 'trust-';
/** Sets of certificates that are kept. A sandbox that starts mounts one of the newest. */
const TRUST_DIRS_MAX = 32;

/** Where commands find all certificates, and those that Node does not have itself. */
const BUNDLE_INSIDE = '/opt/contextd/certificates.pem';
const NODE_INSIDE = '/opt/contextd/certificates-for-node.pem';
/** Node reads this file at each start, so it holds only what Node lacks. */
const NODE_VARIABLE = 'NODE_EXTRA_CA_CERTS';

/** What makes the programs of a sandbox trust what the person's programs trust. */
export interface Trust {
  readonly mounts: readonly Mount[];
  readonly variables: Readonly<Record<string, string>>;
}

const NO_TRUST: Trust = { mounts: [], variables: {} };

/** What a policy lets programs trust. */
export function trustOf({ hostNetwork, toolchains }: SandboxPolicy, base: readonly Mount[]): Trust {
  return hostNetwork === undefined ? NO_TRUST : provideTrust(hostNetwork, base, toolchains);
}

const NO_HOST_NETWORK: HostNetwork = { certificates: [], caVariables: [], variables: {}, homeFiles: [] };

/** The policy of a sandbox that trusts one more certificate, of the proxy process. */
export function withAuthority(policy: SandboxPolicy, certificate: string | null): SandboxPolicy {
  if (certificate === null) return policy;
  const { certificates, ...rest } = policy.hostNetwork ?? NO_HOST_NETWORK;
  return { ...policy, hostNetwork: { ...rest, certificates: [...certificates, certificate] } };
}

/** The variables with which programs find certificates and registries. */
export function hostVariables(policy: SandboxPolicy, base: readonly Mount[]): Record<string, string> {
  return { ...trustOf(policy, base).variables, ...policy.hostNetwork?.variables };
}

/**
 * The system's own store is in every sandbox. Programs that bring their own find it by the variables that the person has
 * set. Certificates beyond it are added to it, to Java's stores, and then every program gets the variables.
 */
function provideTrust(
  { certificates, caVariables }: Pick<HostNetwork, 'certificates' | 'caVariables'>,
  base: readonly Mount[],
  toolchains: Toolchains | undefined,
): Trust {
  const skeleton = skeletonOf(base);
  const bundles = SYSTEM_BUNDLES.filter((path) => isFile(join(skeleton, path)));
  const hasMore = certificates.length > 0;
  if (!hasMore && (caVariables.length === 0 || bundles.length === 0)) return NO_TRUST;
  const stores = hasMore ? javaStores(skeleton, toolchains) : [];
  const name = createHash('sha256')
    .update(JSON.stringify([certificates, stores]))
    .digest('hex')
    .slice(0, 16);
  const dir = join(skeleton, `${TRUST_PREFIX}${name}`);
  if (!existsSync(dir)) build(dir, bundles[0] === undefined ? null : join(skeleton, bundles[0]), certificates, stores);
  const mount = (file: string, dest: string): Mount[] =>
    existsSync(join(dir, file)) ? [{ kind: 'ro-bind', source: join(dir, file), dest }] : [];
  const covered = hasMore ? [BUNDLE_INSIDE, ...bundles] : [];
  const forNode = mount('node.pem', NODE_INSIDE);
  return {
    mounts: [
      ...covered.flatMap((dest) => mount('all.pem', dest)),
      ...stores.flatMap(({ dest }, i) => mount(`java-${i}`, dest)),
      ...forNode,
    ],
    variables: {
      ...variablesFor(hasMore ? CA_VARIABLES : caVariables, hasMore ? BUNDLE_INSIDE : (bundles[0] ?? '')),
      ...(forNode.length > 0 ? { [NODE_VARIABLE]: NODE_INSIDE } : {}),
    },
  };
}

/** Node gets a file of its own. A yarn that does not know the setting of its variable refuses to run; it trusts what Node does. */
const NOT_SET: readonly string[] = [NODE_VARIABLE, 'YARN_HTTPS_CA_FILE_PATH'];

function variablesFor(names: readonly string[], path: string): Record<string, string> {
  return Object.fromEntries(names.flatMap((name) => (NOT_SET.includes(name) ? [] : [[name, path]])));
}

interface JavaStore {
  /** On the host. */
  readonly source: string;
  /** In the sandbox. */
  readonly dest: string;
  /** Changes with the file. */
  readonly stamp: string;
}

/** The store of the system, and of each Java among the toolchains. */
function javaStores(skeleton: string, toolchains: Toolchains | undefined): JavaStore[] {
  const ofSystem = SYSTEM_JAVA_STORES.map((dest) => ({ source: join(skeleton, dest), dest }));
  const homes = [
    ...[toolchains?.variables.JAVA_HOME ?? []].flat(),
    ...(toolchains?.path ?? [])
      .flatMap((dir) => realOrNull(join(dir, 'java')) ?? [])
      .map((java) => join(java, '../..')),
  ];
  const places = homes.flatMap((home) =>
    ['lib/security/cacerts', 'jre/lib/security/cacerts'].map((one) => join(home, one)),
  );
  const ofToolchains = [...new Set(places.flatMap((place) => realOrNull(place) ?? []))]
    .filter((path) => toolchains?.mounts.some((mount) => isBelow(mount, path)) === true)
    .map((path) => ({ source: path, dest: path }));
  return [...ofSystem, ...ofToolchains].flatMap((store) => {
    const stats = lstatSync(store.source, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > JAVA_STORE_MAX_BYTES) return [];
    return [{ ...store, stamp: `${stats.ino}:${stats.mtimeMs}:${stats.size}` }];
  });
}

/** Beside the /etc that it belongs to, so that both are removed together. A store that Java cannot extend stays as it is. */
function build(dir: string, system: string | null, added: readonly string[], stores: readonly JavaStore[]): void {
  const ofSystem = system === null ? rootCertificates.join('\n') : readFileSync(system, 'utf8');
  const shipped = digestsIn(shippedFiles());
  const certificates = certificatesIn(added.join('\n'));
  const files = new Map<string, string | Buffer>();
  files.set(
    'all.pem',
    [ofSystem, ...certificates]
      .map((one) => one.toString().trim())
      .join('\n')
      .concat('\n'),
  );
  const isPublic = (one: X509Certificate): boolean => isBuiltIn(one) || shipped.has(digestOf(one));
  const lacking = [...certificatesIn(ofSystem), ...certificates].filter((one) => !isPublic(one));
  if (lacking.length > 0) files.set('node.pem', pemOf(lacking));
  for (const [i, { source }] of stores.entries()) {
    const extended = extendJavaStore(readFileSync(source), certificates);
    if (extended !== null) files.set(`java-${i}`, extended);
  }
  writeAll(dir, files);
  removeOldest(dirname(dir));
}

/** A renewed certificate makes a new directory. What is mounted stays in the sandboxes that have it. */
function removeOldest(skeleton: string): void {
  const dirs = readdirSync(skeleton).filter((name) => name.startsWith(TRUST_PREFIX));
  if (dirs.length <= TRUST_DIRS_MAX) return;
  const byAge = dirs
    .map((name) => join(skeleton, name))
    .map((path) => ({ path, atMs: lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0 }))
    .sort((a, b) => b.atMs - a.atMs);
  for (const { path } of byAge.slice(TRUST_DIRS_MAX)) rmSync(path, { recursive: true, force: true });
}

/** The public certificates that Debian's package ships. */
function shippedFiles(): string[] {
  if (!existsSync(SHIPPED)) return [];
  return readdirSync(SHIPPED, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), 'latin1')] : [],
  );
}

function pemOf(certificates: readonly X509Certificate[]): string {
  return certificates.map((one) => one.toString()).join('');
}

/** The modes are set whatever the umask is: the workspace's owner reads these. */
function writeAll(dir: string, files: ReadonlyMap<string, string | Buffer>): void {
  const draft = join(dirname(dir), `draft-${randomBytes(4).toString('hex')}`);
  mkdirSync(draft);
  chmodSync(draft, 0o755);
  for (const [name, content] of files) {
    writeFileSync(join(draft, name), content);
    chmodSync(join(draft, name), 0o644);
  }
  try {
    renameSync(draft, dir);
  } catch (cause) {
    rmSync(draft, { recursive: true, force: true });
    if (!isErrno(cause, 'ENOTEMPTY', 'EEXIST')) throw cause;
  }
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (cause) {
    if (isErrno(cause)) return null;
    throw cause;
  }
}
