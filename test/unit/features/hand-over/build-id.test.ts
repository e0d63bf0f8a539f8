import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildId } from '#src/features/hand-over/build-id.js';

it('NFR-2.3: the id of a build changes when an update replaces the program', () => {
  const dir = mkdtempSync(join(tmpdir(), 'build-id-'));
  const program = join(dir, 'program.js');
  writeFileSync(program, 'one');
  const before = buildId(program);
  expect(buildId(program)).toBe(before);
  utimesSync(program, 1, 1);
  expect(buildId(program)).not.toBe(before);
  rmSync(dir, { recursive: true });
});
