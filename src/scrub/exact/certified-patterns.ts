import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** How a pattern may run as a JavaScript regular expression: on all texts, on short ones, or not at all. */
export type Certificate = 'all' | 'short' | 'refused';

/** The patterns of one configuration, and what the attack search found: certificates by the sha256 of the pattern. */
export interface CertifiedConfiguration {
  /** sha256 of the official file; of our own rules, which are many files with comments, that of all their patterns. */
  readonly sha256: string;
  readonly patterns: ReadonlyMap<string, Certificate>;
}

export interface CertificateList {
  /** gitleaks' official configuration. */
  readonly official: CertifiedConfiguration;
  /** Our own rules. */
  readonly own: CertifiedConfiguration;
}

/** Beside this file, and beside the core bundle: the builds copy it. */
const LIST = new URL('./certified-patterns.txt', import.meta.url);

let known: ReadonlyMap<string, Certificate> | undefined;

/** The certificate of a pattern; undefined if it was never tried. Reads the list at the first call; its errors pass through. */
export function certificateOf(source: string): Certificate | undefined {
  if (known === undefined) {
    const { official, own } = parseCertificates(readFileSync(LIST, 'utf8'));
    known = new Map([...official.patterns, ...own.patterns]);
  }
  return known.get(hashOf(source));
}

export function hashOf(source: string): string {
  return createHash('sha256').update(source).digest('hex');
}

const LINE = /^(?:configuration (official|own)|(all|short|refused)) ([0-9a-f]{64})$/;

/** Reads the list as `scripts/certify-patterns.ts` writes it. Throws if a line is anything else. */
export function parseCertificates(text: string): CertificateList {
  const read = {
    official: { sha256: '', patterns: new Map<string, Certificate>() },
    own: { sha256: '', patterns: new Map<string, Certificate>() },
  };
  let current = read.official;
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, name, certificate, hash = ''] = LINE.exec(line) ?? [];
    if (name === 'official' || name === 'own') {
      current = read[name];
      current.sha256 = hash;
    } else if (certificate === 'all' || certificate === 'short' || certificate === 'refused')
      current.patterns.set(hash, certificate);
    else throw new SyntaxError(`certified-patterns.txt has an unknown line: ${line}`);
  }
  return read;
}

export function formatCertificates(list: CertificateList): string {
  const lines = ['# Written by scripts/certify-patterns.ts: sha256 of patterns, by the configuration they are from.'];
  for (const [name, { sha256, patterns }] of Object.entries(list)) {
    lines.push(`configuration ${name} ${sha256}`);
    const ofOne = [...patterns].map(([hash, certificate]) => `${certificate} ${hash}`);
    lines.push(...ofOne.sort());
  }
  return `${lines.join('\n')}\n`;
}
