import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { race } from '../lib/measure.ts';
import { makeProject, openSandbox, type SandboxHost } from '../lib/sandbox-host.ts';
import { type Outcome, rowsOf, type Section, type SectionOptions } from '../lib/section.ts';

const FILES = 100_000;
const FILES_PER_DIRECTORY = 200;
const GLOBS = 40;

const EMPTY = 'pre-forked, an empty project';
const LARGE = `pre-forked, ${FILES} files and ${GLOBS} deny globs`;
const EMPTY_COLD = 'cold, an empty project';
const LARGE_COLD = `cold, ${FILES} files and ${GLOBS} deny globs`;

/** A policy is compiled once, so the size of the project must not make a call slower. */
export const policySection: Section = {
  async run(options) {
    const projects = { empty: makeProject(), large: makeLargeProject() };
    try {
      return await compare(projects, options);
    } finally {
      for (const project of Object.values(projects)) rmSync(project, { recursive: true, force: true });
    }
  },
};

async function compare(projects: { empty: string; large: string }, options: SectionOptions): Promise<Outcome> {
  const deny = denyGlobs();
  const plain = await openSandbox({});
  const denying = await openSandbox({ deny });
  const stdin = Buffer.from('x');
  try {
    const facts = [
      { name: 'first call, an empty project, ms', value: await firstCall(plain, projects.empty) },
      { name: `first call, ${FILES} files, ms`, value: await firstCall(denying, projects.large) },
    ];
    const cases = [
      { name: EMPTY, host: plain, project: projects.empty, stdin: undefined },
      { name: LARGE, host: denying, project: projects.large, stdin: undefined },
      { name: EMPTY_COLD, host: plain, project: projects.empty, stdin },
      { name: LARGE_COLD, host: denying, project: projects.large, stdin },
    ];
    const contenders = cases.map(({ name, host, project, stdin: input }) => ({
      name,
      once: async () => void (await host.runTrue(project, input)),
      after: () => host.refilled(project),
    }));
    const rows = rowsOf(await race(contenders, options.rounds));
    return { tables: [{ title: 'one command, ms', base: EMPTY, rows, aims: [] }], facts };
  } finally {
    await Promise.all([plain.stop(), denying.stop()]);
  }
}

async function firstCall(host: SandboxHost, project: string): Promise<number> {
  const start = performance.now();
  await host.runTrue(project);
  await host.refilled(project);
  return Math.round((performance.now() - start) * 10) / 10;
}

/** Makes two levels of directories, as in a repository. Three of the globs match something. */
function makeLargeProject(): string {
  const project = makeProject();
  for (let made = 0, dir = 0; made < FILES; dir++) {
    const path = join(project, `package-${Math.floor(dir / 25)}`, `source-${dir % 25}`);
    mkdirSync(path, { recursive: true });
    for (let i = 0; i < FILES_PER_DIRECTORY && made < FILES; i++, made++) writeFileSync(join(path, `file-${i}.ts`), '');
  }
  for (const name of ['server.pem', '.env', 'package-1/source-1/local.key']) writeFileSync(join(project, name), '');
  return project;
}

function denyGlobs(): string[] {
  const found = ['**/*.pem', '.env', '**/*.key'];
  return [...found, ...Array.from({ length: GLOBS - found.length }, (_, i) => `**/private-${i}/*.secret`)];
}
