import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { certificatesIn, isBuiltIn } from '../../core/certificates.ts';
import { CA_VARIABLES } from '../../core/variable-names.ts';
import { filesIn, type Surroundings, variableOf } from './surroundings.ts';

/** A certificate that the person's programs trust and that neither the system nor everybody trusts. */
export interface ExtraCertificate {
  readonly pem: string;
  readonly subject: string;
  /** Where it was found first. */
  readonly from: string;
}

export interface FoundCertificates {
  readonly certificates: readonly ExtraCertificate[];
  /** The variables that the person has set, or whose place a file of settings takes. */
  readonly variables: readonly string[];
  readonly notes: readonly string[];
}

export interface CaFile {
  readonly variable: string;
  readonly path: string;
}

const SYSTEM_BUNDLES = [
  'etc/ssl/certs/ca-certificates.crt',
  'etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  'etc/pki/tls/certs/ca-bundle.crt',
  'etc/ssl/cert.pem',
];
/** The system's own directories, which every sandbox has. */
const SYSTEM_DIRECTORIES = ['/etc/ssl/certs', '/etc/pki/tls/certs', '/etc/ssl'];
/** In a directory of certificates. */
const FILES_MAX = 1_000;

/**
 * What the person's variables and settings lead to. Only certificates are taken, and none from a file that also holds a
 * private key.
 */
export function findCertificates(at: Surroundings, named: readonly CaFile[], nowMs: number): FoundCertificates {
  const variables = CA_VARIABLES.flatMap((variable) => {
    const path = variableOf(at, variable);
    return path === undefined ? [] : [{ variable, path }];
  });
  const files = [...variables, ...named, ...gitFile(at)];
  const bundles = new Set(SYSTEM_BUNDLES.map((path) => join(at.root, path)));
  let system: ReadonlySet<string> | undefined;
  // Most people name no other file, and reading the system's takes a tenth of a second.
  const isKnown = (fingerprint: string): boolean => {
    system ??= new Set([...bundles].flatMap((path) => certificatesAt(at, path).map((one) => one.fingerprint256)));
    return system.has(fingerprint);
  };
  const found = new Map<string, ExtraCertificate>();
  const notes: string[] = [];
  const directories = (at.variables.SSL_CERT_DIR ?? '')
    .split(':')
    .filter((path) => isForeign(path) && !at.isInProject(path));
  const inDirectories = directories.flatMap((path) => filesIn(path).slice(0, FILES_MAX));
  for (const path of new Set([...files.map((one) => one.path), ...inDirectories])) {
    if (bundles.has(path)) continue;
    if (at.readText(path)?.includes('PRIVATE KEY-----') === true)
      notes.push(`${path}: holds a private key and is left out.`);
    else
      for (const certificate of certificatesAt(at, path)) {
        const { fingerprint256: print, subject, validTo } = certificate;
        if (isKnown(print) || isBuiltIn(certificate) || Date.parse(validTo) < nowMs || found.has(print)) continue;
        found.set(print, { pem: certificate.toString(), subject: subject.replaceAll('\n', ', '), from: path });
      }
  }
  const names = files.filter(({ path }) => at.readText(path) !== null).map(({ variable }) => variable);
  return { certificates: [...found.values()], variables: [...new Set(names)].sort(), notes };
}

function isForeign(directory: string): boolean {
  return directory.startsWith('/') && !SYSTEM_DIRECTORIES.includes(resolve(directory));
}

function certificatesAt(at: Surroundings, path: string): ReturnType<typeof certificatesIn> {
  return certificatesIn(at.readText(path) ?? '');
}

/** git's settings may include others, so git is asked. It runs outside the project, whose settings do not count. */
function gitFile({ root, home }: Surroundings): CaFile[] {
  if (root !== '/') return [];
  try {
    const args = ['config', '--type=path', '--get', 'http.sslCAInfo'];
    const env = { HOME: home, PATH: '/usr/bin:/bin' };
    const path = execFileSync('git', args, { cwd: '/', env, stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
    return path === '' ? [] : [{ variable: 'GIT_SSL_CAINFO', path }];
  } catch {
    return [];
  }
}
