import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import { createScrubber } from '#src/scrub/scrubber.js';
import { sessionNamed } from '../../helpers/sessions.ts';

const FILES = 200;
const MAX_BYTES = 8000;
const MODULES = join(import.meta.dirname, '../../../node_modules');
const TEXT_FILE = /\.(?:[cm]?[jt]s|json|md|ya?ml|css)$/;

const { pack, official } = readRuleSources();
const scanner = createScanner({
  config: { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 },
  logger: silentLogger,
  readRules: async () => ({ pack, official }),
});
beforeAll(() => scanner.start());
afterAll(() => scanner.stop());

/** Text files of the dependencies, evenly chosen. */
function chooseFiles(): string[] {
  const names = readdirSync(MODULES, { recursive: true, encoding: 'utf8' })
    .filter((name) => TEXT_FILE.test(name))
    .filter((name) => {
      const stat = statSync(join(MODULES, name), { throwIfNoEntry: false });
      return stat?.isFile() === true && stat.size > 20 && stat.size <= MAX_BYTES;
    })
    .sort();
  return names.filter((_, at) => at % Math.max(1, Math.floor(names.length / FILES)) === 0).slice(0, FILES);
}

describe('SEC-1.4 files of dependencies', () => {
  it('are as they were after their tokens were opened again, and few of them have any', {
    timeout: 120_000,
  }, async () => {
    let last = 0;
    const scrubber = createScrubber({
      scanner,
      engine: createEngine(pack, { official, compile: 'when used' }),
      numbers: { next: (_session: SessionRef) => ++last, last: () => last },
      logger: silentLogger,
      clock: systemClock,
    });
    const names = chooseFiles();
    expect(names).toHaveLength(FILES);
    const masked: string[] = [];
    for (const name of names) {
      const text = readFileSync(join(MODULES, name), 'utf8');
      const { value, secrets } = await scrubber.scrub(sessionNamed('s'), text);
      if (secrets.length > 0) masked.push(name);
      expect(scrubber.openSecrets(sessionNamed('s'), value), name).toBe(text);
    }
    expect(masked.length, masked.join('\n')).toBeLessThanOrEqual(4);
  });
});
