import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { runCtxd } from '../../../helpers/run-ctxd.ts';

const dir = mkdtempSync(join(tmpdir(), 'route-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const LINES = [
  { id: 'mail/send', name: 'send_mail', description: 'Send a message', server: 'mail' },
  { id: 'git/commit', name: 'commit', description: 'Record changes', inputSchema: { properties: { message: {} } } },
  { id: 'git/commit2', name: 'commit_copy', description: 'Record changes' },
].map((line) => JSON.stringify(line));
const catalog = file('catalog.jsonl', `${LINES.join('\n')}\n\n`);

function file(name: string, content: string | Buffer): string {
  writeFileSync(join(dir, name), content);
  return join(dir, name);
}

function search(words: readonly string[], input = '') {
  return runCtxd(['route', 'search', ...words], { cwd: dir, env: { HOME: dir, PATH: '' }, input });
}

describe('ctxd route search', () => {
  it('answers each line of standard input with one line, empty lines included', async () => {
    const input = 'send a message\n{"query":"commit"}\n\n{"no":"query"}\r\n{broken\nrecord';
    const { code, stdout } = await search(['--catalog', catalog, '--stdin', '--json'], input);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(code).toBe(0);
    expect(answers.map(({ query }) => query)).toEqual([
      'send a message',
      'commit',
      '',
      '{"no":"query"}',
      '{broken',
      'record',
    ]);
    expect(answers[0].ids[0]).toBe('mail/send');
    expect(answers[1]).toEqual({
      query: 'commit',
      ids: ['git/commit', 'git/commit2'],
      ms: expect.any(Number),
      duplicates: { 'git/commit': ['git/commit2'] },
    });
    expect(answers[2].ids).toEqual([]);
  });

  it('answers one query, with at most as many tools as asked for, and says why', async () => {
    const { stdout } = await search(['send a message', '--catalog', catalog, '--top-k', '1', '--explain', '--json']);
    const { ids, why } = JSON.parse(stdout);
    expect(ids).toEqual(['mail/send']);
    expect(why[0]).toMatchObject({ id: 'mail/send', place: 1, prior: 1 });
    const text = await search(['send a message', '--catalog', catalog, '--explain']);
    expect(text.stdout).toContain('mail/send\n');
    expect(text.stdout).toMatch(/^ {4}\d+ % send in name, description$/m);
  });

  it('issue 33.7 takes ids that objects have as properties', async () => {
    const ids = ['constructor', '__proto__', 'toString'];
    const odd = file('odd.jsonl', ids.map((id, at) => JSON.stringify({ id, name: `mail_${at}` })).join('\n'));
    const { code, stdout } = await search(['mail', '--catalog', odd]);
    expect({ code, ids: stdout.trimEnd().split('\n').sort() }).toEqual({ code: 0, ids: ids.toSorted() });
  });

  it('reads a catalogue packed by gzip', async () => {
    const packed = file('catalog.jsonl.gz', gzipSync(LINES.join('\n')));
    const { stdout } = await search(['mail', '--catalog', packed]);
    expect(stdout).toBe('mail/send\n');
  });

  it.each([
    ['{"id":"a"}', 'line 2 of FILE is not a tool: "name" is missing or not a text'],
    ['[]', 'line 2 of FILE is not a tool: it is not a JSON object'],
    ['{"id":"a",', 'line 2 of FILE is not a tool: it is not a JSON object'],
    ['{"name":"a","id":7}', 'line 2 of FILE is not a tool: "id" is not a text'],
    ['{"id":"a","name":"a","tags":"x"}', 'line 2 of FILE is not a tool: "tags" is not a list of texts'],
    ['{"id":"a","name":"a","description":1}', 'line 2 of FILE is not a tool: "description" is not a text'],
    ['{"id":"a","name":"a","inputSchema":[]}', 'line 2 of FILE is not a tool: "inputSchema" is not an object'],
    ['{"id":"git/commit","name":"a"}', 'line 2 of FILE is not a tool: the id "git/commit" is that of line 1 of FILE'],
  ])('refuses the line %s with its number', async (line, message) => {
    const bad = file('bad.jsonl', `${LINES[1]}\n${line}\n`);
    const { code, stdout, stderr } = await search(['--catalog', bad, '--stdin', '--json'], 'x\n');
    expect(code).toBe(2);
    expect(stderr).toContain(message.replaceAll('FILE', bad));
    expect(JSON.parse(stdout).error).toMatchObject({
      code: 'ARGS_INVALID',
      details: { place: expect.stringMatching(/^line 2 of /) },
    });
  });

  it('says what is missing', async () => {
    const faults = await Promise.all([
      search(['x']),
      search(['--catalog', catalog]),
      search(['x', '--catalog', catalog, '--stdin']),
      search(['x', '--catalog', join(dir, 'none.jsonl')]),
      search(['x', '--catalog', file('half.gz', gzipSync(LINES.join('\n')).subarray(0, 30))]),
    ]);
    expect(faults.map(({ stderr }) => stderr.split('. ')[0])).toEqual([
      'ctxd: no catalogue was named',
      'ctxd: either a query or --stdin is needed',
      'ctxd: either a query or --stdin is needed',
      `ctxd: cannot read ${join(dir, 'none.jsonl')} (ENOENT)`,
      `ctxd: cannot unpack ${join(dir, 'half.gz')}`,
    ]);
  });
});
