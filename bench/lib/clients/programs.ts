import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isWritable } from '../../../src/cli/doctor/clients/run-client.ts';

/** The versions that docs/clients.md reports on. */
const CLAUDE_CODE = { name: `@anthropic-ai/claude-code-linux-${process.arch}`, version: '2.1.329', file: 'claude' };
/** The oldest one that docs/clients.md reports on. Of OpenCode it is the same version. */
const OLD_CLAUDE_CODE = { ...CLAUDE_CODE, version: '2.1.197' };
const CODEX = {
  name: '@openai/codex',
  version: `0.171.0-linux-${process.arch}`,
  file: `vendor/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl/bin/codex`,
};
const GEMINI = { name: '@google/gemini-cli', version: '0.61.0', file: 'bundle/gemini.js' };
const OPENCODE = { name: `opencode-linux-${process.arch}`, version: '1.18.33', file: 'bin/opencode' };

/** About 540 MB. A cold registry may be slow; the tests of one run wait for it once. */
const INSTALL_LIMIT_MS = 300_000;

export interface Clients {
  claude: string;
  opencode: string;
}

/**
 * The real Claude Code and OpenCode, from a cache directory outside the repository. They are installed there first if
 * they are missing: only the programs of this machine, from the package registry, without install scripts. Returns
 * undefined, and says why, if they cannot be had.
 */
export function findClients(): Clients | undefined {
  try {
    return { claude: install(CLAUDE_CODE), opencode: install(OPENCODE) };
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    console.warn(`SKIPPED: the tests with the real Claude Code and OpenCode (${reason})`);
    return undefined;
  }
}

/** The oldest Claude Code that is supported, in the same way. */
export function findOldClaude(): string | undefined {
  return find(`Claude Code ${OLD_CLAUDE_CODE.version}`, OLD_CLAUDE_CODE);
}

/** The real Codex, in the same way: 370 MB. */
export function findCodex(): string | undefined {
  return find('Codex', CODEX);
}

/** The real Gemini CLI, in the same way: a script of Node, 150 MB. */
export function findGemini(): string | undefined {
  return find('Gemini CLI', GEMINI);
}

function find(title: string, program: Package): string | undefined {
  try {
    return install(program);
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    console.warn(`SKIPPED: the tests with the real ${title} (${reason})`);
    return undefined;
  }
}

interface Package {
  name: string;
  version: string;
  file: string;
}

function install({ name, version, file }: Package): string {
  if (process.platform !== 'linux') throw new Error(`they run on Linux, and this is ${process.platform}`);
  const places = CACHES.map((cache) => join(cache, 'contextd-test-clients', `${name.replaceAll('/', '-')}-${version}`));
  const programIn = (place: string) => join(place, 'node_modules', name, file);
  const found = places.find((place) => existsSync(programIn(place)));
  if (found !== undefined) return programIn(found);
  const place = places.find((_, index) => isWritable(CACHES[index] ?? ''));
  if (place === undefined) throw new Error(`none of ${CACHES.join(', ')} can be written`);
  const unfinished = `${place}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    writeFileSync(join(unfinished, 'package.json'), '{"private":true}');
    execFileSync(
      'npm',
      [
        ...['install', '--no-audit', '--no-fund', '--ignore-scripts', '--omit=optional', '--fetch-retries=1'],
        `${name}@${version}`,
      ],
      {
        cwd: unfinished,
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: INSTALL_LIMIT_MS,
      },
    );
    // Two test files may install at the same time: the first one wins.
    if (!existsSync(programIn(place))) renameSync(unfinished, place);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return programIn(place);
}

/** Root's cache does not depend on HOME, which is new in every run of continuous integration. */
const CACHES = ['/var/cache', join(homedir(), '.cache')];
