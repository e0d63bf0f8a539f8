import { chmodSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CliContext } from '#src/cli/context.js';
import { runCli } from '#src/cli/program.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { appears } from '../helpers/appears.ts';
import { type Answer, CTXD, type Finished, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let project: string;
beforeAll(async () => {
  at = await install({ init: false, warm: true });
  project = realpathSync(at.project);
  await at.run(CTXD, ['init', '--no-network', '--no-toolchains']);
  await ctxd('approve', 'rule', 'add', 'safe_bash', '--when', 'push', '--reason', 'to look at');
});
afterAll(() => at.remove());

const ctxd = (...words: string[]): Promise<Finished> => at.run(CTXD, words, { cwd: project });
const rules = async (): Promise<{ id: string }[]> =>
  JSON.parse((await ctxd('approve', 'rule', 'list', '--project', '--json')).stdout);

/** `ctxd` at a terminal, or without one, whose output can be waited for while it runs. */
function start(words: readonly string[], { isTerminal = true, path = '' } = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const ending = new AbortController();
  const environment = path === '' ? at.environment : { ...at.environment, PATH: path };
  const env = readEnvironment(environment);
  const root = findInstallRoot();
  const streams = {
    stdin: Object.assign(stdin, { isTTY: isTerminal, setRawMode: () => stdin }),
    stdout: Object.assign(stdout, { isTTY: isTerminal }),
    stderr: Object.assign(stderr, { isTTY: isTerminal }),
  };
  const more = { env, paths: resolvePaths(env, root), version: '0', cwd: project, signal: ending.signal };
  let printed = '';
  const looking = new Set<() => void>();
  for (const stream of [stdout, stderr])
    stream.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
      for (const look of looking) look();
    });
  const code = runCli(words, { ...streams, ...more } as CliContext);
  return {
    code,
    type: (keys: string) => stdin.write(keys),
    end: () => ending.abort(),
    /** Resolves with everything up to the pattern, which is then forgotten. */
    until(pattern: RegExp): Promise<string> {
      return new Promise((resolve) => {
        const look = (): void => {
          const found = pattern.exec(printed);
          if (found === null) return;
          looking.delete(look);
          const end = found.index + found[0].length;
          const text = printed.slice(0, end);
          printed = printed.slice(end);
          resolve(text);
        };
        looking.add(look);
        look();
      });
    },
  };
}

const PROMPT = /decides nothing: /;

describe('issue 32.3 ctxd approve', () => {
  it('issue 32.3 shows what comes, asks at a terminal until the answer can be read, and lets the call run', async () => {
    const watching = start(['approve', '--watch']);
    await watching.until(/Ctrl-C ends this/);
    const call = at.ask('safe_bash', { command: "echo push '\u001b[2J\u202e'\necho ask_2 safe_read" });
    const shown = await watching.until(PROMPT);
    expect(shown).toMatch(/^ask_\w{8} {2}safe_bash, waiting \d+ s$/m);
    expect(shown).toContain("  | echo push '<U+001B>[2J<U+202E>'\n  | echo ask_2 safe_read\n");
    expect(shown).toMatch(/^ {2}rule {2}rule_\w{8}: safe_bash when push \(to look at\)$/m);
    watching.type('perhaps\r');
    expect(await watching.until(PROMPT)).toContain('"perhaps" is not an answer');
    watching.type('once\r');
    await watching.until(/1 waiting call allowed\.\n/);
    expect(await call).toMatchObject({ success: true });
    const next = at.ask('safe_bash', { command: 'echo push' });
    const [, id = ''] = /^(ask_\w{8})/m.exec(await watching.until(PROMPT)) ?? [];
    await ctxd('approve', id, 'never');
    await watching.until(new RegExp(`${id} waits no more`));
    expect(await next).toMatchObject({ success: false });
    watching.end();
    expect(await watching.code).toBe(0);
    await takeAllBack();
  });

  it('issue 32.3 does not take a line that was typed before a question for its answer', async () => {
    const watching = start(['approve', '--watch']);
    await watching.until(/Ctrl-C ends this/);
    const first = at.ask('safe_bash', { command: 'echo push first' });
    const [, id = ''] = /^(ask_\w{8})/m.exec(await watching.until(PROMPT)) ?? [];
    watching.type('on');
    await ctxd('approve', id, 'never');
    await watching.until(new RegExp(`${id} waits no more`));
    expect(await first).toMatchObject({ success: false });
    watching.type('ce\r');
    await watching.until(/Nothing was waiting for this line: not used\.\n/);
    watching.type('once');
    await watching.until(/once/);
    await takeAllBack();
    const second = at.ask('safe_bash', { command: 'echo push second' });
    await watching.until(PROMPT);
    watching.type('never\r');
    await watching.until(/1 waiting call refused\./);
    expect(await second).toMatchObject({ success: false });
    watching.type('\u0003');
    await watching.code;
    await takeAllBack();
  });

  it('issue 32.4 says that a mask in the text hides a part of what runs, and how to see it', async () => {
    const part = ['x8Kq2Zr9L', 'sh<./p7'].join(';');
    await at.ask('safe_bash', { command: `echo 'DEPLOY_PASSWORD=${part}'` });
    const watching = start(['approve', '--watch'], { isTerminal: false });
    const call = at.ask('safe_bash', { command: `echo push ${part}` });
    const shown = await watching.until(/ {2}~ .*\n/);
    watching.end();
    expect(shown).not.toContain(part);
    const [, token = '', chars, remedy = ''] =
      / {2}~ (\[SECRET_\d+\]) stands for a hidden value of (\d+) characters that is part of what runs; `ctxd ([^`]+)`/.exec(
        shown,
      ) ?? [];
    expect(shown).toContain(`  | echo push ${token}`);
    const { stdout } = await ctxd(...remedy.split(' '), '--yes');
    expect(stdout).toContain(part.slice(0, Number(chars)));
    await ctxd('approve', /ask_\w{8}/.exec(shown)?.[0] ?? '', 'never');
    expect(await call).toMatchObject({ success: false });
    await takeAllBack();
  });

  it('issue 32.3 sends a notification through the program on PATH, with the text as data', async () => {
    const [bin, out] = [join(project, 'bin'), join(project, 'out')];
    for (const dir of [bin, out]) mkdirSync(dir);
    writeFileSync(
      join(bin, 'notify-send'),
      `#!/bin/sh\nprintf '%s\\n' "$@" >${out}/part\nmv ${out}/part ${out}/args\n`,
    );
    chmodSync(join(bin, 'notify-send'), 0o755);
    const notified = appears(out, 'args');
    const watching = start(['approve', '--watch'], { isTerminal: false, path: `${bin}:/usr/bin:/bin` });
    await watching.until(/Ctrl-C ends this/);
    const call = at.ask('safe_bash', { command: 'echo "push <b>$(id)" `id` \u001b[1m' });
    await notified;
    const [app, end, title, text] = readFileSync(join(out, 'args'), 'utf8').split('\n');
    expect([app, end]).toEqual(['--app-name=contextd', '--']);
    expect(title).toMatch(/^ask_\w{8}: may safe_bash run\?$/);
    expect(text).toBe('echo "push &lt;b&gt;$(id)" `id` &lt;U+001B&gt;[1m');
    await watching.until(/ {2}\| echo/);
    watching.end();
    await ctxd('approve', title?.slice(0, 12) ?? '', 'once');
    expect(await call).toMatchObject({ success: true });
  });

  it('issue 32.3 lists all of a text of 100 KiB, keeps an answer to a rule, and takes it back', async () => {
    const { id = '' } = (await rules())[0] ?? {};
    const command = `: ${'x'.repeat(100 * 1024)}\necho push`;
    const watching = start(['approve', '--watch'], { isTerminal: false });
    const call = at.ask('safe_bash', { command });
    await watching.until(/ {2}\| echo push\n/);
    watching.end();
    const { items } = JSON.parse((await ctxd('approve', '--json')).stdout);
    expect(items).toMatchObject([{ tool: 'safe_bash', text: command, text_chars: command.length, project }]);
    const quoted = (await ctxd('approve')).stdout.split('\n').filter((line) => line.startsWith('  | '));
    expect(quoted.map((line) => line.slice(4)).join('')).toBe(command.replace('\n', ''));
    expect((await ctxd('approve', id, 'once')).stderr).toContain('once is an answer to a call that waits');
    expect((await ctxd('approve', id, '1h')).stdout).toMatch(/^1 waiting call allowed\. Allowed until \S+Z in /);
    expect((await call).success).toBe(true);
    const list = JSON.parse((await ctxd('approve', 'list', '--json')).stdout);
    expect(list).toMatchObject([{ verdict: 'allow', project, rule: { id } }]);
    expect((await ctxd('approve', 'list')).stdout).toContain(`${list[0].id}\tallow\t${id}: safe_bash when push`);
    await takeAllBack();
    expect(JSON.parse((await ctxd('approve', 'list', '--json')).stdout)).toEqual([]);
    const { data }: Answer = await at.ask('safe_bash', { command, dry_run: true });
    expect(data).toMatchObject({ allowed: false, asks: true });
  });

  it('issue 32.4 says what it does not accept', async () => {
    const refusals: [string[], RegExp][] = [
      [['approve', 'ask_00000000', 'once'], /no call waits for "ask_00000000"/],
      [['approve', 'ask_00000000', 'yes'], /"yes" is not an answer/],
      [['approve', 'ask_00000000', '1w'], /"1w" is not an answer/],
      [['approve', 'rule_00000000', 'always'], /there is no rule rule_00000000/],
      [['approve', 'remove', 'ans_00000000'], /no answer is kept as ans_00000000/],
      [['approve', 'rule', 'remove', 'rule_00000000'], /there is no rule/],
      [['approve', 'rule', 'add', 'safe bash'], /"safe bash" is not the name of a tool/],
      [['approve', 'rule', 'add', 'safe_bash', '--when', '(?=x)'], /--when is not a pattern of RE2/],
      [['approve', 'rule', 'add', 'safe_bash', '--when', 'x'.repeat(1_001)], /a pattern has more than 1000 characters/],
      [['approve', '--watch', '--json'], /--watch takes no id and no --json/],
    ];
    for (const [words, message] of refusals) {
      const { code, stderr } = await ctxd(...words);
      expect([words, code === 0]).toEqual([words, false]);
      expect(stderr).toMatch(message);
    }
    expect(await rules()).toHaveLength(1);
  });
});

async function takeAllBack(): Promise<void> {
  const kept: { id: string }[] = JSON.parse((await ctxd('approve', 'list', '--json')).stdout);
  for (const { id } of kept) expect((await ctxd('approve', 'remove', id)).stdout).toContain('asks again');
}
