import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COOKIE_KEY, COOKIE_VALUE } from '#src/protocol/plugin/environment.js';
import { findMissing, GO } from '../helpers/build-go-programs.ts';
import { goDefinitions, protoDefinitions } from '../helpers/go-messages.ts';
import { AT_NIGHT } from '../helpers/property-runs.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const SDK = join(ROOT, 'sdk', 'go');
const missing = findMissing('go-plugin');
/** Milliseconds for Go to build its packages once. */
const BUILD_MS = 300_000;
const whenBuilt = it.skipIf(missing !== null);

function go(cwd: string, ...args: string[]): string {
  return execFileSync('go', args, { cwd, env: { ...process.env, ...GO }, encoding: 'utf8' });
}

describe('the SDK for Go', () => {
  it('FR-1.4 has the messages and services of proto/contextd/v1, field by field', () => {
    expect(protoDefinitions().length).toBeGreaterThan(50);
    expect(goDefinitions()).toEqual(protoDefinitions());
  });

  // The compiler of the protocol is half a minute of Go, for nothing but comments and order.
  if (AT_NIGHT)
    whenBuilt(
      'FR-1.4 is, to the byte, what is generated from proto/contextd/v1',
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
