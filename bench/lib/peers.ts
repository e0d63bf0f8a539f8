import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findInstallRoot } from '../../src/config/install-root.ts';
import { inheritedPath } from './machine.ts';
import { runProcess } from './measure.ts';

/** The sections that compare contextd with other programs. */
const COMPARING = ['sandbox', 'process', 'scrub', 'memories', 'gateway', 'warm'];
/** The programs that sandbox-runtime needs on Linux. */
const SRT_NEEDS = ['bwrap', 'socat', 'rg'];
/** The programs and libraries to compare with, by package. */
const PACKAGES = {
  srt: '@anthropic-ai/sandbox-runtime',
  mcporter: 'mcporter',
  secretlint: '@secretlint/core',
  secretlintRules: '@secretlint/secretlint-rule-preset-recommend',
  lancedb: '@lancedb/lancedb',
  serverMemory: '@modelcontextprotocol/server-memory',
} as const;

export type PeerName = keyof typeof PACKAGES;
const LIBRARIES: readonly PeerName[] = ['secretlint', 'secretlintRules', 'lancedb', 'serverMemory'];

/** A program to compare with, or the reason why it is missing. */
export type Peer = { path: string; missing: null } | { path: null; missing: string };

/**
 * Installs the packages of `bench/peers/package.json` without running install scripts. Returns lines that report the
 * result.
 */
export async function installPeers(sections: readonly string[]): Promise<string[]> {
  if (!sections.some((name) => COMPARING.includes(name))) return [];
  if (Object.values(PACKAGES).every((name) => existsSync(join(peersDir(), 'node_modules', name)))) return [];
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=0'];
  try {
    const env = Object.fromEntries(Object.entries(process.env).map(([key, value]) => [key, value ?? '']));
    await runProcess('npm', ['install', '--prefix', peersDir(), ...options], { env });
    return ['installed the peers into bench/peers'];
  } catch (cause) {
    return [`the peers could not be installed: ${String(cause).split('\n').at(0)}`];
  }
}

export function findPeer(name: PeerName): Peer {
  const path = LIBRARIES.includes(name) ? peerModule(name, '.') : join(peersDir(), 'node_modules', '.bin', name);
  if (!existsSync(path))
    return { path: null, missing: 'not installed: npm install --prefix bench/peers --ignore-scripts' };
  const absent = name === 'srt' ? SRT_NEEDS.filter((program) => !isOnPath(program)) : [];
  return absent.length === 0 ? { path, missing: null } : { path: null, missing: `needs ${absent.join(', ')}` };
}

/** The main file of a peer's package. */
export function peerModule(name: PeerName, file: string): string {
  return join(peersDir(), 'node_modules', PACKAGES[name], file);
}

function peersDir(): string {
  return join(findInstallRoot(), 'bench', 'peers');
}

function isOnPath(program: string): boolean {
  return inheritedPath()
    .split(delimiter)
    .some((dir) => {
      try {
        accessSync(join(dir, program), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
