import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COOKIE_KEY, COOKIE_VALUE } from '#src/protocol/plugin/environment.js';
import { buildGoPrograms, GO } from '../helpers/build-go-programs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'sdk', 'go');
const programs = buildGoPrograms('go-plugin');
programs.remove();
/** Milliseconds for Go to build its packages once. */
const BUILD_MS = 300_000;
const whenBuilt = it.skipIf(programs.missing !== null);

function go(cwd: string, ...args: string[]): string {
  return execFileSync('go', args, { cwd, env: { ...process.env, ...GO }, encoding: 'utf8' });
}

describe('the SDK for Go', () => {
  whenBuilt(
    'FR-1.4 has the messages of proto/contextd/v1',
    () => {
      const fresh = mkdtempSync(join(tmpdir(), 'ctxd-go-messages-'));
      try {
        go(join(ROOT, 'scripts', 'generate-go'), 'run', '.', fresh);
        const committed = join(SDK, 'contextdv1');
        expect(readdirSync(committed).sort()).toEqual(readdirSync(fresh).sort());
        for (const file of readdirSync(fresh))
          expect(readFileSync(join(committed, file), 'utf8') === readFileSync(join(fresh, file), 'utf8')).toBe(true);
      } finally {
        rmSync(fresh, { recursive: true, force: true });
      }
    },
    BUILD_MS,
  );

  whenBuilt(
    'FR-1.4 passes its own tests',
    () => {
      expect(go(SDK, 'test', './...')).toContain('ok  \tgithub.com/contextd/contextd/sdk/go');
      expect(go(SDK, 'vet', './...')).toBe('');
    },
    BUILD_MS,
  );

  it('FR-1.4 has the cookie of the handshake', () => {
    const source = readFileSync(join(SDK, 'serve.go'), 'utf8');
    expect([...source.matchAll(/MagicCookie(?:Key|Value): +"(.*)"/g)].map(([, text]) => text)).toEqual([
      COOKIE_KEY,
      COOKIE_VALUE,
    ]);
  });
});
