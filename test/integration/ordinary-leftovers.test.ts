import { lstatSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ledgerFile } from '#src/guard/contract/quarantine.js';
import { type Bench, openBench, usualWho } from '../fixtures/sandbox-harness.ts';

describe.each(usualWho())('what an ordinary command leaves, %s', (who) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(who);
    bench.host('git init -q -b main . && git commit -q --allow-empty -m first');
  });
  afterAll(() => bench.close());

  test('packages keep the settings of editors and package managers that they ship, and nothing that agents load', async () => {
    const { quarantined, denied } = await bench.bash(`mkdir -p node_modules/a/.vscode node_modules/@b/c/.husky d &&
      echo x | tee node_modules/a/.vscode/tasks.json node_modules/a/.npmrc node_modules/@b/c/.husky/pre-commit \\
        node_modules/@b/c/.envrc node_modules/.yarnrc.yml >/dev/null`);
    expect({ quarantined, denied }).toEqual({ quarantined: [], denied: [] });
    const { quarantined: others } = await bench.bash(`mkdir -p node_modules/a/.claude node_modules/a/.hg &&
      echo x | tee .npmrc d/.npmrc xnode_modules.npmrc >/dev/null`);
    expect(others).toEqual(['.npmrc', 'd/.npmrc', 'node_modules/a/.claude', 'node_modules/a/.hg']);
    expect(bench.host('cat node_modules/a/.npmrc')).toBe('x\n');
    bench.host('rm -rf node_modules d xnode_modules.npmrc .npmrc*');
  });

  test('a new repository keeps aliases that run no program, and no others', async () => {
    const make = (alias: string) =>
      bench.bash(`rm -rf new* && git init -q new && git -C new config alias.x '${alias}'`);
    for (const alias of [
      'status -sb',
      'log --oneline --graph',
      'commit -am',
      'checkout',
      'diff --cached',
      'reset HEAD --',
    ])
      expect([alias, (await make(alias)).quarantined]).toEqual([alias, []]);
    for (const alias of [
      '!id',
      'rebase --exec id',
      'grep --open-files-in-pager=id',
      '-c core.pager=id log',
      'log --output=x',
      'log --output x',
      'difftool',
      'bisect run id',
      'submodule foreach id',
      'fetch --upload-pack=id',
      'x',
    ])
      expect([alias, (await make(alias)).quarantined]).toEqual([alias, ['new/.git/config']]);
    bench.host('rm -rf new*');
  });

  test('git of the host does not see what was set aside, and its list is left alone', async () => {
    bench.host('echo mine >.git/info/exclude');
    expect((await bench.bash('echo evil >.envrc; echo y >y')).quarantined).toEqual(['.envrc']);
    expect(bench.host('git status --short && cat .git/info/exclude')).toBe('?? y\nmine\n');
    bench.host('rm y');
  });

  test('git of the host does not add what can only be set aside in the project, also not in a repository that has no list yet', async () => {
    bench.host('rm -rf .git/info');
    const store = ledgerFile(join(bench.home, 'state/quarantine'), bench.workspace).replace('.json', '');
    rmSync(store, { recursive: true, force: true });
    writeFileSync(store, '');
    expect(
      (await bench.bash('echo evil >.envrc; mkdir -p d; echo evil >d/.envrc; echo y >y')).quarantined,
    ).toHaveLength(2);
    expect(bench.host('git add -A && git diff --cached --name-only')).toBe('y\n');
    const exclude = readFileSync(join(bench.workspace, '.git/info/exclude'), 'utf8');
    await bench.bash('echo evil >.bashrc');
    expect(readFileSync(join(bench.workspace, '.git/info/exclude'), 'utf8')).toBe(exclude);
    const uids = ['.git', '.git/info', '.git/info/exclude'].map((path) => lstatSync(join(bench.workspace, path)).uid);
    expect(new Set(uids).size).toBe(1);
    bench.host('echo mine >.git/info/exclude');
    await bench.bash('rm -f .git/info/exclude; ln -s ../../d/list .git/info/exclude; : >d/list; echo evil >.zshrc');
    expect(readFileSync(join(bench.workspace, 'd/list'), 'utf8')).toBe('');
    rmSync(store);
    bench.host('rm -rf .git/info/exclude d y .*.quarantined-*; git reset -q --hard');
  });

  test('a checkout that cannot replace a protected file names the file, also if it exits with 0', async () => {
    bench.host(`mkdir .vscode && echo old >.vscode/tasks.json && git add -f . && git commit -q -m old && git switch -q -c side &&
      echo new >.vscode/tasks.json && git commit -q -am new && git switch -q main`);
    const { denied, err } = await bench.bash('git checkout -q side');
    expect(err).toContain('unable to unlink old');
    expect(denied).toMatchObject([
      {
        kind: 'read_only',
        path: join(bench.workspace, '.vscode/tasks.json'),
        rule: expect.stringContaining('kept its content'),
      },
    ]);
    expect(bench.host('cat .vscode/tasks.json')).toBe('old\n');
    const fromBelow = await bench.bash('mkdir -p sub && git checkout -q -f main; cd sub && git checkout -q side', {});
    expect(fromBelow.denied).toMatchObject([{ path: join(bench.workspace, '.vscode/tasks.json') }]);
  });

  test('SEC-2.3: a clone keeps everyday settings of many languages, and names only those that an editor would run', async () => {
    const { raw } =
      await bench.bash(`mkdir -p src/.github/workflows src/.cargo src/.mvn/wrapper src/.storybook && cd src && git init -q . &&
      echo '{}' | tee package.json tsconfig.json .prettierrc deno.json biome.json .swcrc >/dev/null &&
      echo x | tee .gitignore .gitattributes .editorconfig .dockerignore .npmignore .github/workflows/ci.yml pyproject.toml \\
        Cargo.toml setup.cfg tox.ini .clang-format rustfmt.toml webpack.config.js .mvn/wrapper/maven-wrapper.properties \\
        .storybook/main.ts vite.config.ts >/dev/null &&
      printf '[toolchain]\\nchannel = "stable"\\n' >rust-toolchain.toml && echo 3.12 >.python-version && echo 22 >.nvmrc &&
      printf '[alias]\\nxtask = "run -p xtask --"\\n[build]\\nrustflags = ["-Ctarget-cpu=native"]\\n' >.cargo/config.toml &&
      echo org.gradle.parallel=true >gradle.properties && printf 'packages:\\n  - a\\n' >pnpm-workspace.yaml &&
      echo '{"sdk":{"version":"9.0.100"}}' >global.json && printf 'nodejs 22.1.0\\npython 3.12.1\\n' >.tool-versions &&
      git add . && git -c user.name=a -c user.email=a@example.com commit -qm one && cd .. && git clone -q src clone`);
    const found = [...raw.quarantined];
    for (let isComplete = false; !isComplete; ) {
      const late = await (await bench.sandbox.watch(bench.policy())).finish();
      found.push(...late.quarantined);
      isComplete = late.complete;
    }
    expect(found.map(({ path, stays }) => [path, stays]).sort()).toEqual([
      ['clone/vite.config.ts', true],
      ['src/vite.config.ts', true],
    ]);
    expect(bench.host('git -C clone status --short')).toBe('');
    bench.host('rm -rf src clone');
  });
});
