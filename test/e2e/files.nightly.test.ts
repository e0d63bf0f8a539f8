import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

describe('files, through a daemon with sandbox.deny', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ init: false });
    mkdirSync(join(at.home, 'config'), { recursive: true, mode: 0o700 });
    const config = { sandbox: { deny: ['*.pem', 'private/'] } };
    writeFileSync(join(at.home, 'config/config.json'), JSON.stringify(config), { mode: 0o600 });
    mkdirSync(join(at.project, 'private'));
    writeFileSync(join(at.project, 'private/notes.txt'), 'hidden\n');
    writeFileSync(join(at.project, 'server.pem'), 'hidden\n');
    expect(await at.run(CTXD, ['init'])).toMatchObject({ code: 0 });
  });
  afterAll(() => at.remove());

  const pathOf: Readonly<Record<string, string>> = {
    'server.pem': 'server.pem',
    'private/notes.txt': 'private',
    'private/sub/new.txt': 'private',
  };

  it.each(Object.entries(pathOf))('names the reason if sandbox.deny hides %s', async (path, hidden) => {
    const reason = {
      error_code: 'PERMISSION_DENIED',
      remediation: expect.stringContaining('sandbox.deny'),
      details: { kind: 'hidden', path: hidden, how_to_allow: expect.stringContaining('A person can') },
    };
    const calls: [string, object][] = [
      ['safe_read', { path }],
      ['safe_write', { path, content: 'x' }],
      ['safe_write', { path, content: 'x', mode: 'create' }],
      ['safe_write', { path, content: 'x', expected_etag: '0123456789abcdef' }],
      ['safe_write', { path, edits: [{ old: 'hidden', new: 'shown' }] }],
    ];
    for (const [tool, input] of calls) {
      const answer = await at.ask(tool, input);
      expect(answer.data).toMatchObject(reason);
      expect(answer.error).toMatch(/hidden from tools by a pattern of sandbox\.deny/);
    }
  });

  it('SEC-1.1 secrets of texts in other encodings are masked, and the encoding is named', async () => {
    const secret = generate('ghp_[A-Za-z0-9]{36}', seededRandom(32));
    const text = `[größe]\r\nGITHUB_TOKEN=${secret}\r\n`;
    for (const [encoding, bytes] of [
      ['utf-16le-bom', Buffer.from(`\ufeff${text}`, 'utf16le')],
      ['iso-8859-1', Buffer.from(text, 'latin1')],
    ] as const) {
      writeFileSync(join(at.project, 'settings.ini'), bytes);
      const { data } = await at.ask('safe_read', { path: 'settings.ini' });
      expect(data).toMatchObject({
        encoding,
        content: expect.stringMatching(/^\[größe\]\r\nGITHUB_TOKEN=\[SECRET_1\]/),
      });
      const ran = await at.ask('safe_bash', { command: 'cat settings.ini' });
      expect(ran.data).toMatchObject({ encoding: { stdout: encoding }, stdout: expect.stringContaining('größe') });
      expect(ran.data.stdout).toContain('GITHUB_TOKEN=[SECRET_1]');
      const edits = [{ old: 'GITHUB_TOKEN=[SECRET_1]', new: 'GH_TOKEN=[SECRET_1]' }];
      expect((await at.ask('safe_write', { path: 'settings.ini', edits })).data).toMatchObject({ encoding });
      const expected = text.replace('GITHUB', 'GH');
      const after = readFileSync(join(at.project, 'settings.ini'));
      expect(encoding === 'iso-8859-1' ? after.toString('latin1') : after.toString('utf16le').slice(1)).toBe(expected);
    }
    expect(at.filesHolding(secret)).toEqual([]);
  });

  it('says of other paths what they are', async () => {
    expect((await at.ask('safe_read', { path: 'none.txt' })).data.error_code).toBe('PATH_NOT_FOUND');
    expect((await at.ask('safe_write', { path: '.claude/x', content: '' })).data).toMatchObject({
      error_code: 'PERMISSION_DENIED',
      details: { rule: '.claude' },
    });
  });
});
