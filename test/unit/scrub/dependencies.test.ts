import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SessionRef } from '#src/call/session.js';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { sessionNamed } from '../../helpers/sessions.ts';
import { engine, scanner } from '../../helpers/test-rules.ts';

const FILES = 200;
const MAX_BYTES = 8000;
const MODULES = join(import.meta.dirname, '../../../node_modules');
const TEXT_FILE = /\.(?:[cm]?[jt]s|json|md|ya?ml|css)$/;

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
      engine,
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
