import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../helpers/installation.ts';

it('the picture in the README shows what a first session prints today', () => {
  const { stderr, status } = spawnSync(
    process.execPath,
    [join(ROOT, 'dist/scripts/draw-first-session.js'), '--check'],
    {
      encoding: 'utf8',
    },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
});
