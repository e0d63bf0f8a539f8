import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
afterEach(() => at.remove());

interface Manager {
  /** As npm knows it. */
  spec: string;
  prepare: string;
  files: Readonly<Record<string, string>>;
  /** What its installation cannot write. */
  refused: string;
  /** A file of the installed hook. */
  hook: string;
}

const MANAGERS: Readonly<Record<string, Manager>> = {
  husky: {
    spec: 'husky@9.1.7',
    prepare: 'husky',
    files: { '.husky/pre-commit': 'echo hooked\n' },
    refused: '.husky/_',
    hook: '.husky/_/pre-commit',
  },
  lefthook: {
    spec: 'lefthook@1.11.0',
    prepare: 'lefthook install',
    files: { 'lefthook.yml': 'pre-commit:\n  jobs:\n    - run: echo hooked\n' },
    refused: '.git/hooks/pre-commit',
    hook: '.git/hooks/pre-commit',
  },
};

/** What a person runs on the host, without contextd. */
const host = (command: string): string => execFileSync('sh', ['-c', command], { cwd: at.project, encoding: 'utf8' });
const bash = (command: string): Promise<Answer> => at.ask('safe_bash', { command });

/** A repository that was just cloned: its hooks are not installed. */
async function cloned({ spec, prepare, files }: Manager): Promise<void> {
  at = await install({ init: false, warm: true });
  const [name = '', version = ''] = spec.split('@');
  const settings = { name: 'p', version: '1.0.0', scripts: { prepare }, devDependencies: { [name]: version } };
  for (const [path, text] of Object.entries({ ...files, 'package.json': JSON.stringify(settings) })) {
    mkdirSync(join(at.project, path, '..'), { recursive: true });
    writeFileSync(join(at.project, path), text);
  }
  host('git init -q && git config user.name a && git config user.email a@example.com && echo node_modules >.gitignore');
  host('npm install --ignore-scripts --no-audit --no-fund && git add -A && git commit -qm x');
  await at.run(CTXD, ['init', '--yes']);
}

const denialsOf = ({ meta }: Answer) => (meta.denied ?? []) as { path?: string; rule: string; how_to_allow: string }[];

describe.each(Object.entries(MANAGERS))('issue 30.2.5: npm install with %s in its prepare script', (name, manager) => {
  it('names the hooks that it cannot write, and the remedies of the answer lead to success', async () => {
    await cloned(manager);
    const inWords = await at.call('safe_bash', 'npm install');
    // husky's change of core.hooksPath is refused too, and has the same remedy.
    expect(/\[contextd denied: .*/.exec(inWords.stderr)?.[0]).toMatch(
      new RegExp(
        `${manager.refused}${name === 'husky' ? ', git_config \\S+/\\.git/config' : ''}\\. A person can install hooks`,
      ),
    );
    const first = await bash('npm install');
    expect(first.data.exit_code).toBe(1);
    const denial = denialsOf(first).find(({ path }) => path === join(at.project, manager.refused));
    expect(denial?.rule).toBe("the repository's hooks are read-only for tools");
    const remedies = [...(denial?.how_to_allow ?? '').matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
    const [person = '', any = '', huskys = ''] = remedies;
    expect(remedies).toEqual(['npm run prepare', any, 'HUSKY=0 npm install']);

    // What the agent can do: it leaves the hooks out, and writes none.
    for (const command of name === 'husky' ? [any, huskys] : [any])
      expect((await bash(command)).data).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(at.project, manager.hook))).toBe(false);

    // What the person can do.
    host(person);
    const hook = readFileSync(join(at.project, manager.hook), 'utf8');
    const committed = await bash('echo 1 >f && git add f && git commit -qm y && git log --oneline | wc -l');
    expect(committed.data).toMatchObject({ exit_code: 0, stdout: expect.stringMatching(/2\n$/) });
    expect(`${committed.data.stdout}${committed.data.stderr}`).toContain('hooked');

    // Commands still cannot write what runs at the person's next git command.
    await bash(`echo 'touch ran' >>${manager.hook}; rm -rf ${manager.hook}; npm install`);
    expect(readFileSync(join(at.project, manager.hook), 'utf8')).toBe(hook);
    expect((await bash(any)).data).toMatchObject({ exit_code: 0 });
    host('git commit -q --allow-empty -m z');
    expect(existsSync(join(at.project, 'ran'))).toBe(false);
  });
});

const remediesOf = (denial: { how_to_allow: string } | undefined): string[] =>
  [...(denial?.how_to_allow ?? '').matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);

describe('issue 30.2.5: hooks where no manager has installed any', () => {
  it('husky: what the first npm install names leads to hooks, in the order printed, and later calls name it too', async () => {
    await cloned({ spec: 'husky@9.1.7', prepare: 'husky', files: {}, refused: '', hook: '' });
    const first = await bash('npm install');
    expect(first.data.exit_code).toBe(0);
    const denial = denialsOf(first).find(({ path }) => path?.endsWith('/.git/config'));
    const remedies = remediesOf(denial);
    expect(remedies).toEqual(['npm run prepare', 'npm install --ignore-scripts && npm rebuild', 'HUSKY=0 npm install']);
    expect(denial?.how_to_allow).not.toContain('git config');
    const accepting = /ctxd quarantine accept ([\w-]+)/.exec(JSON.stringify(first.meta.warnings))?.[1] ?? '';
    expect(await at.run(CTXD, ['quarantine', 'accept', '--yes', accepting])).toMatchObject({ code: 0 });
    host(`${remedies[0]} && echo 'echo hooked' >.husky/pre-commit`);
    const committed = await bash('echo 1 >f && git add f && git commit -qm y');
    expect(committed.data.exit_code).toBe(0);
    expect(`${committed.data.stdout}${committed.data.stderr}`).toContain('hooked');
    const again = await bash('npm install');
    expect(again.data.exit_code).toBe(1);
    expect(remediesOf(denialsOf(again)[0])).toEqual(remedies);
    for (const command of remedies.slice(1)) expect((await bash(command)).data).toMatchObject({ exit_code: 0 });
  });

  it('a hook that a command writes by itself names no script of npm', async () => {
    at = await install({ init: false, warm: true });
    host('git init -q');
    await at.run(CTXD, ['init', '--yes']);
    const [denial] = denialsOf(await bash('echo make test >.git/hooks/pre-commit'));
    expect(denial?.rule).toBe("the repository's hooks are read-only for tools");
    expect(remediesOf(denial)).toEqual([]);
  });
});
