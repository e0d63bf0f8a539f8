import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, type LocalGuard, letTimePass, openBench } from '../helpers/workspace-bench.ts';

let bench: Bench;
let guard: LocalGuard;
beforeEach(async () => {
  bench = openBench();
  bench.sh('git init -q . && mkdir sub && echo 1 >CLAUDE.md && echo 1 >sub/.strangerc');
  guard = bench.guard();
  await guard.protection();
  letTimePass();
});
afterEach(() => bench.close());

/** What a script did as a run, `path: reason` for each path that was reported. */
async function reported(script: string): Promise<string[]> {
  const watch = guard.begin(await guard.protection());
  bench.sh(script);
  const { quarantined } = await guard.finish(watch);
  expect(quarantined.filter(({ stays }) => stays !== true)).toEqual([]);
  return quarantined.map(({ path, reason }) => `${path}: ${reason}`);
}

const SETTINGS = 'programs may take settings from it';

describe('settings that no table knows', () => {
  test.each([
    ['echo 1 >.newrc', ['.newrc']],
    ['mkdir -p a/.newtool && echo 1 >a/.newtool/settings.json', ['a/.newtool']],
    ['echo 1 >a.tmp && mv a.tmp .NewRC', ['.NewRC']],
    ['ln -s sub .newrc', ['.newrc']],
    ['mkdir new && echo 1 >new/.newrc && mv new moved', ['moved/.newrc']],
    ['echo 1 >new.conf', ['new.conf']],
  ])('SEC-2.3 are reported once if a run creates them: %s', async (script, paths) => {
    expect(await reported(script)).toEqual(paths.map((path) => `${path}: ${SETTINGS}`));
    expect(await reported('echo 2 >other')).toEqual([]);
  });

  test.each([
    'echo 2 >sub/.strangerc',
    'echo 2 >sub/t && mv sub/t sub/.strangerc',
    'echo 2 >sub/other',
    'git add sub && git -c user.name=a -c user.email=a@example.com commit -qm one',
    'mkdir -p node_modules/a && echo 1 >node_modules/a/.newrc',
  ])('SEC-2.3 are not reported if they were there, or if it is not a name of settings: %s', async (script) => {
    expect(await reported(script)).toEqual([]);
  });

  test('SEC-2.3 are not reported again once a person accepted their content', async () => {
    await reported('echo 1 >.newrc');
    const [item] = (await guard.quarantine({ kind: 'list', which: null })).items;
    if (item?.sha256 == null) throw new Error('nothing is listed');
    await guard.quarantine({ kind: 'accept', which: item.id, sha256: item.sha256 });
    expect((await guard.quarantine({ kind: 'list', which: null })).items).toEqual([]);
    bench.sh('rm .newrc');
    letTimePass();
    expect(await reported('echo 1 >.newrc')).toEqual([]);
    expect(await reported('rm .newrc')).toEqual([]);
    expect(await reported('echo 2 >.newrc')).toEqual([`.newrc: ${SETTINGS}`]);
  });
});

describe('instructions for agents', () => {
  test.each([
    ['echo 2 >>CLAUDE.md', 'CLAUDE.md'],
    ['echo 2 >t && mv t CLAUDE.md', 'CLAUDE.md'],
    ['echo 1 >sub/AGENTS.md', 'sub/AGENTS.md'],
    ['ln -s ../CLAUDE.md sub/GEMINI.md', 'sub/GEMINI.md'],
    ['mkdir -p .github && echo 1 >.github/copilot-instructions.md', '.github/copilot-instructions.md'],
  ])('SEC-2.3 are reported each time a run creates or changes them: %s', async (script, path) => {
    expect(await reported(script)).toContain(`${path}: agents obey it`);
    expect(await reported('echo 2 >other')).toEqual([]);
    letTimePass();
    expect(await reported(`echo 3 >>${path}`)).toContain(`${path.replace('sub/GEMINI', 'CLAUDE')}: agents obey it`);
  });

  test('SEC-2.3 are not reported if a person changed them', async () => {
    bench.sh('echo 2 >>CLAUDE.md');
    letTimePass();
    expect(await reported('echo 2 >other')).toEqual([]);
  });
});
