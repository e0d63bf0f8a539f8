import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RULES_FILE } from '../../src/cli/init/client-settings.ts';
import { loadCounter } from '../../src/tokens/counter.ts';
import { type BenchInstallation, installForBench } from '../lib/machine.ts';
import { race, runProcess } from '../lib/measure.ts';
import { type Fact, type Outcome, rowsOf, type Section, type SectionOptions } from '../lib/section.ts';

const CLONE = 'git clone of the repository';
const INSTALL = 'ctxd tool install of it, and the first answer';
const INSTALL_ONLY = 'ctxd tool install of it';
const NAME = 'weather';
/** Its size is bounded: a tool that is named can take the place of a hint. */
const START = 'tokens at the start of a session';
const AUTHOR = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];

/** From the source of a tool to its first answer, compared with only fetching the source; and what the tool costs an agent. */
export const installSection: Section = {
  async run(options) {
    const at = await installForBench({});
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'bench-tool-')));
    try {
      return await measure(at, base, options);
    } finally {
      rmSync(base, { recursive: true, force: true });
      await at.remove();
    }
  },
};

async function measure(at: BenchInstallation, base: string, { rounds }: SectionOptions): Promise<Outcome> {
  const repository = await newRepository(at, base);
  const clone = join(base, 'clone');
  const source = `git::file://${repository}@v1`;
  const install = (): Promise<string> => at.ctxd('tool', 'install', source, '--yes');
  const remove = async (): Promise<void> => void (await at.ctxd('tool', 'remove', NAME, '--yes'));
  const times = await race(
    [
      {
        name: CLONE,
        once: async () => void (await runProcess('git', ['clone', '--quiet', '--branch=v1', repository, clone], at)),
        after: async () => rmSync(clone, { recursive: true }),
      },
      { name: INSTALL_ONLY, once: async () => void (await install()), after: remove },
      {
        name: INSTALL,
        once: async () => {
          await install();
          await runProcess(`.claude/tools/${NAME}/${NAME}`, ['{"city":"Oslo"}'], { cwd: at.project, env: at.env });
          return undefined;
        },
        after: remove,
      },
    ],
    rounds,
  );
  const before = rulesTokens(at);
  await install();
  const facts = [
    { name: `${START}, without the tool`, value: before },
    { name: `${START}, with it`, value: rulesTokens(at) },
    ...costs(at),
  ];
  const table = { title: 'a tool in a local repository, ms', base: CLONE, rows: rowsOf(times), aims: [] };
  return { tables: [table], facts };
}

/** The template for shell, tagged v1. */
async function newRepository(at: BenchInstallation, base: string): Promise<string> {
  const [made, repository] = [join(base, 'made'), join(base, 'repository')];
  await at.ctxd('tool', 'new', NAME, '--lang', 'sh', '--dir', made);
  const git = (...args: string[]): Promise<string> => runProcess('git', ['-C', repository, ...AUTHOR, ...args], at);
  await runProcess('git', ['init', '--quiet', repository], at);
  cpSync(made, repository, { recursive: true });
  await git('add', '.');
  await git('commit', '--quiet', '--message=First');
  await git('tag', 'v1');
  return repository;
}

/** The only text of contextd that clients load at the start of a session; it names the tools. */
function rulesTokens({ project }: BenchInstallation): number {
  return loadCounter().count(readFileSync(join(project, RULES_FILE), 'utf8'));
}

/** What an agent reads if it looks for the tool's arguments. */
function costs({ project }: BenchInstallation): Fact[] {
  const counter = loadCounter();
  return ['TOOL.md', 'schema.json'].map((file) => ({
    name: `tokens of its ${file}, read when it is used`,
    value: counter.count(readFileSync(join(project, '.claude/tools', NAME, file), 'utf8')),
  }));
}
