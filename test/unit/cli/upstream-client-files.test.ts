import { describe, expect, it } from 'vitest';
import { expandVariables, PERSONAL_FILES, PROJECT_FILES } from '#src/cli/upstream/client-files.js';

/** How clients write that a variable of the person goes here. */
const reference = (inside: string): string => `$\{${inside}}`;

const TOKEN = reference('TOKEN');
const ENTRY = { command: 'npx', args: ['-y', 'tracker'], env: { TOKEN } };

function readAs(path: string, config: object | string) {
  const file = [...PROJECT_FILES, ...PERSONAL_FILES].find((one) => one.path === path);
  if (file === undefined) throw new Error(path);
  return file.read(typeof config === 'string' ? config : JSON.stringify(config), '/home/ann/shop');
}

describe('issue 34 the servers in configurations of clients', () => {
  const forms: readonly [path: string, config: object | string, keys: readonly string[]][] = [
    ['.mcp.json', { mcpServers: { tracker: ENTRY } }, ['mcpServers', 'tracker']],
    [
      'opencode.json',
      `{// a comment\n"mcp":{"tracker":{"type":"local","command":["npx","-y","tracker"],"environment":{"TOKEN":"${TOKEN}"},},}}`,
      ['mcp', 'tracker'],
    ],
    ['.vscode/mcp.json', { servers: { tracker: { type: 'stdio', ...ENTRY } } }, ['servers', 'tracker']],
    [
      '.claude.json',
      { projects: { '/home/ann/shop': { mcpServers: { tracker: ENTRY } }, '/other': { mcpServers: { no: ENTRY } } } },
      ['projects', '/home/ann/shop', 'mcpServers', 'tracker'],
    ],
    [
      '.codex/config.toml',
      `[mcp_servers.tracker]\ncommand = "npx"\nargs = ["-y", "tracker"]\n[mcp_servers.tracker.env]\nTOKEN = "${TOKEN}"\n`,
      ['mcp_servers', 'tracker'],
    ],
  ];
  for (const [path, config, keys] of forms)
    it(`issue 34 are read from ${path}`, () => {
      const server = { command: ['npx', '-y', 'tracker'], url: '', variables: { TOKEN }, headers: [] };
      expect(readAs(path, config)).toEqual([{ name: 'tracker', path: keys, ...server }]);
    });

  it('issue 34 may have a URL with headers', () => {
    const docs = { type: 'http', url: 'https://mcp.example.com/mcp', headers: { 'X-Key': 'k' } };
    expect(readAs('.mcp.json', { mcpServers: { docs } })).toMatchObject([
      { name: 'docs', command: [], url: 'https://mcp.example.com/mcp', headers: ['X-Key'] },
    ]);
  });

  it('issue 34 are neither contextd itself nor entries without a command', () => {
    const mcpServers = {
      contextd: { command: '/opt/bin/ctxd', args: ['mcp', 'serve'] },
      door: { type: 'http', url: 'http://127.0.0.1:41873/mcp' },
      empty: {},
      text: 'no server',
    };
    expect(readAs('.mcp.json', { mcpServers })).toEqual([]);
    expect(readAs('.mcp.json', { mcpServers: [] })).toEqual([]);
  });

  it('issue 34 get the values that clients put in place of references, and lack those that are not set', () => {
    const variables = {
      A: reference('ONE'),
      B: 'x-{env:TWO}',
      C: reference('THREE:-three'),
      D: reference('env:FOUR'),
      E: 'plain',
    };
    const values: Record<string, string> = { ONE: '1', TWO: '2' };
    expect(expandVariables(variables, (name) => values[name])).toEqual({
      values: { A: '1', B: 'x-2', C: 'three', D: '', E: 'plain' },
      missing: ['FOUR'],
      taken: ['ONE', 'TWO'],
    });
  });
});
