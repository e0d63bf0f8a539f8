import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/sample-patterns.ts';

const random = seededRandom(1604);
const newToken = (): string => generate('ghp_[A-Za-z0-9]{36}', random);

let at: Installation;
beforeAll(async () => {
  at = await install({ warm: true });
});
afterAll(() => at.remove());

const ctxd = (...words: string[]) => at.run(CTXD, words);
const read = async (name: string): Promise<string> => (await at.ask('safe_read', { path: name })).data.content ?? '';
const numberIn = (text: string): string => /\[SECRET_(\d+)\]/.exec(text)?.[1] ?? '';

/** Writes a secret into a file of the project and returns the number that it gets. */
async function seen(name: string, value: string): Promise<string> {
  writeFileSync(join(at.project, name), `API_TOKEN=${value}\n`);
  const shown = await read(name);
  expect(shown).toMatch(/^API_TOKEN=\[SECRET_\d+\]\n$/);
  return numberIn(shown);
}

async function audited(tool: string): Promise<Record<string, unknown>> {
  const records = JSON.parse((await ctxd('audit', 'tail', '--lines', '50', '--json')).stdout);
  return records.findLast((record: { tool: string }) => record.tool === tool) ?? {};
}

describe('issue 16.4 ctxd scrub reveal', () => {
  it('shows a person the value, its rule, length and the call that showed it first', async () => {
    const value = newToken();
    const number = await seen('one.env', value);
    for (const name of [number, `SECRET_${number}`, `[SECRET_${number}]`]) {
      const { code, stdout } = await ctxd('scrub', 'reveal', name, '--yes');
      expect(code).toBe(0);
      expect(stdout).toContain(`[SECRET_${number}]: `);
      expect(stdout).toMatch(/found by [\w/-]+\n/);
      expect(stdout).toMatch(/First in: safe_read .*one\.env/);
      expect(stdout).toMatch(/Request: req_\w{26}, /);
      expect(stdout).toContain(`Length: 40 characters\nValue: ${value}\n`);
    }
  });

  it('refuses without a terminal unless --yes is given, and an unknown number', async () => {
    const number = await seen('two.env', newToken());
    const refused = await ctxd('scrub', 'reveal', number);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('at a terminal');
    const unknown = await ctxd('scrub', 'reveal', '999', '--yes');
    expect(unknown.stderr).toContain('no session of this project has [SECRET_999]. `ctxd session secrets` lists');
    const named = await ctxd('scrub', 'reveal', '999', '--yes', '--session', 'other');
    expect(named.stderr).toContain('the session other has no [SECRET_999]');
    expect((await ctxd('scrub', 'reveal', 'nonsense', '--yes')).stderr).toContain('not a token');
  });

  it('is recorded without the value', async () => {
    const value = newToken();
    const number = await seen('three.env', value);
    await ctxd('scrub', 'reveal', number, '--yes');
    expect(await audited('scrub reveal')).toMatchObject({
      kind: 'person',
      door: 'ctxd',
      input: { token: `[SECRET_${number}]` },
    });
    expect(at.filesHolding(value)).toEqual([]);
  });
});

describe('issue 16.4 ctxd scrub allow', () => {
  it('lets later answers of the running session show the value, until a person takes it back', async () => {
    const value = newToken();
    const number = await seen('four.env', value);
    const old = await at.ask('safe_read', { path: 'four.env' });
    const allowed = await ctxd('scrub', 'allow', number, '--yes');
    expect(allowed.stdout).toContain('later answers show the value');
    expect(await read('four.env')).toBe(`API_TOKEN=${value}\n`);
    const base64 = Buffer.from(value).toString('base64');
    expect(
      (await at.ask('safe_bash', { command: 'cut -d= -f2 four.env | tr -d "\\n" | base64 -w0' })).data.stdout,
    ).toBe(base64);
    const again = await at.ask('tool_view', { ref: old.refs?.[0] });
    expect(JSON.stringify(again.data)).toContain(`API_TOKEN=[SECRET_${number}]`);
    const listed = JSON.parse((await ctxd('scrub', 'allow', 'list', '--json')).stdout);
    expect(listed).toEqual([expect.objectContaining({ root: at.project, by: expect.any(String) })]);
    expect(await audited('scrub allow')).toMatchObject({ kind: 'person', input: { id: listed[0].id } });
    expect((await ctxd('scrub', 'allow', 'remove', listed[0].id.slice(0, 12))).code).toBe(0);
    expect(await read('four.env')).toBe(`API_TOKEN=[SECRET_${number}]\n`);
    expect(await audited('scrub allow remove')).toMatchObject({ kind: 'person', input: { id: listed[0].id } });
  });

  it('takes a value on standard input, in every project, and holds after a restart of the daemon', async () => {
    const value = newToken();
    await seen('five.env', value);
    const { code } = await at.run(CTXD, ['scrub', 'allow', '--everywhere', '--yes'], { input: `${value}\n` });
    expect(code).toBe(0);
    expect(at.filesHolding(value)).toEqual([]);
    await ctxd('server', 'restart');
    expect(await read('five.env')).toBe(`API_TOKEN=${value}\n`);
    expect((await ctxd('scrub', 'allow', 'list')).stdout).toContain('every project\t(given as a value)');
  });

  it('changes nothing without a yes, and for an empty value', async () => {
    const value = newToken();
    const number = await seen('six.env', value);
    for (const words of [[number], [number, '--everywhere']])
      expect(await ctxd('scrub', 'allow', ...words)).toMatchObject({ code: 1, stdout: '' });
    expect((await at.run(CTXD, ['scrub', 'allow', '--yes'], { input: '\n' })).stderr).toContain('is empty');
    expect(await read('six.env')).toBe(`API_TOKEN=[SECRET_${number}]\n`);
  });

  it('acts on the one session that has the number, and says which', async () => {
    const number = await seen('nine.env', newToken());
    const [value, options] = [newToken(), { env: { CONTEXTD_SESSION_ID: 'many-secrets' } }];
    const all = [...Array.from({ length: 60 }, newToken), value].map((token, at) => `A${at}_TOKEN=${token}\n`).join('');
    writeFileSync(join(at.project, 'many.env'), all);
    const shown = (await at.ask('safe_read', { path: 'many.env', max_tokens: 20_000 }, options)).data.content ?? '';
    expect(shown).toContain('A60_TOKEN=[SECRET_61]\n');
    expect((await ctxd('scrub', 'reveal', '61', '--yes')).stdout).toMatch(/Session: many-secrets\n[\s\S]*Value: ghp_/);
    expect((await ctxd('scrub', 'allow', '61', '--yes')).stdout).toMatch(/^Session: many-secrets\n/);
    expect((await at.ask('safe_read', { path: 'many.env', tail: 1 }, options)).data.content).toBe(
      `A60_TOKEN=${value}\n`,
    );
    for (const command of ['reveal', 'allow']) {
      const several = await ctxd('scrub', command, number, '--yes');
      expect(several).toMatchObject({ code: expect.any(Number), stdout: '' });
      expect(several.stderr).toMatch(
        /2 sessions of this project have a \[SECRET_\d+\]: .*many-secrets[\s\S]*--session /,
      );
    }
    const named = await ctxd('scrub', 'allow', number, '--yes', '--session', 'many-secrets');
    expect(named.stdout).toMatch(/^Session: many-secrets\n/);
    const line = (await at.ask('safe_read', { path: 'many.env', lines: `${number}` }, options)).data.content;
    expect(line).toMatch(/^A\d+_TOKEN=ghp_/);
  });

  it('names no value that does not exist', async () => {
    expect((await ctxd('scrub', 'allow', 'remove', 'abcdef')).stderr).toContain('no allowed value has the id');
  });
});

describe('issue 16.4 the answer with the first mask of a session', () => {
  it('says once how a person takes a mask back', async () => {
    writeFileSync(join(at.project, 'seven.env'), `API_TOKEN=${newToken()}\n`);
    const options = { env: { CONTEXTD_SESSION_ID: 'another' } };
    const first = await at.ask('safe_read', { path: 'seven.env' }, options);
    expect(first.meta.warnings).toEqual([expect.stringContaining('ctxd scrub reveal n')]);
    const second = await at.ask('safe_read', { path: 'seven.env' }, options);
    expect(second.data.content).toBe('API_TOKEN=[SECRET_1]\n');
    expect(second.meta.warnings).toBeUndefined();
  });
});

describe('issue 16.4 what only a person does', () => {
  it('is forbidden to agents by the files that ctxd init writes, and no command in a sandbox reaches the daemon', async () => {
    const settings = JSON.parse(readFileSync(join(at.project, '.claude/settings.json'), 'utf8'));
    expect(settings.permissions.deny).toEqual(
      expect.arrayContaining(['Bash(*ctxd scrub allow*)', 'Bash(*ctxd scrub reveal*)']),
    );
    const number = await seen('eight.env', newToken());
    const { data } = await at.ask('safe_bash', { command: `${CTXD} scrub reveal ${number} --yes` });
    expect(data.exit_code).not.toBe(0);
    expect(JSON.stringify(data)).not.toContain('Value:');
  });
});
