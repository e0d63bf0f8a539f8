import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { createScrubber } from '#src/scrub/session-scrubber.js';
import { dependencyFiles, MODULES } from '../../../helpers/dependency-files.ts';
import { propertyRuns } from '../../../helpers/property-runs.ts';
import { sessionNamed } from '../../../helpers/sessions.ts';
import { engine, scanner } from '../../../helpers/test-rules.ts';

const TOKEN = `ghp_${'aB3dE5fG7hJ9'.repeat(3)}`;

/** There are about 3,000. */
const FILES = Math.min(propertyRuns(), 2_000);

it('SEC-1.4 files of dependencies are what they were after their tokens are opened, all in one session', async () => {
  let last = 0;
  const numbers = { next: () => ++last, last: () => last };
  const scrubber = createScrubber({ scanner, engine, logger: silentLogger, clock: systemClock, numbers });
  const session = sessionNamed('s');
  const names = dependencyFiles(FILES);
  expect(names).toHaveLength(FILES);
  const changed: string[] = [];
  for (const [at, name] of names.entries()) {
    const file = readFileSync(join(MODULES, name), 'utf8');
    // Few of the files hold what is masked, so a third of them get a token.
    const original = at % 3 === 0 ? `${file}\n${TOKEN}\n` : file;
    const { value } = await scrubber.scrub(session, original);
    if (scrubber.openSecrets(session, value) !== original) changed.push(name);
  }
  expect(changed).toEqual([]);
  expect(last).toBeGreaterThan(0);
});
