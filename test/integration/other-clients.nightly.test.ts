import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let one: Installation;
beforeAll(async () => {
  one = await install({ warm: true });
});
afterAll(() => one?.remove());

/** A home in which no client left anything, and a PATH on which none is. */
const env = () => ({ HOME: one.home, PATH: '/usr/bin:/bin' });
const init = (...words: string[]) => one.runProcess(CTXD, ['init', '--no-shell', ...words], { env: env() });
const place = (name: string): string => join(one.project, name);

async function checks(): Promise<{ status: string; detail: string; remedy: string }[]> {
  const { stdout } = await one.runProcess(CTXD, ['doctor', '--json'], { env: env() });
  const all: { name: string; status: string; detail: string; remedy: string }[] = JSON.parse(stdout).checks;
  return all.filter(({ name }) => name === 'client');
}

describe('issue 35 part 3: ctxd init --client', () => {
  it('sets up a client by its name, and ctxd doctor reports what holds and what a person still does', async () => {
    const { code, stdout } = await init('--client', 'codex');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Codex is set up: in Codex, trust'),
    });
    expect(await checks()).toMatchObject([
      { status: 'ok', detail: expect.stringMatching(/^Codex: hooks mask .*\/hooks/) },
    ]);
  });

  it('ctxd doctor finds an entry that was removed and a client that is not set up, and its remedies help', async () => {
    writeFileSync(place('.codex/hooks.json'), '{}\n');
    mkdirSync(place('.zed'));
    const [codex, zed] = await checks();
    expect(codex).toMatchObject({ status: 'warn', detail: expect.stringContaining('.codex/hooks.json lacks') });
    expect(zed).toMatchObject({ status: 'warn', detail: expect.stringContaining('Zed is used here') });
    for (const { remedy } of [codex, zed].filter((one) => one !== undefined)) {
      const words = /`ctxd init (.*)`/.exec(remedy)?.[1]?.split(' ') ?? [];
      expect((await init(...words)).code, remedy).toBe(0);
    }
    expect((await checks()).map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('keeps what was set up when it runs again without the option, and takes it back with --no-client', async () => {
    rmSync(place('.zed/settings.json'));
    expect((await init()).code).toBe(0);
    expect(readFileSync(place('.codex/hooks.json'), 'utf8')).toContain('contextd-hook');
    expect(readFileSync(place('.zed/settings.json'), 'utf8')).toContain('context_servers');
    expect((await init('--no-client')).code).toBe(0);
    expect(existsSync(place('.codex'))).toBe(false);
    expect(existsSync(place('.zed/settings.json'))).toBe(false);
  });

  it('refuses an unknown name with the known ones, and changes nothing in a file that it cannot read', async () => {
    const unknown = await init('--client', 'vim');
    expect(unknown.code).not.toBe(0);
    expect(unknown.stderr).toContain('codex, gemini, cursor, vscode, zed');
    mkdirSync(place('.codex'));
    writeFileSync(place('.codex/config.toml'), 'mcp_servers = 3\n');
    const refused = await init('--client', 'codex');
    expect(refused.code).toBe(1);
    expect(`${refused.stdout}${refused.stderr}`).toMatch(/is not set up: .*\.codex\/config\.toml cannot be read/);
    expect(readFileSync(place('.codex/config.toml'), 'utf8')).toBe('mcp_servers = 3\n');
    expect(existsSync(place('.codex/hooks.json'))).toBe(false);
    rmSync(place('.codex'), { recursive: true });
  });
});
