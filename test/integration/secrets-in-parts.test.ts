import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPatch } from 'diff';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

const random = seededRandom(12);
const make = (pattern: string): string => generate(pattern, random);

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

const path = (name: string): string => join(at.project, name);
const read = async (name: string): Promise<string> => (await at.ask('safe_read', { path: name })).data.content ?? '';
const audited = async (): Promise<Record<string, unknown>> => {
  const { stdout } = await at.run(CTXD, ['audit', 'tail', '--lines', '1', '--json']);
  const parsed: unknown = JSON.parse(stdout);
  return (Array.isArray(parsed) ? parsed.at(-1) : parsed) as Record<string, unknown>;
};

describe('SEC-1.4 a file keeps its secrets', () => {
  const edit = (name: string, edits: object[]): Promise<Answer> => at.ask('safe_write', { path: name, edits });
  const patch = (name: string, text: string): Promise<Answer> => at.ask('safe_write', { path: name, patch: text });

  it('when it is edited: tokens in old and new text are opened, and each is recorded with its place', async () => {
    const [key, password] = [make('ghp_[A-Za-z0-9]{36}'), make('[a-z]{5}-[a-z]{5}-[0-9]{2}')];
    writeFileSync(path('edit.env'), `GITHUB_TOKEN=${key}\r\nDB_PASSWORD=${password}\r\nPORT=1\r\n`);
    const shown = await read('edit.env');
    const [token = '', other = ''] = shown.match(/\[SECRET_\d+\]/g) ?? [];
    expect(other).not.toBe('');
    const answer = await edit('edit.env', [
      { old: `GITHUB_TOKEN=${token}\n`, new: `GH_TOKEN=${token}\n` },
      { old: `${other}\nPORT=1`, new: `${other}\nPORT=2` },
    ]);
    expect(answer.data).toMatchObject({ replacements: 2, newline: 'crlf', changed: ['1-3'] });
    expect(answer.meta.warnings).toBeUndefined();
    const expected = `GH_TOKEN=${key}\r\nDB_PASSWORD=${password}\r\nPORT=2\r\n`;
    expect(readFileSync(path('edit.env'), 'utf8')).toBe(expected);
    const record = await audited();
    expect(record.secrets_opened).toEqual([
      { token, input: '/edits/0/old', use: 'file' },
      { token: other, input: '/edits/1/old', use: 'file' },
      { token, input: '/edits/0/new', use: 'file' },
      { token: other, input: '/edits/1/new', use: 'file' },
    ]);
    expect(JSON.stringify(record)).not.toContain(key);
    expect(at.filesHolding(key)).toEqual([]);
  });

  it('when it is patched: tokens in context lines and changed lines are opened', async () => {
    const [key, password] = [make('ghp_[A-Za-z0-9]{36}'), make('[a-z]{5}-[a-z]{5}-[0-9]{2}')];
    writeFileSync(path('patch.env'), `GITHUB_TOKEN=${key}\nDB_PASSWORD=${password}\nPORT=1\n`);
    const shown = await read('patch.env');
    const changed = shown.replace('PORT=1', 'PORT=2').replace('DB_PASSWORD', 'PGPASSWORD');
    const answer = await patch('patch.env', createPatch('patch.env', shown, changed));
    expect(answer.data).toMatchObject({ hunks: 1, changed: ['2-3'] });
    expect(readFileSync(path('patch.env'), 'utf8')).toBe(`GITHUB_TOKEN=${key}\nPGPASSWORD=${password}\nPORT=2\n`);
    expect(at.filesHolding(password)).toEqual([]);
  });

  it('in the spelling of the file; a secret of several lines only through edits', async () => {
    const lines = [1, 2, 3].map(() => make('[A-Za-z0-9+/]{64}'));
    const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    writeFileSync(path('part.pem'), `# one\n${pem}\n# two\n`);
    writeFileSync(path('part.json'), `{\n  "private_key": ${JSON.stringify(pem)},\n  "n": 1\n}\n`);
    const [plain, json] = [await read('part.pem'), await read('part.json')];
    const [token = ''] = /\[SECRET_\d+\]/.exec(plain) ?? [];
    expect((await patch('part.json', createPatch('x', json, json.replace('"n": 1', '"n": 2')))).success).toBe(true);
    expect(readFileSync(path('part.json'), 'utf8')).toBe(`{\n  "private_key": ${JSON.stringify(pem)},\n  "n": 2\n}\n`);
    const refused = await patch('part.pem', createPatch('x', plain, plain.replace('# two', '# 2')));
    expect(refused.data).toMatchObject({ error_code: 'ARGS_INVALID', remediation: expect.stringContaining('"edits"') });
    expect((await edit('part.pem', [{ old: `${token}\n# two`, new: `${token}\n# 2` }])).success).toBe(true);
    expect(readFileSync(path('part.pem'), 'utf8')).toBe(`# one\n${pem}\n# 2\n`);
  });

  it('when a patch does not fit: the message shows the file’s text masked', async () => {
    const lines = [1, 2, 3].map(() => make('[A-Za-z0-9+/]{64}'));
    const pem = ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----'].join('\n');
    writeFileSync(path('unread.pem'), `${pem}\n`);
    const answer = await patch('unread.pem', '@@ -3 +3 @@\n-x\n+y\n');
    expect(answer.data).toMatchObject({ error_code: 'CONFLICT', found: expect.stringMatching(/^\[SECRET(_\d+)?\]$/) });
    expect(JSON.stringify(answer)).not.toContain(lines[1]?.slice(0, 12));
  });

  it('when an edit has an unknown number: nothing is written', async () => {
    writeFileSync(path('kept.txt'), 'old');
    expect((await edit('kept.txt', [{ old: 'old', new: '[SECRET_999]' }])).data.error_code).toBe('SECRET_UNKNOWN');
    expect(readFileSync(path('kept.txt'), 'utf8')).toBe('old');
  });

  it('and several files show the same secret as the same token', async () => {
    const key = make('ghp_[A-Za-z0-9]{36}');
    writeFileSync(path('first.env'), `A_TOKEN=${key}\n`);
    writeFileSync(path('second.env'), `B_TOKEN=${key}\n`);
    const { data } = await at.ask('safe_read', { paths: ['first.env', 'gone.env', 'second.env'] });
    const [token = ''] = /\[SECRET_\d+\]/.exec(String(data.content_1)) ?? [];
    expect(data).toMatchObject({ content_1: `A_TOKEN=${token}\n`, content_3: `B_TOKEN=${token}\n` });
    expect(data.files).toMatchObject([{ lines: 1 }, { error: { code: 'PATH_NOT_FOUND' } }, { field: 'content_3' }]);
  });
});
