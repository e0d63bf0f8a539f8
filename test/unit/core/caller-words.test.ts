import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMON_OPTIONS, createArgumentCompiler } from '#src/catalog/arguments.js';
import { surfaceWords } from '#src/core/caller-words.js';
import { ContextdError, ERROR_TABLE, isErrorCode } from '#src/core/errors.js';
import { SURFACES, type Surface } from '#src/core/surfaces.js';
import { failedOutcome } from '#src/dispatch/call.js';
import { inCallersWords } from '#src/dispatch/caller-words.js';
import { SURFACE_VIEWS } from '#src/mcp/surfaces/surface-views.js';
import type { McpCall } from '#src/mcp/tools.js';
import { OWN_TOOLS, strangersIn } from '../../helpers/named-tools.ts';
import { ownMessages } from '../../helpers/own-messages.ts';

const compile = createArgumentCompiler('core');
const NAMED = new Map(
  OWN_TOOLS.map(({ name }) => {
    const schema = readFileSync(join(import.meta.dirname, '../../../tools', name, 'schema.json'), 'utf8');
    const { primary, names } = compile(name, JSON.parse(schema));
    return [name, { primary, names: [...names, ...COMMON_OPTIONS] }];
  }),
);
const isHost = (name: string): boolean => OWN_TOOLS.some((one) => one.name === name && one.isHost);
const byName = OWN_TOOLS.filter((one) => !one.isHost).map(({ name }) => name);

/** What each surface lists, also in a project without MCP servers. */
const LISTED: Readonly<Record<Surface, readonly string[]>> = {
  tools: byName,
  gateway: ['tool_browse', 'tool_execute', 'tool_view'],
  compact: ['search', 'schema', 'call', 'batch'],
  proxy: ['tool_hydrate', 'tool_execute'],
  passthrough: byName,
};

const wordsOn = (surface: Surface, called: string, denied: readonly string[] = []) =>
  surfaceWords(
    {
      surface,
      called,
      isListedByName: (name) => NAMED.has(name) && !isHost(name),
      isDenied: (name) => denied.includes(name),
    },
    NAMED,
  );

const CODES = Object.keys(ERROR_TABLE).filter(isErrorCode);
/** Messages of the daemon and its tools that name flags. */
const ADVISED = ownMessages().filter((message) => /(?<![\w-])--[a-z]/.test(message));
const ADVICE = ownMessages().filter((message) => strangersIn(message, []).length > 0);

/** The calls that a client of a surface reaches the daemon with. */
async function reached(surface: Surface, spelled: string): Promise<{ tool: string; args: unknown }> {
  const [, name = '', json = '{}'] = /^(\S+)(?: (.*))?$/.exec(spelled) ?? [];
  const calls: McpCall[] = [];
  const tools = {
    list: async () => [],
    find: async () => undefined,
    async call(call: McpCall) {
      calls.push(call);
      return { line: '', stdout: '', stderr: '', errorLine: '' };
    },
  };
  const { signal } = new AbortController();
  await SURFACE_VIEWS[surface].call({ name, args: JSON.parse(json), signal }, tools);
  const [call] = calls;
  const given = JSON.parse(call?.inputJson.toString() ?? '{}');
  return call?.tool === 'tool_execute'
    ? { tool: given.tool_id, args: given.args }
    : { tool: call?.tool ?? '', args: given };
}

describe('issue 34: what contextd says to a client of MCP', () => {
  it('is a message of the program', () => {
    expect(ADVICE.length).toBeGreaterThan(CODES.length);
  });

  it.each(SURFACES)('names only tools that the surface %s has, whatever the error', (surface) => {
    for (const called of ['safe_bash', 'tool_view', ...LISTED[surface].filter((name) => NAMED.has(name))]) {
      const words = wordsOn(surface, called);
      // A client that called a tool knows it.
      const known = [...LISTED[surface], called];
      for (const [at, remedy] of ADVICE.entries()) {
        const code = CODES[at % CODES.length] ?? 'INTERNAL_ERROR';
        const { failure } = inCallersWords(failedOutcome(new ContextdError(code, 'no', { remedy })), words);
        const strangers = strangersIn(failure?.remedy ?? '', known);
        if (strangers.length > 0) expect.fail(`${code}: ${failure?.remedy} names ${strangers}`);
      }
    }
  });

  it.each(SURFACES)('names no tool that a person denied, on the surface %s', (surface) => {
    const { advice } = wordsOn(surface, 'safe_bash', ['safe_write', 'tool_execute', 'tool_browse']);
    const left = ADVICE.map((text) => advice(text)).filter((said) =>
      strangersIn(said, []).some((name) => ['safe_write', 'tool_execute', 'tool_browse'].includes(name)),
    );
    expect(left).toEqual([]);
  });

  it.each(SURFACES)('names no flag of a tool, whatever the message, on the surface %s', (surface) => {
    const names = new Set([...NAMED.values()].flatMap((one) => one.names));
    const { advice } = wordsOn(surface, 'safe_bash');
    const left = ADVISED.flatMap((text) => {
      const said = advice(text).replaceAll(/`[^`-][^`]*`|\bctxd [^.;`]*/g, '');
      const flags = [...said.matchAll(/(?<![\w-])--([a-z][a-z-]*)/g)].map(([, flag = '']) => flag);
      return flags.some((flag) => names.has(flag.replaceAll('-', '_'))) ? [said] : [];
    });
    expect(left).toEqual([]);
  });

  it.each(SURFACES)(
    'describes each tool of contextd without anything of a command line, on the surface %s',
    (surface) => {
      const tools = join(import.meta.dirname, '../../../tools');
      const said = OWN_TOOLS.flatMap(({ name }) => {
        const [schema = '', manifest = '', document = ''] = ['schema.json', 'tool.json', 'TOOL.md'].map((file) =>
          readFileSync(join(tools, name, file), 'utf8'),
        );
        const shown = wordsOn(surface, 'tool_hydrate').advice(document);
        return [schema, JSON.parse(manifest).purpose, shown].map((text) => `${name}: ${text}`);
      });
      expect(said.filter((text) => /(?<![\w-])--[a-z]|@file|\bdescriptor \d/.test(text))).toEqual([]);
    },
  );

  it.each(SURFACES.filter((surface) => surface !== 'tools' && surface !== 'passthrough'))(
    'spells calls that reach the tool that was meant, on the surface %s',
    async (surface) => {
      const words = wordsOn(surface, 'tool_execute');
      const meant: readonly [text: string, tool: string, args: object][] = [
        ['`safe_read src/a.ts --lines 10-20`', 'safe_read', { path: 'src/a.ts', lines: '10-20' }],
        ["`safe_bash 'it'\\''s'`", 'safe_bash', { command: "it's" }],
        ['`tool_view art_1`', 'tool_view', { ref: 'art_1' }],
        [`safe_jobs '{"action":"stop","job":1}'`, 'jobs', { action: 'stop', job: 1 }],
        ['`checkpoint_restore cp_1`', 'checkpoint_restore', { id: 'cp_1' }],
        [`\`tool_execute safe_bash '{"command":"ls"}'\``, 'safe_bash', { command: 'ls' }],
      ];
      for (const [text, tool, args] of meant)
        expect(await reached(surface, words.advice(text).replaceAll('`', '')), text).toEqual({ tool, args });
      const browse = await reached(surface, words.advice("`tool_browse 'run a command'`").replaceAll('`', ''));
      expect(browse).toEqual({ tool: 'tool_browse', args: { query: 'run a command' } });
    },
  );

  it.each<[Surface, string, string]>([
    ['gateway', 'Look: `tool_view art_1`.', 'Look: `tool_view {"handle":"art_1"}`.'],
    ['compact', 'Look around: `tool_browse --path /`.', 'Look around: `search {"namespace":"/"}`.'],
    ['compact', 'tool_hydrate shows its schema.', 'schema shows its schema.'],
    ['tools', 'Write it with safe_write.', 'Write it with safe_write.'],
    ['tools', 'tool_hydrate shows its schema.', 'The list of tools shows its schema.'],
    ['passthrough', 'Find it again with tool_browse.', 'Find it again with the list of tools.'],
    ['proxy', 'Ask `safe_jobs --help --extended`.', 'Ask `tool_hydrate {"tool_id":"jobs"}`.'],
    [
      'gateway',
      'See `safe_read --schema`.',
      'See `tool_execute {"tool_id":"tool_hydrate","args":{"tool_id":"safe_read"}}`.',
    ],
    ['gateway', 'Use a larger --timeout-ms, or its own --yes.', 'Use a larger timeout_ms, or its own --yes.'],
    [
      'gateway',
      'Use `--background --tty` (in JSON `"background":true,"tty":true`), or --stdin.',
      'Use `"background":true,"tty":true`, or stdin.',
    ],
    [
      'gateway',
      'A person can: `ctxd upstream add NAME --path .`, or: ctxd upstream add NAME --path . -- node',
      'A person can: `ctxd upstream add NAME --path .`, or: ctxd upstream add NAME --path . -- node',
    ],
    ['gateway', 'A person runs `ctxd init` for "safe_bash".', 'A person runs `ctxd init` for "safe_bash".'],
  ])('puts into the words of %s: %s', (surface, text, said) => {
    expect(
      wordsOn(surface, surface === 'passthrough' || surface === 'compact' ? 'tool_execute' : 'safe_bash').advice(text),
    ).toBe(said);
  });

  it('names arguments as the surface does', () => {
    expect(wordsOn('compact', 'tool_execute').message('/args must be an object')).toBe('/input must be an object');
    expect(wordsOn('gateway', 'tool_view').message('/view is wrong, /reference is not')).toBe(
      '/selector is wrong, /reference is not',
    );
    expect(wordsOn('compact', 'tool_browse').advice('Known properties: query, path, top_k. Fix it.')).toBe(
      'Known properties: query, namespace, limit. Fix it.',
    );
    expect(wordsOn('compact', 'tool_browse').message('tool_browse takes one')).toBe('search takes one');
  });
});
