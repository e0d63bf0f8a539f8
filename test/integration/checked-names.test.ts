import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Bench, type LocalGuard, letTimePass, openBench } from '../helpers/workspace-bench.ts';

const RUNNER = `[target.'cfg(all())']\nrunner = './evil'\n`;
const QUIET = '[term]\nquiet = true\n';

let bench: Bench;
let guard: LocalGuard;
beforeEach(() => {
  bench = openBench();
  bench.sh('git init -q -b main . && mkdir -p .cargo a/.cargo');
  guard = bench.guard();
});
afterEach(() => bench.close());

const write = (text: string, path: string) => `printf %s '${text.replaceAll("'", "'\\''")}' >${path}`;

/** What sandboxes that start now cannot write, of configurations of Cargo. */
async function mounted(): Promise<string[]> {
  const { mounts } = await guard.protection();
  const paths = mounts
    .filter(({ kind }) => kind === 'ro-bind')
    .map(({ dest }) => dest.slice(bench.workspace.length + 1));
  return paths.filter((path) => path.includes('.cargo'));
}

describe('a file whose content decides', () => {
  test('SEC-2.3: of the person is mounted read-only only if it is not harmless', async () => {
    bench.sh(`${write(RUNNER, '.cargo/config.toml')}; ${write(QUIET, 'a/.cargo/config.toml')}`);
    expect(await mounted()).toEqual(['.cargo/config.toml']);
    letTimePass();
    bench.sh(write(RUNNER, 'a/.cargo/config.toml'));
    letTimePass();
    await bench.run(guard, 'true');
    expect(await mounted()).toEqual(['.cargo/config.toml', 'a/.cargo/config.toml']);
    bench.sh(`${write(QUIET, '.cargo/config.toml')}`);
    letTimePass();
    await bench.run(guard, 'true');
    await bench.run(guard, 'true');
    expect(await mounted()).toEqual(['a/.cargo/config.toml']);
  });

  test('SEC-2.3: stays while calls change it to something harmless, and is set aside as soon as they do not', async () => {
    bench.sh(write(QUIET, '.cargo/config.toml'));
    await guard.protection();
    letTimePass();
    expect(await bench.run(guard, write(`${QUIET}verbose = false\n`, '.cargo/config.toml'))).toMatchObject({
      quarantined: [],
    });
    expect(await bench.run(guard, write(RUNNER, '.cargo/config.toml'))).toMatchObject({
      quarantined: ['.cargo/config.toml'],
    });
    expect(await bench.run(guard, write(QUIET, '.cargo/config.toml'))).toMatchObject({ quarantined: [] });
    expect(bench.names('.cargo')).toContain('config.toml');
  });

  test('SEC-2.3: stays in a worktree that has the same as the project, whatever it says', async () => {
    bench.sh(`${write(RUNNER, '.cargo/config.toml')}; git add -f . && git commit -qm one`);
    await guard.protection();
    letTimePass();
    expect(await bench.run(guard, 'git worktree add -q wt')).toMatchObject({ quarantined: [] });
    expect(await bench.run(guard, `mkdir -p b/.cargo; ${write(RUNNER, 'b/.cargo/config.toml')}`)).toMatchObject({
      quarantined: ['b/.cargo/config.toml'],
    });
  });

  test('SEC-2.3: stays once a person accepted what it says, and not with other content', async () => {
    await guard.protection();
    letTimePass();
    await bench.run(guard, write(RUNNER, '.cargo/config.toml'));
    const [item] = (await guard.quarantine({ kind: 'list', which: null })).items;
    if (item?.sha256 == null) throw new Error('nothing is listed');
    await guard.quarantine({ kind: 'accept', which: item.id, sha256: item.sha256 });
    letTimePass();
    expect(await bench.run(guard, `rm .cargo/config.toml; ${write(RUNNER, '.cargo/config.toml')}`)).toMatchObject({
      quarantined: [],
    });
    expect(await bench.run(guard, write(`${RUNNER}#`, '.cargo/config.toml'))).toMatchObject({
      quarantined: ['.cargo/config.toml'],
    });
  });
});

test('SEC-2.3: a protected name that appears in a root too large to be read again is mounted all the same', async () => {
  const name = 'x'.repeat(200);
  bench.sh(`for i in {1..2000}; do : >${name}$i; done`);
  await guard.protection();
  letTimePass();
  bench.sh(': >.envrc');
  const { mounts } = await guard.protection();
  expect(mounts.map(({ dest }) => dest)).toContain(`${bench.workspace}/.envrc`);
});
