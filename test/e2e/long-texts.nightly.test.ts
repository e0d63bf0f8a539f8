import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const LINES = 40_000;
/** Where a private key stands in the file, and how many lines it has. */
const KEY_AT = 20_000;

describe('texts beyond what is kept, through a daemon that keeps 64 KiB', () => {
  let at: Installation;
  let key: string[];
  let lines: string[];
  beforeAll(async () => {
    at = await install({ init: false });
    mkdirSync(join(at.home, 'config'), { recursive: true, mode: 0o700 });
    writeFileSync(join(at.home, 'config/config.json'), JSON.stringify({ output: { max_bytes: 65_536 } }), {
      mode: 0o600,
    });
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString().trim().split('\n');
    lines = Array.from({ length: LINES }, (_, i) => key[i + 1 - KEY_AT] ?? `entry ${i + 1}`);
    writeFileSync(join(at.project, 'big.log'), `${lines.join('\n')}\n`);
    expect(await at.run(CTXD, ['init'])).toMatchObject({ code: 0 });
  });
  afterAll(() => at.remove());

  const content = async (input: object): Promise<string> =>
    (await at.ask('safe_read', { path: 'big.log', ...input })).data.content ?? '';

  it.each([3, 19_990, 31_000, LINES])(
    'FR-4.2 safe_read finds and numbers line %i, as an argument and as a view',
    async (n) => {
      for (const part of [{ grep: `^entry ${n}$` }, { lines: `${n}` }]) {
        const expected = 'grep' in part ? `${n}:entry ${n}\n` : `entry ${n}\n`;
        expect(await content(part)).toBe(expected);
        expect(await content({ view: part })).toBe(expected);
      }
    },
  );

  it('SEC-1.1 lines of a private key stay secret if only they are asked for', async () => {
    const middle = key[12] ?? '';
    const word = middle.slice(20, 32).replaceAll(/[+/]/g, '.');
    const shown = await Promise.all([
      content({ grep: word }),
      content({ view: { grep: word, context: 1 } }),
      content({ lines: `${KEY_AT + 12}` }),
      content({ view: { lines: `${KEY_AT + 12}-${KEY_AT + 13}` } }),
    ]);
    for (const text of shown) {
      expect(text).toMatch(/\[SECRET_\d+\]/);
      for (const line of key.slice(1, -1))
        for (const part of [line.slice(0, 16), line.slice(-16)]) expect(text).not.toContain(part);
    }
  });

  it('CE-1.4 every view of an output says which lines are missing and has true numbers after them', async () => {
    const command = `cat big.log; echo 'error: the end'`;
    const ran = await at.ask('safe_bash', { command, view: 'tail', max_tokens: 300 });
    const dropped = (ran.meta.dropped_lines as { stdout: string }).stdout;
    const [first = 0, last = 0] = dropped.split('-').map(Number);
    expect([first > 1000, last < LINES - 1000]).toEqual([true, true]);
    const [ref = ''] = ran.refs;
    const see = async (view: object | string) => {
      const { data, meta } = await at.ask('tool_view', { ref, view });
      expect(meta).toMatchObject({ dropped_lines: { stdout: dropped }, dropped_bytes: ran.meta.dropped_bytes });
      return data.stdout ?? '';
    };
    expect(await see({ grep: `^entry (${first - 1}|${first}|${last}|${last + 1})$` })).toBe(
      `${first - 1}:entry ${first - 1}\n${last + 1}:entry ${last + 1}\n`,
    );
    expect(await see({ lines: `${LINES}` })).toBe(`entry ${LINES}\n`);
    expect(await see({ lines: `${first + 5}-${last - 5}` })).toMatch(
      /^… \d+ bytes were not kept by contextd, lines [\d-]+ …\n$/,
    );
    expect(await see({ errors: true, context: 0 })).toBe(`${LINES + 1}:error: the end\n`);
    expect(await see('head_tail')).toMatch(/^entry 1\n[\s\S]*error: the end\n$/);
    expect((await at.ask('tool_view', { ref, view: 'json_keys' })).error).toContain(
      `lines ${dropped} of the output were not kept`,
    );
  });

  it('CE-1.4 numbers stay true if a secret of several lines was masked before them', async () => {
    const command = `sed -n '${KEY_AT},${KEY_AT + key.length - 1}p' big.log; seq 40000`;
    const view = { grep: '^39999$' };
    const { data } = await at.ask('safe_bash', { command, view });
    expect(data.stdout).toBe(`${key.length + 39_999}:39999\n`);
  });
});
