import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isProtectedIn } from '#src/guard/table/protected-names.js';
import { propertyRuns } from '../helpers/property-runs.ts';
import { type Bench, letTimePass, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.close());

const DANGEROUS = ['.envrc', '.claude', '.mcp.json', '.vscode', '.zshrc', 'contextd.lock'];
const PLAIN = [
  "$'a\\nb'",
  "$'\\377'",
  "$'\\303\\251'",
  'a',
  'b',
  'c.pem',
  "'*'",
  "'-r'",
  'node_modules',
  '.git',
  'info',
  'HEAD',
  'objects',
];

const placeOf = (minLength: number) =>
  fc.array(fc.constantFrom(...PLAIN), { minLength, maxLength: 4 }).map((names) => ['.', ...names].join('/'));
const madeAt = (at: fc.Arbitrary<string>) =>
  fc.tuple(at, fc.constantFrom(...DANGEROUS), fc.constantFrom('file', 'dir', 'link')).map(([dir, name, kind]) => {
    const how = { file: 'touch', dir: 'mkdir', link: 'ln -s /' }[kind];
    return `mkdir -p ${dir} && ${how} ${dir}/${name}`;
  });
const place = placeOf(0);
const made = madeAt(place);
/** Not at the root: a copy of what the root had before is not dangerous. */
const madeBefore = madeAt(placeOf(1));
const moved = fc.tuple(place, place).map(([from, to]) => `[ ${from} = . ] || [ ${to} = . ] || mv -T -- ${from} ${to}`);
const closed = place.map((dir) => `[ ${dir} = . ] || chmod 000 ${dir}`);
const linked = fc.tuple(place, fc.constantFrom('/', '..', '../..', '.')).map(([at, to]) => `ln -s ${to} ${at}/link`);
const step = fc.oneof({ weight: 4, arbitrary: made }, moved, closed, linked);
const run = fc
  .array(step, { minLength: 1, maxLength: 6 })
  .map((steps) => steps.map((one) => `{ ${one}; } 2>/dev/null || true`).join('\n'));

test('SEC-2.3 whatever runs do, they leave nothing dangerous that was not there before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(madeBefore, { maxLength: 3 }),
      fc.array(run, { minLength: 1, maxLength: 3 }),
      async (before, runs) => {
        const own = openBench();
        try {
          for (const one of before) own.try(`${one} 2>/dev/null`);
          letTimePass();
          const guard = own.guard();
          for (const one of runs) {
            const watch = guard.begin(await guard.protection());
            const known = new Set(inodes(own));
            own.try(one);
            await guard.finish(watch);
            await guard.settled();
            own.try('chmod -R u+rwX .');
            expect(inodes(own).filter((inode) => !known.has(inode))).toEqual([]);
            letTimePass();
          }
        } finally {
          own.close();
        }
      },
    ),
    { numRuns: propertyRuns('door') },
  );
}, 120_000);

/** Of everything dangerous that can be reached, not what lies inside such a directory. */
function inodes(own: Bench): string[] {
  // Ordinary packages ship some of the names.
  const shipped = "! -path '*/node_modules/*'";
  const names = DANGEROUS.map((name) => `${isProtectedIn('node_modules/a', name) ? '' : shipped} -name ${name}`).join(
    ' -o ',
  );
  return own
    .try(`find . \\( ${names} \\) -printf '%i %p\\n' -prune`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ')[0] ?? '');
}

test('a mount point in the workspace is not crossed', () => {
  const script = `
    import { mkdirSync, writeFileSync, existsSync } from 'node:fs';
    const { GuardThread } = await import(${JSON.stringify(import.meta.resolve('#src/guard/client/guard-thread.js'))});
      const { WorkspaceGuard } = await import(${JSON.stringify(import.meta.resolve('#src/guard/client/workspace-guard.js'))});
    const { systemClock } = await import(${JSON.stringify(import.meta.resolve('#src/core/clock.js'))});
    const { silentLogger } = await import(${JSON.stringify(import.meta.resolve('#src/core/log.js'))});
    const workspace = process.cwd();
    const person = { home: '/nonexistent', gitConfigs: [] };
    const thread = new GuardThread(silentLogger, systemClock);
    const guard = new WorkspaceGuard(thread, { workspace, deny: ['*.pem'], person, ledgerFile: workspace + '/../ledger.json', ownDirectories: [] });
    writeFileSync('m/old.pem', '');
    const watch = guard.begin(await guard.protection());
    mkdirSync('m/.vscode'); writeFileSync('m/k.pem', ''); mkdirSync('n/.vscode');
    const quarantined = (await guard.finish(watch)).quarantined.map(({ path }) => path);
    console.log(JSON.stringify([quarantined, (await guard.protection()).hidden, existsSync('m/.vscode')]));
    await thread.stop();
  `;
  bench.sh('mkdir m n');
  const mounting = 'mount -t tmpfs none m && exec "$@"';
  const args = ['-Urm', 'sh', '-c', mounting, 'sh', process.execPath, '--input-type=module', '-e', script];
  const done = spawnSync('unshare', args, {
    cwd: bench.workspace,
    encoding: 'utf8',
    env: { PATH: '/usr/sbin:/usr/bin:/bin' },
  });
  if (done.status !== 0 && /unshare|mount:/.test(done.stderr)) {
    console.warn(`not run: a mount point in the workspace, for want of user namespaces: ${done.stderr}`);
    return;
  }
  expect(done.stderr).toBe('');
  expect(JSON.parse(done.stdout)).toEqual([['n/.vscode'], [], true]);
});
