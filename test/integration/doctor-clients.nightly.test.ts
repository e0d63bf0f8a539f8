import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

/** A client that leaves a process in a session of its own, says who both are, and goes on until it is killed. */
const CLIENT = `#!/bin/sh
[ "$1" = --version ] && { echo '2.1.329 (Claude Code)'; exit 0; }
trap '' HUP INT TERM
setsid sh -c 'trap "" HUP INT TERM; echo $$ > "$0/left"; while :; do sleep 1; done' "$PLACE" > /dev/null 2>&1 &
until [ -s "$PLACE/left" ]; do sleep 0.05; done
.claude/bin/safe_bash 'echo a call of the client' > "$PLACE/called" 2>&1
touch "$TMPDIR/output"
echo $$ > "$PLACE/client"
while :; do sleep 1; done
`;

let one: Installation;
let place: string;
beforeAll(async () => {
  one = await install({ warm: true });
  place = mkdtempSync(join(tmpdir(), 'client-of-doctor-'));
  mkdirSync(join(place, 'bin'));
  writeFileSync(join(place, 'bin/claude'), CLIENT.replaceAll('$PLACE', place), { mode: 0o755 });
});
afterAll(async () => {
  rmSync(place, { recursive: true, force: true });
  await one?.remove();
});

const read = (name: string): string => {
  const path = join(place, name);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
};
/** False for a zombie too: in a container it may be collected late. */
const runs = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};
const json = async (...words: string[]): Promise<string> => (await one.run(CTXD, [...words, '--json'])).stdout;

describe('issue 35: ctxd doctor --clients', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leaves nothing if %s ends it',
    async (signal) => {
      for (const name of ['left', 'client', 'called']) rmSync(join(place, name), { force: true });
      const temporary = join(place, 'tmp');
      mkdirSync(temporary, { recursive: true });
      const before = [await json('session', 'list'), await json('undo', '--list')];
      const env = { ...one.environment, PATH: `${place}/bin:${one.environment.PATH}`, TMPDIR: temporary };
      const doctor = spawn(CTXD, ['doctor', '--clients', '--yes'], { cwd: one.project, env, stdio: 'ignore' });
      const { promise: ended, resolve } = Promise.withResolvers<number | null>();
      doctor.on('exit', resolve);
      await expect.poll(() => read('client'), { timeout: 120_000 }).not.toBe('');
      expect(read('called')).toContain('a call of the client');
      expect(readdirSync(temporary)).toHaveLength(1);
      expect(readdirSync(one.project).some((name) => name.startsWith('contextd-canary-'))).toBe(true);
      const pids = ['left', 'client'].map((name) => Number(read(name)));
      doctor.kill(signal);
      doctor.kill(signal);
      expect(await ended).toBe(130);
      expect(pids.filter(runs)).toEqual([]);
      expect(readdirSync(temporary)).toEqual([]);
      expect(readdirSync(one.project).filter((name) => name.startsWith('contextd-canary-'))).toEqual([]);
      expect([await json('session', 'list'), await json('undo', '--list')]).toEqual(before);
    },
    120_000,
  );
});
