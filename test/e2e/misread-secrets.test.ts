import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate } from '../helpers/sample-patterns.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const random = seededRandom(20_261_122);
const token = (): string => generate('ghp_[A-Za-z0-9]{36}', random);

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install({ warm: true });
  daemon = await openCaller(at, 'misread');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const call = async (tool: string, input: object) => (await daemon.call(tool, input)).envelope;

/** What a reader makes of a text by all decodings that may have been undone. */
function readings(text: string): string {
  const wide = Buffer.from(text, 'utf16le');
  return [text, wide.toString('latin1'), Buffer.from(wide).swap16().toString('latin1')].join('\n');
}

function expectHidden(texts: readonly unknown[], secret: string, where: string): void {
  const read = readings(texts.map(String).join('\n'));
  for (let from = 4; from + 8 <= secret.length; from++)
    expect(read.includes(secret.slice(from, from + 8)), where).toBe(false);
}

describe('SEC-1.1 a secret whose bytes are decoded as UTF-16', () => {
  const cases = ['\\377\\376', '\\376\\377'].flatMap((mark) =>
    ['', 'x', 'word\\n'].map((before) => ({ mark, before })),
  );

  it.each(cases)('is masked in the answers of commands and jobs: $mark$before', async ({ mark, before }) => {
    const secret = token();
    writeFileSync(join(at.project, 'wide.env'), `NAME=value\nTOKEN=${secret}\nOTHER=value\n`);
    const command = `printf '${mark}${before}'; cat wide.env`;
    const answer = await call('safe_bash', { command });
    expect(answer.data.stdout).toContain('[SECRET_');
    expectHidden([answer.data.stdout], secret, 'the answer');
    const views = [{ grep: '.' }, { bytes: '1-90' }, 'tail'];
    for (const view of views) {
      const { data } = await call('tool_view', { ref: answer.refs[0], view });
      expectHidden([data.stdout], secret, JSON.stringify(view));
    }
    const text = await at.run('safe_bash', [command], {
      cwd: at.project,
      env: { PATH: `${at.project}/.claude/bin:${at.environment.PATH}`, CONTEXTD_SESSION_ID: 'misread-text' },
    });
    expectHidden([text.stdout, text.stderr], secret, 'the text form');
    const { job } = (await call('safe_bash', { command, background: true })).data;
    const ended = await call('jobs', { action: 'wait', job });
    expect(ended.data.output).toContain('[SECRET_');
    expectHidden([ended.data.output], secret, 'the job');
  });

  it.each(['utf-16le', 'utf-16be'])(
    'is masked in a file that is read as %s, whatever part is asked for',
    async (encoding) => {
      const secret = token();
      const lines = Array.from({ length: 40 }, (_, line) => `line ${line}\n`);
      for (const before of ['', 'x']) {
        writeFileSync(join(at.project, 'plain.txt'), `${before}${lines.join('')}TOKEN=${secret}\n${lines.join('')}`);
        for (const part of [
          {},
          { grep: '.' },
          { tail: 3 },
          { bytes: '301-500' },
          { bytes: '302-420' },
          { lines: '1-9' },
        ]) {
          const { data } = await call('safe_read', { path: 'plain.txt', encoding, ...part });
          expectHidden([data.content], secret, JSON.stringify(part));
        }
      }
    },
  );

  it('leaves text in other scripts and in real UTF-16 as it is', async () => {
    const text = '汉字是世界上最古老的文字之一，也是使用人数最多的文字。\n'.repeat(30);
    writeFileSync(join(at.project, 'chinese.txt'), Buffer.from(`\ufeff${text}`, 'utf16le'));
    expect((await call('safe_read', { path: 'chinese.txt' })).data.content).toBe(text);
  });
});

describe('a background job', () => {
  it('masks a secret and nothing of the lines around it', async () => {
    const secret = token();
    writeFileSync(join(at.project, 'token.txt'), `${secret}\n`);
    const { job } = (await call('safe_bash', { command: 'echo begin; cat token.txt; echo end', background: true }))
      .data;
    const ended = await call('jobs', { action: 'wait', job });
    expect(ended.data.output).toMatch(/^begin\n\[SECRET_\d+\]\nend\n$/);
    const open = await call('safe_bash', { command: 'cat token.txt; echo end; read x', background: true });
    const shown = await call('jobs', { action: 'wait', job: open.data.job, text: '^end$' });
    expect(shown.data.output).toMatch(/^\[SECRET_\d+\]\nend\n$/);
    await call('jobs', { action: 'stop', job: open.data.job });
  });
});

describe('the audit record', () => {
  it('SEC-5.2 names the directory in which a call was made', async () => {
    const { stdout } = await at.run(CTXD, ['audit', 'tail', '--json'], { cwd: at.project });
    expect(stdout).toContain(`"cwd":${JSON.stringify(at.project)}`);
  });
});

describe('ctxd tool run', () => {
  it('FR-9.4 exits with the status of the command', async () => {
    const finished = await at.run(CTXD, ['tool', 'run', 'safe_bash', '--input', '{"command":"exit 3"}'], {
      cwd: at.project,
    });
    expect(finished.code).toBe(3);
  });
});
