import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse } from 'smol-toml';
import { isErrno } from '../../core/errors.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { findBinary, type GitleaksBinary, type GitleaksPlaces } from './binary.ts';
import { CONFIG_SHA256, GO_MODULE, PINNED_VERSION } from './pinned.ts';

/** gitleaks' default configuration, and where it was found. */
export interface OfficialConfig {
  file: RuleFile;
  /** Path of the file, or of the program that carries it. */
  source: string;
  /** The version whose configuration this is, by its hash; null if the hash is not a known one. */
  version: string | null;
}

/** Its name in our own folder, and how messages call it. */
export const CONFIG_NAME = 'gitleaks.toml';

/**
 * Returns the configuration of the pinned version: from our own folder, from Go's module cache, or from the program
 * itself; otherwise the configuration of any gitleaks found; null if there is no gitleaks.
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

/** A file that holds a gitleaks configuration; null if it does not. */
async function readConfigFile(file: string): Promise<OfficialConfig | null> {
  try {
    const text = await readFile(file, 'utf8');
    return isConfig(text) ? describe(text, file) : null;
  } catch (error) {
    if (isErrno(error)) return null;
    throw error;
  }
}

/** The configuration a program carries; null if it carries no configuration. */
export async function readFromProgram(program: string): Promise<OfficialConfig | null> {
  const text = cutConfig(await readFile(program), isConfig);
  return text === null ? null : describe(text, program);
}

function describe(text: string, source: string): OfficialConfig {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const version = Object.keys(CONFIG_SHA256).find((known) => CONFIG_SHA256[known] === sha256) ?? null;
  return { file: { name: CONFIG_NAME, text }, source, version };
}

/** Where `go install` puts the sources: below the GOPATH that contains the program, or the default one. */
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

/**
 * gitleaks carries its default configuration as plain text in the program. It begins with these words and must be cut
 * where text ends, because other data follows.
 */
const FIRST_WORDS = ['# This file has been auto-generated. Do not edit manually.', 'title = "gitleaks config"'];
/** Bytes looked at from there on; the configuration has about 100,000. */
const WINDOW_BYTES = 4 * 1024 * 1024;

/** The text of the configuration in a program's bytes; null if not found. `accept` judges a candidate. */
export function cutConfig(program: Buffer, accept: (text: string) => boolean): string | null {
  for (const words of FIRST_WORDS)
    for (let at = program.indexOf(words); at !== -1; at = program.indexOf(words, at + 1)) {
      const text = cutToml(textAt(program, at));
      if (text !== null && accept(text)) return text;
    }
  return null;
}

/** Up to the first byte that no text file holds. */
function textAt(program: Buffer, start: number): string {
  const window = program.subarray(start, start + WINDOW_BYTES);
  const end = window.findIndex((byte) => byte < 0x20 && byte !== 0x0a && byte !== 0x09 && byte !== 0x0d);
  return window.toString('utf8', 0, end === -1 ? window.length : end);
}

const TOP_LEVEL = /^\s*(?:#.*|\[{1,2}[\w.-]+\]{1,2}\s*(?:#.*)?|"?[\w.-]+"?\s*=.*)?$/;

/** The lines that can be TOML, up to the last such line. */
function cutToml(text: string): string | null {
  const lines = text.split('\n');
  const state = { quote: null as string | null, depth: 0 };
  let kept = 0;
  for (const [position, line] of lines.entries()) {
    if (state.quote === null && state.depth === 0 && !TOP_LEVEL.test(line)) break;
    if (position === lines.length - 1 && line !== '' && !text.endsWith('\n')) break;
    followLine(line, state);
    if (state.quote === null && state.depth <= 0) kept = position + 1;
  }
  if (kept === 0) return null;
  return kept === lines.length ? text : `${lines.slice(0, kept).join('\n')}\n`;
}

/** Keeps track of open strings over several lines and of open lists. */
function followLine(line: string, state: { quote: string | null; depth: number }): void {
  let rest = line;
  while (rest !== '') {
    if (state.quote !== null) {
      const end = rest.indexOf(state.quote);
      if (end === -1) {
        // A string of one line ends with it.
        if (state.quote.length === 1) state.quote = null;
        return;
      }
      rest = rest.slice(end + state.quote.length);
      state.quote = null;
      continue;
    }
    const next = /'''|"""|'|"(?:[^"\\]|\\.)*"|[[\]{}#]/.exec(rest);
    if (next === null) return;
    rest = rest.slice(next.index + next[0].length);
    if (next[0] === '#') return;
    if (next[0] === '[' || next[0] === '{') state.depth += 1;
    else if (next[0] === ']' || next[0] === '}') state.depth -= 1;
    else if (!next[0].startsWith('"') || next[0] === '"""') state.quote = next[0];
  }
}
