import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { type Installation, install } from '../helpers/installation.ts';

let one: Installation;
beforeAll(async () => {
  one = await install({ warm: true, init: false });
  const locked = { resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz' };
  writeFileSync(join(one.project, 'package-lock.json'), JSON.stringify({ packages: { 'node_modules/a': locked } }));
});
afterAll(() => one.remove());

/** `ctxd init` at a terminal where a person gives the same answer to each question. */
async function initAt(answer: string, words: readonly string[] = []) {
  const env = readEnvironment(one.environment);
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const questions: string[] = [];
  stderr.on('data', (chunk: Buffer) => {
    if (!/\[(?:y\/N|Y\/n)\] /.test(String(chunk))) return;
    questions.push(String(chunk));
    stdin.write(`${answer}\n`);
  });
  const out = text(stdout);
  const code = await runCli(['init', ...words], {
    env,
    stdout,
    stderr,
    version: '1',
    cwd: one.project,
    signal: new AbortController().signal,
    stdin: Object.assign(stdin, { isTTY: true }),
    paths: resolvePaths(env, findInstallRoot()),
  });
  stdout.end();
  return { code, out: await out, questions };
}

describe('the answers of ctxd init', () => {
  it('FR-2.2: a no is remembered for the project, named in one line, and asked again only about what is new', async () => {
    const first = await initAt('n');
    expect(first).toMatchObject({ code: 0 });
    expect(first.questions.join()).toContain('Make contextd the shell');
    expect(first.questions.length).toBeGreaterThan(1);

    const again = await initAt('n');
    expect(again.questions).toEqual([]);
    const lines = again.out.split('\n');
    expect(lines.filter((line) => line.endsWith('To make contextd their shell: ctxd init --shell'))).toHaveLength(1);
    expect(lines.filter((line) => line.startsWith('Commands cannot reach npm, as you chose.'))).toHaveLength(1);

    writeFileSync(join(one.project, 'go.mod'), 'module example.com/a\n\ngo 1.22\n');
    mkdirSync(join(one.project, 'sub'));
    const more = await initAt('n');
    expect(more.questions).toHaveLength(1);
    expect((await initAt('n')).questions).toEqual([]);
  });

  it('FR-2.2: what was agreed to is not asked again, and --uninstall forgets the answers', async () => {
    expect((await initAt('n', ['--uninstall'])).code).toBe(0);
    const first = await initAt('y');
    expect(first.questions.length).toBeGreaterThan(1);
    const again = await initAt('y');
    expect(again.questions).toEqual([]);
    expect(again.out).not.toContain('as you chose');
    expect((await initAt('y', ['--no-shell'])).code).toBe(0);
    const without = await initAt('y');
    expect(without.questions).toEqual([]);
    expect(without.out).toContain('To make contextd their shell: ctxd init --shell');
  });
});
