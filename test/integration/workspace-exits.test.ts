import {
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { propertyRuns } from '../helpers/property-runs.ts';
import { type Bench, type LocalGuard, letTimePass, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let guard: LocalGuard;
/** A directory that a sandbox writes: HOME of a session. */
let home = '';
/** A directory of the person beside the project. */
let outside = '';
beforeEach(async () => {
  bench = openBench();
  home = join(bench.own, 'storage/p/sessions/s/home');
  outside = join(bench.base, 'person');
  for (const dir of [join(home, 'repo'), join(outside, 'docs')]) mkdirSync(dir, { recursive: true });
  writeFileSync(join(outside, '.bashrc'), '');
  bench.sh('mkdir -p sub/deep && echo 1 >file && ln -s ../person persons-own');
  guard = bench.guard();
  await guard.protection();
  letTimePass();
});
afterEach(() => bench.close());

interface Verdicts {
  readonly setAside: readonly string[];
  readonly reported: readonly string[];
}

/** What `work` made as a run, and what became of it. */
async function run(work: () => void): Promise<Verdicts> {
  const watch = guard.begin(await guard.protection());
  work();
  const { quarantined } = await guard.finish(watch);
  const paths = (stays: boolean) => quarantined.filter((one) => (one.stays === true) === stays).map(({ path }) => path);
  return { setAside: paths(false), reported: paths(true) };
}

const link = (text: string, path = 'link') => run(() => symlinkSync(text, join(bench.workspace, path)));

describe('a link that a run makes', () => {
  test.each([
    ['a directory that commands write', () => join(home, 'repo')],
    ['a file in one', () => join(home, '.bashrc')],
    ['one that does not exist yet', () => join(bench.own, 'storage/q/sessions/t/home/repo')],
    ['all of what contextd keeps', () => bench.own],
    ['the same place by a relative path', () => relative(bench.workspace, join(home, 'repo'))],
    ['the same place through a link of the person', () => `persons-own/../own/data/storage`],
    ['the same place through a system directory', () => `/usr/share/../../${home}/repo`],
    ['the file system of a process', () => '/proc/self/root/tmp'],
    ['an open directory of a process', () => '/dev/fd/3'],
    ['the directory of a process', () => '/proc/1'],
  ])('SEC-2.3 is set aside if it leads to %s', async (_, target) => {
    expect(await link(target())).toEqual({ setAside: ['link'], reported: [] });
  });

  test.each([
    ['a directory above those of contextd', () => dirname(bench.own)],
    ['the root of the file system', () => '/'],
    ['the directory of the project', () => '..'],
    ['the start-up file of a shell', () => join(outside, '.bashrc')],
    ['a directory of the person', () => outside],
    ['a name that does not exist', () => join(outside, 'missing')],
    ['settings of the system', () => '/etc/hosts'],
    ['a file of the kernel', () => '/proc/mounts'],
    ['shared memory', () => '/dev/shm/x'],
    ['a place outside through a link of the person', () => 'persons-own/docs'],
  ])('SEC-2.3 stays and is reported once if it leads to %s', async (_, target) => {
    expect(await link(target())).toEqual({ setAside: [], reported: ['link'] });
    expect(await run(() => {})).toEqual({ setAside: [], reported: [] });
  });

  test.each([
    ['a program of the system', () => '/usr/bin/python3'],
    ['a library', () => '/lib/x'],
    ['a file of the project', () => 'file'],
    ['the project by its absolute path', () => join(bench.workspace, 'sub')],
    ['a name of the project that does not exist', () => 'sub/missing'],
    ['itself', () => 'link'],
    ['/dev/null', () => '/dev/null'],
    ['the standard output of the program that opens it', () => '/dev/stdout'],
  ])('SEC-2.3 stays if it leads to %s', async (_, target) => {
    expect(await link(target())).toEqual({ setAside: [], reported: [] });
  });

  test('SEC-2.3 stays if it leads to a toolchain that a person listed, and is reported if it is listed no more', async () => {
    guard.allowLinksTo([outside]);
    expect(await link(join(outside, 'docs'))).toEqual({ setAside: [], reported: [] });
    guard.allowLinksTo([]);
    expect(await run(() => {})).toEqual({ setAside: [], reported: ['link'] });
  });

  test('SEC-2.3 stays if it leads to another tree that the same commands write', async () => {
    guard.accompany([outside]);
    expect(await link(join(outside, 'docs'))).toEqual({ setAside: [], reported: [] });
  });

  test('SEC-2.3 is judged again in a directory that a later run moves', async () => {
    const text = '../../own/data/storage';
    expect(await link(text, 'sub/deep/link')).toEqual({ setAside: [], reported: [] });
    const moved = await run(() => renameSync(join(bench.workspace, 'sub/deep'), join(bench.workspace, 'moved')));
    expect(moved).toEqual({ setAside: ['moved/link'], reported: [] });
  });

  test('SEC-2.3 is set aside if a later run turns a directory on its way into a harmless link', async () => {
    const way = join(bench.workspace, 'sub/way');
    expect(await run(() => mkdirSync(way))).toEqual({ setAside: [], reported: [] });
    expect(await link('sub/way/../../own/data/storage')).toEqual({ setAside: [], reported: [] });
    letTimePass();
    const turned = await run(() => {
      rmSync(way, { recursive: true });
      symlinkSync('../sub', way);
    });
    expect(turned).toEqual({ setAside: ['link'], reported: [] });
  });

  test('SEC-2.3 is set aside if a later run turns a directory on its way into a link to a directory above', async () => {
    const way = join(bench.workspace, 'way');
    expect(await run(() => mkdirSync(join(way, 'own/data/storage'), { recursive: true }))).toMatchObject({
      reported: [],
    });
    expect(await link('way/own/data/storage')).toEqual({ setAside: [], reported: [] });
    letTimePass();
    const turned = await run(() => {
      rmSync(way, { recursive: true });
      symlinkSync('..', way);
    });
    expect(turned).toEqual({ setAside: ['link'], reported: ['way'] });
  });

  test('SEC-2.3 that a person made or put back stays', async () => {
    expect((await link(home)).setAside).toEqual(['link']);
    const { items } = await guard.quarantine({ kind: 'list', which: null });
    await guard.quarantine({ kind: 'restore', which: items[0]?.id ?? '' });
    expect(await run(() => {})).toEqual({ setAside: [], reported: [] });
    bench.sh(`ln -s ${home} own-link`);
    letTimePass();
    expect(await run(() => writeFileSync(join(bench.workspace, 'new'), ''))).toEqual({ setAside: [], reported: [] });
  });
});

/** One step of a command. Names are of few directories, so that steps meet. */
type Step =
  | { readonly do: 'link'; readonly at: string; readonly text: string }
  | { readonly do: 'mkdir'; readonly at: string }
  | { readonly do: 'remove'; readonly at: string }
  | { readonly do: 'move'; readonly at: string; readonly to: string };

const name = fc.constantFrom('a', 'b', 'c', 'own', 'data');
const place = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const ups = fc.integer({ min: 1, max: 3 }).map((count) => '../'.repeat(count));
const end = fc.oneof(place, fc.constantFrom('own/data', 'own/data/storage', 'data', ''));
const text = fc.oneof(
  place,
  fc.tuple(place, ups, end).map(([start, up, rest]) => `${start}/${up}${rest}`),
  fc.tuple(ups, end).map(([up, rest]) => `${up}${rest}`),
  fc.constantFrom('@own@', '@home@', '@base@', '@base@/person', '/usr/share', '@base@/person/../own'),
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('link' as const), at: place, text }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('mkdir' as const), at: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove' as const), at: place }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('move' as const), at: place, to: place }) },
);

/** Carries a step out as far as the file system lets it; never outside of the workspace. */
function carryOut(todo: Step): void {
  const at = join(bench.workspace, todo.at);
  try {
    if (!realpathSync(dirname(at)).startsWith(bench.workspace)) return;
    if (todo.do === 'mkdir') mkdirSync(at, { recursive: true });
    else if (todo.do === 'remove') rmSync(at, { recursive: true, force: true });
    else if (todo.do === 'move') {
      const to = join(bench.workspace, todo.to);
      if (realpathSync(dirname(to)).startsWith(bench.workspace)) renameSync(at, to);
    } else {
      const full = todo.text.replace('@own@', bench.own).replace('@home@', home).replace('@base@', bench.base);
      symlinkSync(full, at);
    }
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause)) throw cause;
  }
}

/** Links below the workspace that lead into contextd's directories. */
function waysOut(dir = bench.workspace): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.name === 'persons-own') return [];
    if (entry.isDirectory()) return waysOut(path);
    if (!lstatSync(path).isSymbolicLink()) return [];
    try {
      return `${realpathSync(path)}/`.startsWith(`${bench.own}/`) ? [path] : [];
    } catch {
      return [];
    }
  });
}

test('SEC-2.3: whatever links several runs make, move and turn, none leads to what commands write', async () => {
  const runs = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(runs, async (plan) => {
      for (const steps of plan) {
        await run(() => steps.forEach(carryOut));
        await guard.settled();
        // Otherwise the next run may have made them too, and they are judged again.
        letTimePass();
        expect(waysOut()).toEqual([]);
      }
      for (const entry of readdirSync(bench.workspace)) rmSync(join(bench.workspace, entry), { recursive: true });
      await run(() => {});
    }),
    { numRuns: Math.ceil(propertyRuns('slow') / 2) },
  );
});
