import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Conversation, runClaude, runOpenCode } from '#src/cli/doctor/clients/run-client.js';
import { findClients } from '../../bench/lib/clients/programs.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

const clients = findClients();
const { claude, opencode } = clients ?? { claude: '', opencode: '' };

/** A token of a provider's form. It is in a file of the project and never reaches the model. */
const CANARY = `ghp_${randomBytes(60)
  .toString('base64')
  .replaceAll(/[^A-Za-z0-9]/g, '')
  .slice(0, 36)}`;
const CONFIG = `user = deploy\ntoken = ${CANARY}\nport = 8080\n`;
/** An MCP server that returns the file that it is started with, as text and as structured content. */
const OTHER_SERVER = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const tools = ['plain', 'structured'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }));
const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'other', version: '1' } };
function resultOf({ method, params }) {
  if (method === 'initialize') return info;
  if (method === 'tools/list') return { tools };
  if (method !== 'tools/call') return undefined;
  const text = readFileSync(process.argv[2], 'utf8');
  if (params.name === 'plain') return { content: [{ type: 'text', text }] };
  return { content: [{ type: 'text', text: 'see there' }], structuredContent: { files: [{ text }] } };
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) return;
  const result = resultOf(request);
  const answer = result === undefined ? { error: { code: -32601, message: 'unknown' } } : { result };
  console.log(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer }));
});
`;
/** What Claude Code may do without asking, as its person said on the command line. */
const ALLOW = ['Edit', 'Write', 'Bash'];

let installation: Installation;
beforeAll(async () => {
  if (clients === undefined) return;
  installation = await install({ warm: true });
  mkdirSync(place('.vscode'));
  mkdirSync(place('private'));
});
beforeEach(() => {
  if (clients !== undefined) writeFileSync(place('app.conf'), CONFIG);
});
afterAll(() => installation?.remove());

const where = () => ({ cwd: installation.project, env: { CONTEXTD_HOME: installation.home } });
const place = (name: string): string => join(installation.project, name);
const contentOf = (name: string): string => readFileSync(place(name), 'utf8');

/** Requests that hold the secret, as text or as base64. */
function leaks({ requests }: Conversation): string[] {
  const spellings = [CANARY, Buffer.from(CANARY).toString('base64').slice(4, -4)];
  return requests.filter((one) => spellings.some((spelling) => one.includes(spelling)));
}

/** The last command that a refusal in the request names. */
function namedCommand(request: string): string {
  const texts: string[] = [];
  JSON.parse(request, (_key, value) => {
    if (typeof value === 'string') texts.push(value);
    return value;
  });
  const named = texts.flatMap((text) => text.match(/^safe_write '.*'/gm) ?? []).at(-1);
  if (named === undefined) throw new Error(`no command in ${request.slice(-2_000)}`);
  return named;
}

async function events(session: string): Promise<string> {
  return (await installation.run(CTXD, ['session', 'show', session])).stdout;
}

describe.skipIf(clients === undefined)('in the real Claude Code', () => {
  const read = (name: string) => ({ tool: 'Read', input: { file_path: place(name) } });
  const edit = (name: string, old_string: string, new_string: string) => ({
    tool: 'Edit',
    input: { file_path: place(name), old_string, new_string },
  });
  const run = (command: string) => ({ tool: 'Bash', input: { command, description: 'a step' } });

  it('issue 19 part 8: no request or transcript holds a secret that Read, Bash and Edit met, and all show it by one number', async () => {
    const home = mkdtempSync(join(tmpdir(), 'client-home-'));
    const conversation = await runClaude(
      claude,
      [
        "safe_read 'app.conf'",
        read('app.conf'),
        'cat app.conf',
        edit('app.conf', 'port = 8080', 'port = 8081'),
        read('app.conf'),
        'safe_read app.conf; echo "$(cat app.conf)"',
      ],
      { ...where(), allow: ALLOW, home },
    );
    const kept = readdirSync(home, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && readFileSync(join(entry.parentPath, entry.name)).includes(CANARY))
      .map(({ name }) => name);
    rmSync(home, { recursive: true });
    expect(kept.filter((name) => name.endsWith('.jsonl'))).toEqual([]);
    const texts = conversation.results.map(({ text }) => text);
    expect(leaks(conversation)).toEqual([]);
    for (const index of [0, 1, 2, 4]) expect(texts[index]).toContain('token = [SECRET_1]');
    expect(texts[5]?.match(/token = \[SECRET_1\]/g)).toHaveLength(2);
    expect(contentOf('app.conf')).toBe(CONFIG.replace('8080', '8081'));
  });

  it('issue 19 part 8: an edit that holds a token is refused or explained, and the command that is named does it', async () => {
    writeFileSync(place('other.conf'), "it's\n");
    const conversation = await runClaude(
      claude,
      [
        read('app.conf'),
        read('other.conf'),
        // Claude Code itself does not find the token in the file; a hook can only explain that.
        edit('app.conf', 'token = [SECRET_1]', "token = '[SECRET_1]'"),
        (_seen, _tools, request) => run(namedCommand(request)),
        edit('other.conf', "it's", "it's [SECRET_1]\nnext"),
        (_seen, _tools, request) => run(namedCommand(request)),
        { tool: 'Write', input: { file_path: place('made.conf'), content: 'a=[SECRET_1]\n' } },
        (_seen, _tools, request) => run(namedCommand(request)),
      ],
      { ...where(), allow: ['Edit', 'Write'] },
    );
    expect(leaks(conversation)).toEqual([]);
    expect(contentOf('app.conf')).toBe(CONFIG.replace(CANARY, `'${CANARY}'`));
    expect(contentOf('other.conf')).toBe(`it's ${CANARY}\nnext\n`);
    expect(contentOf('made.conf')).toBe(`a=${CANARY}\n`);
  });

  it('issue 19 part 8: protected names are refused, also behind a link and in a mode that asks nothing', async () => {
    const git = '.git/hooks/pre-commit';
    mkdirSync(place('.git/hooks'), { recursive: true });
    const write = (name: string, content: string) => ({ tool: 'Write', input: { file_path: place(name), content } });
    const conversation = await runClaude(
      claude,
      [
        'ln -s .git/hooks innocent',
        write(git, '#!/bin/sh\n'),
        write('innocent/pre-push', '#!/bin/sh\n'),
        write('.vscode/tasks.json', '{}'),
        write('.mcp.json', '{}'),
        write('sub/.python-version', '../evil\n'),
        write('sub/notes.md', 'fine\n'),
        write('.claude/bin/x', 'x'),
      ],
      { ...where(), allow: ALLOW },
    );
    const [, hook, link, editor, servers, version, notes, own] = conversation.results;
    expect(hook).toMatchObject({ isError: true, text: expect.stringContaining('.git, which is protected') });
    expect(link).toMatchObject({ isError: true, text: expect.stringContaining('.git, which is protected') });
    expect(editor).toMatchObject({ isError: true, text: expect.stringMatching(/^.*\.vscode is protected: /) });
    expect(servers).toMatchObject({ isError: true, text: expect.stringContaining('.mcp.json is protected: Claude') });
    expect(version).toMatchObject({ isError: true, text: expect.stringContaining('Write it with safe_write') });
    expect(notes).toMatchObject({ isError: false });
    expect(own).toMatchObject({ isError: true });
  });

  it('issue 19 part 8: undo takes back what Edit and Write did, and the session shows both', async () => {
    const { log } = await runClaude(
      claude,
      [
        read('app.conf'),
        edit('app.conf', 'port = 8080', 'port = 1'),
        { tool: 'Write', input: { file_path: place('new/deep.txt'), content: 'x' } },
      ],
      { ...where(), allow: ALLOW },
    );
    const session = /"session_id":"([^"]+)"/.exec(log)?.[1] ?? '';
    const shown = await events(session);
    expect(shown).toMatch(/Edit app\.conf: ok/);
    expect(shown).toMatch(/Write new\/deep\.txt: ok/);
    const last = await installation.run(CTXD, ['undo', '--yes']);
    expect(last.stdout).toContain('new/deep.txt');
    await installation.run(CTXD, ['undo', '--list', '--json']).then(async ({ stdout }) => {
      const call = JSON.parse(stdout).find(({ tool }: { tool: string }) => tool === 'Edit');
      await installation.run(CTXD, ['undo', call.ref, '--yes']);
    });
    expect(contentOf('app.conf')).toBe(CONFIG);
    expect(() => contentOf('new/deep.txt')).toThrow(/ENOENT/);
  });

  it("issue 19 part 8: the person's own rules of the client hold: deny, ask and allow", async () => {
    const file = place('.claude/settings.local.json');
    const settings = readFileSync(file, 'utf8');
    const parsed = JSON.parse(settings);
    const permissions = {
      ...parsed.permissions,
      deny: [...parsed.permissions.deny, 'Read(./private/**)', 'Edit(./fixed.txt)'],
      ask: ['Edit(./asked.txt)'],
      allow: [...parsed.permissions.allow, 'Edit(./free.txt)', 'Edit(./fixed.txt)'],
    };
    for (const name of ['private/key.txt', 'fixed.txt', 'asked.txt', 'free.txt']) writeFileSync(place(name), 'old\n');
    try {
      writeFileSync(file, JSON.stringify({ ...parsed, permissions }));
      const { results } = await runClaude(
        claude,
        [
          read('private/key.txt'),
          ...['fixed.txt', 'asked.txt', 'free.txt', 'app.conf'].flatMap((name) => [
            read(name),
            edit(name, name === 'app.conf' ? 'port' : 'old', 'new'),
          ]),
        ],
        where(),
      );
      expect(results[0]).toMatchObject({ isError: true, text: expect.stringMatching(/denied by your permission/) });
      expect(results.map(({ isError }) => isError)).toEqual([
        true,
        false,
        true,
        false,
        true,
        false,
        false,
        false,
        true,
      ]);
      const after = ['fixed.txt', 'asked.txt', 'free.txt'].map(contentOf);
      expect(after).toEqual(['old\n', 'old\n', 'new\n']);
    } finally {
      writeFileSync(file, settings);
    }
  });

  it('issue 19 part 8: tools of other MCP servers, notebooks and parts of files show no secret', async () => {
    writeFileSync(place('server.mjs'), OTHER_SERVER);
    const server = { command: process.execPath, args: [place('server.mjs'), place('app.conf')], alwaysLoad: true };
    writeFileSync(place('.mcp.json'), JSON.stringify({ mcpServers: { other: server } }));
    const code = { cell_type: 'code', id: 'c1', source: `t = "${CANARY}"`, metadata: {}, execution_count: 1 };
    const outputs = [{ output_type: 'stream', name: 'stdout', text: `${CANARY}\n` }];
    const notebook = { cells: [{ ...code, outputs }], metadata: {}, nbformat: 4, nbformat_minor: 5 };
    writeFileSync(place('a.ipynb'), JSON.stringify(notebook));
    const conversation = await runClaude(
      claude,
      [
        { tool: 'mcp__other__plain', input: {} },
        { tool: 'mcp__other__structured', input: {} },
        read('a.ipynb'),
        { tool: 'Read', input: { file_path: place('app.conf'), offset: 2, limit: 1 } },
      ],
      { ...where(), allow: ['mcp__other'] },
    );
    expect(leaks(conversation)).toEqual([]);
    for (const { text, isError } of conversation.results)
      expect({ text, isError }).toEqual({ text: expect.stringContaining('[SECRET_1]'), isError: false });
  });

  it('issue 19 part 8: a prompt that attaches a file with a secret is blocked before a request is made', async () => {
    const at = { ...where(), allow: ALLOW };
    const blocked = await runClaude(claude, [], { ...at, prompt: 'Explain @app.conf, please.' }).catch(String);
    expect(String(typeof blocked === 'string' ? blocked : blocked.log)).toContain('app.conf holds a secret');
    if (typeof blocked !== 'string') expect(leaks(blocked)).toEqual([]);
    writeFileSync(place('plain.txt'), 'nothing here\n');
    const plain = await runClaude(claude, [read('app.conf')], { ...at, prompt: 'Explain @plain.txt and app.conf.' });
    expect(leaks(plain)).toEqual([]);
    expect(plain.requests[0]).toContain('nothing here');
  });

  it('issue 19 part 8: without a daemon the output is withheld, and without the program the turn ends', async () => {
    const gone = { ...where(), env: { CONTEXTD_HOME: '/proc/contextd' }, allow: ALLOW };
    const conversation = await runClaude(claude, [read('app.conf'), 'cat app.conf'], gone);
    expect(leaks(conversation)).toEqual([]);
    for (const { text } of conversation.results) expect(text).toMatch(/^.*contextd (withheld this output|could not)/s);
    const link = place('.claude/bin/contextd-hook');
    renameSync(link, `${link}.away`);
    try {
      await expect(runClaude(claude, [run('cat app.conf'), 'true'], { ...where(), allow: ALLOW })).rejects.toThrow(
        /the client answered 0 of 2 steps.*contextd-hook does not start/s,
      );
    } finally {
      renameSync(`${link}.away`, link);
    }
  });
});

describe.skipIf(clients === undefined)('in the real OpenCode', () => {
  const hasRipgrep = spawnSync('which', ['rg']).status === 0;
  if (!hasRipgrep) console.warn('SKIPPED: the grep of OpenCode (rg not installed)');
  const call = (tool: string, input: Record<string, unknown>) => ({ tool, input });

  it('issue 19 part 8: no request holds a secret that read, grep, bash, edit or a mentioned file showed', async () => {
    const conversation = await runOpenCode(
      opencode,
      [
        call('read', { filePath: place('app.conf') }),
        hasRipgrep ? call('grep', { pattern: 'token', path: installation.project }) : 'grep -rn token .',
        'cat app.conf',
        call('edit', { filePath: place('app.conf'), oldString: 'port = 8080', newString: 'port = 8081' }),
        "safe_read 'app.conf'",
      ],
      { ...where(), prompt: 'Look at @app.conf, please.' },
    );
    const texts = conversation.results.map(({ text }) => text);
    expect(leaks(conversation)).toEqual([]);
    for (const index of [0, 1, 2, 4]) expect(texts[index]).toContain('token = [SECRET_1]');
    expect(contentOf('app.conf')).toBe(CONFIG.replace('8080', '8081'));
  }, 300_000);

  it('issue 19 part 8: tokens and protected names are refused, and the command that is named does it', async () => {
    const conversation = await runOpenCode(
      opencode,
      [
        call('read', { filePath: place('app.conf') }),
        call('edit', { filePath: place('app.conf'), oldString: '[SECRET_1]', newString: '"[SECRET_1]"' }),
        (_seen, _tools, request) => call('bash', { command: namedCommand(request), description: 'a step' }),
        call('write', { filePath: place('.vscode/settings.json'), content: '{}' }),
        call('write', { filePath: place('kept.txt'), content: 'x' }),
        'echo "$CONTEXTD_SESSION_ID"',
      ],
      where(),
    );
    expect(leaks(conversation)).toEqual([]);
    expect(contentOf('app.conf')).toBe(CONFIG.replace(CANARY, `"${CANARY}"`));
    expect(conversation.results[3]?.text).toContain('.vscode is protected');
    expect(await events(conversation.results[5]?.text.trim() ?? '')).toMatch(/write kept\.txt: ok/);
    const undone = await installation.run(CTXD, ['undo', '--yes']);
    expect(undone.stdout).toContain('kept.txt');
  }, 300_000);

  it('issue 19 part 8: without a daemon or the program the output is withheld, and an edit is refused', async () => {
    const steps = [
      call('bash', { command: 'cat app.conf', description: 'a step' }),
      call('edit', { filePath: place('app.conf'), oldString: 'port', newString: 'door' }),
    ];
    const gone = await runOpenCode(opencode, steps, { ...where(), env: { CONTEXTD_HOME: '/proc/contextd' } });
    const link = place('.claude/bin/contextd-hook');
    renameSync(link, `${link}.away`);
    try {
      const removed = await runOpenCode(opencode, steps, where());
      for (const conversation of [gone, removed]) {
        expect(leaks(conversation)).toEqual([]);
        const [shell, edited] = conversation.results;
        expect(shell?.text).toContain('contextd withheld this output');
        expect(edited?.text).toMatch(/contextd could not judge this call|contextd-hook does not run/);
      }
      expect(contentOf('app.conf')).toBe(CONFIG);
    } finally {
      renameSync(`${link}.away`, link);
    }
  }, 300_000);
});
