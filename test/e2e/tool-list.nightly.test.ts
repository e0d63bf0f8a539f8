import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getEncoding } from 'js-tiktoken';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FOR_SERVERS } from '#src/catalog/tool-list.js';
import { CTXD, type Installation, install, ROOT } from '../helpers/installation.ts';
import { makeTool } from '../helpers/made-tool.ts';

const NAMES = ['tides', 'trains', 'rates', 'stocks', 'roads', 'parks', 'ships', 'books', 'songs'];

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
  for (const name of NAMES) {
    const script = `#!/bin/sh\nprintf '{"about":"${name}"}'\n`;
    const files = { 'TOOL.md': brief(name), 'TOOL_EXTENDED.md': `# ${name}\n\n\`city\`: the city.\n` };
    makeTool(join(at.project, 'src', name), { name, script, files });
    const done = await at.run(CTXD, ['tool', 'install', `./src/${name}`, '--yes']);
    expect(done, done.stderr).toMatchObject({ code: 0 });
  }
});
afterAll(() => at.remove());

function brief(name: string): string {
  const lines = [
    `# ${name}`,
    `> Look up ${name} of a city.`,
    '',
    `**Use**: ${name}`,
    '**Not**: files → `safe_read`',
    '**Limits**: one city.',
  ];
  return `${[...lines, '**Ref**: `TOOL_EXTENDED.md`'].join('\n')}\n`;
}

it('CE-1.1 issue 30.1.3 with nine tools of others, an agent is shown less than 1,500 tokens and finds the rest', async () => {
  const skill = readFileSync(join(at.project, '.claude/skills/contextd/SKILL.md'), 'utf8');
  const listed = [...skill.matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name).filter((name) => name !== 'Quotes');
  const schemas = [...skill.matchAll(/`(\.claude\/tools\/\w+\/schema\.json)`/g)].map(([, path = '']) => path);
  const encoding = getEncoding('cl100k_base');
  const tokens = schemas.reduce((sum, path) => {
    const schema: unknown = JSON.parse(readFileSync(join(at.project, path), 'utf8'));
    return sum + encoding.encode(JSON.stringify(schema)).length;
  }, 0);
  expect(schemas.length).toBeGreaterThan(15);
  expect(tokens).toBeLessThan(1_500);

  const hidden = NAMES.filter((name) => !listed.includes(name));
  expect(hidden.length).toBeGreaterThan(2);
  expect(skill).toContain(`${hidden.length} more tools are not listed here.`);
  const search = /^ {4}(tool_browse .*)$/m.exec(skill)?.[1] ?? '';
  for (const name of hidden) {
    const typed = `PATH="$PWD/.claude/bin:$PATH"; ${search.replace('what to do', `look up the ${name} of a city`)}`;
    const found = await at.run('/bin/sh', ['-c', typed]);
    expect(found.stdout.split('\n')[0], found.stderr).toMatch(new RegExp(`^installed:${name}@`));
    expect((await at.ask(name, { city: 'x' })).data).toEqual({ about: name });
  }

  const figure = `${tokens} of at most 1499 tokens`;
  const verified = await at.run(CTXD, ['tool', 'verify']);
  expect(verified.code, verified.stdout).toBe(0);
  const count = 18 + NAMES.length;
  expect(verified.stdout).toContain(`listed schemas (${count - hidden.length} of ${count}): ${figure}; agents find`);
  for (const name of NAMES) expect(verified.stdout).toContain(`${name} schema.json cost`);
  const doctor = JSON.parse((await at.run(CTXD, ['doctor', '--json'])).stdout);
  expect(doctor.checks).toContainEqual({
    name: 'tool list',
    status: 'ok',
    detail: `${count + FOR_SERVERS.size} tools: agents are shown ${count - hidden.length}, ${figure}; ${hidden.length} are found with tool_browse; ${FOR_SERVERS.size} are for resources and prompts of MCP servers`,
    remedy: '',
  });
});

it('FR-1.1 the README, ctxd init and ctxd doctor count the same tools of contextd', async () => {
  const [, readme = ''] = /agents that work there find (\d+) tools of contextd/.exec(
    readFileSync(join(ROOT, 'README.md'), 'utf8'),
  ) ?? [''];
  const { tools } = JSON.parse((await at.run(CTXD, ['init', '--json'])).stdout);
  const doctor = JSON.parse((await at.run(CTXD, ['doctor', '--json'])).stdout);
  const [, counted = ''] =
    /^(\d+) tools:/.exec(doctor.checks.find(({ name }: { name: string }) => name === 'tool list').detail) ?? [];
  expect(Number(counted)).toBe(tools.length);
  expect(tools.length - NAMES.length).toBe(Number(readme));
});

it('FR-1.1 --uninstall leaves no lock file of tools of this machine, and speaks of commits only if git tracks a file', async () => {
  expect(readdirSync(at.project)).toContain('contextd.lock');
  const uninstall = async () => (await at.run(CTXD, ['init', '--uninstall'])).stdout;
  expect(await uninstall()).not.toContain('commit');
  expect(readdirSync(at.project)).not.toContain('contextd.lock');
  expect(await at.run(CTXD, ['init', '--yes'])).toMatchObject({ code: 0 });
  execFileSync('git', ['init', '-q'], { cwd: at.project });
  execFileSync('git', ['add', '-f', '.claude/skills'], { cwd: at.project });
  expect(await uninstall()).toContain('Some of these files are committed.');
});
