import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { isErrno } from '../../core/errors.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { findBinary, type GitleaksBinary, type GitleaksPlaces } from './binary.ts';
import { cutConfig } from './embedded-config.ts';
import { CONFIG_SHA256, GO_MODULE, PINNED_VERSION } from './pinned.ts';

/** gitleaks' default configuration, and where it was found. */
export interface OfficialConfig {
  file: RuleFile;
  /** Path of the file, or of the program that carries it. */
  source: string;
  /** The version whose configuration this is, by its hash; null when the hash is not a known one. */
  version: string | null;
}

/** Its name in our own folder, and how messages call it. */
export const CONFIG_NAME = 'gitleaks.toml';

/**
 * The configuration that belongs to the pinned version, from our own folder, from Go's module cache, or cut out of
 * the program itself; else that of whatever gitleaks there is; null when there is none.
 */
export async function findOfficialConfig(places: GitleaksPlaces): Promise<OfficialConfig | null> {
  const binary = await findBinary(places);
  let other: OfficialConfig | null = null;
  for (const look of [
    () => readConfigFile(join(places.gitleaksDir, CONFIG_NAME)),
    ...moduleFiles(places, binary).map((file) => () => readConfigFile(file)),
    () => (binary === null ? null : readFromProgram(binary.path)),
  ]) {
    const found = await look();
    if (found?.version === PINNED_VERSION) return found;
    other ??= found;
  }
  return other;
}

/** A file that holds a gitleaks configuration; null when it does not. */
export async function readConfigFile(file: string): Promise<OfficialConfig | null> {
  try {
    const text = await readFile(file, 'utf8');
    return isConfig(text) ? describe(text, file) : null;
  } catch (error) {
    if (isErrno(error)) return null;
    throw error;
  }
}

/** The configuration a program carries; null when there is none in it. */
export async function readFromProgram(program: string): Promise<OfficialConfig | null> {
  const text = cutConfig(await readFile(program), isConfig);
  return text === null ? null : describe(text, program);
}

function describe(text: string, source: string): OfficialConfig {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const version = Object.keys(CONFIG_SHA256).find((known) => CONFIG_SHA256[known] === sha256) ?? null;
  return { file: { name: CONFIG_NAME, text }, source, version };
}

/** Where `go install` leaves the sources: below the GOPATH whose bin the program lies in, or the usual one. */
function moduleFiles({ home }: GitleaksPlaces, binary: GitleaksBinary | null): string[] {
  const goPaths = new Set([...(binary === null ? [] : [dirname(dirname(binary.path))]), join(home, 'go')]);
  const inModule = join(`${GO_MODULE}@v${PINNED_VERSION}`, 'config', CONFIG_NAME);
  return [...goPaths].map((goPath) => join(goPath, 'pkg', 'mod', inModule));
}

/** TOML with rules in it. What they say is judged where they are loaded. */
function isConfig(text: string): boolean {
  try {
    const { rules } = parse(text);
    return Array.isArray(rules) && rules.length > 0;
  } catch {
    return false;
  }
}
