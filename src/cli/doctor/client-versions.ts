import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';
import { versionOf } from './program-version.ts';

/**
 * The oldest version of each client with which the rules and hooks of `ctxd init` were tried: docs/clients.md. An older one
 * may read a rule as allowing more than is written, as Claude Code 2.1.100 did.
 */
export const OLDEST_CLIENTS = [
  { client: 'Claude Code', program: 'claude', oldest: '2.1.197', update: 'claude update' },
  { client: 'OpenCode', program: 'opencode', oldest: '1.18.33', update: 'opencode upgrade' },
  { client: 'Codex', program: 'codex', oldest: '0.171.0', update: 'codex update' },
] as const;

/** The clients on PATH. One that does not say its version is not reported. */
export async function checkClientVersions(context: CliContext): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { client, program, oldest, update } of OLDEST_CLIENTS) {
    const version = /\d+\.\d+\.\d+/.exec((await versionOf(context, program)) ?? '')?.[0];
    if (version === undefined) continue;
    const detail = `${client} ${version}`;
    if (isOlder(version, oldest))
      checks.push(
        warn('client version', `${detail} is older than ${oldest}, the oldest that was tried`, `Run \`${update}\`.`),
      );
    else checks.push(ok('client version', detail));
  }
  return checks;
}

function isOlder(version: string, oldest: string): boolean {
  const [left, right] = [version, oldest].map((text) => text.split('.').map(Number));
  const at = (left ?? []).findIndex((part, index) => part !== right?.[index]);
  return at !== -1 && (left?.[at] ?? 0) < (right?.[at] ?? 0);
}
