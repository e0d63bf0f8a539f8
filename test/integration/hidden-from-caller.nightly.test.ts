import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallRequest } from '#src/call/request.js';
import { SURFACES } from '#src/core/surfaces.js';
import { acceptance } from '#src/features/projects/registered-projects.js';
import { watchTools } from '#src/features/tools/callable-tools.js';
import { parseCatalogueFile } from '#src/upstream/catalogue-file.js';
import { type ComposedDaemon, composeDaemon } from '../helpers/composed-daemon.ts';

const EMPTY = { tools: [], resources: [], resourceTemplates: [], prompts: [] };
type Lists = Record<keyof typeof EMPTY, object[]>;

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object', ...more } });
const SHOWN: Lists = {
  tools: [tool('send'), tool('secretly')],
  resources: [{ uri: 'docs://open', name: 'open', text: 'x' }],
  resourceTemplates: [{ uriTemplate: 'docs://pages/{name}', name: 'page' }],
  prompts: [{ name: 'review', arguments: [{ name: 'repo' }] }],
};
const HIDDEN: Lists = {
  tools: [tool('secret'), tool('hashed'), { ...tool('versioned'), _meta: { version: '1.0.0' } }],
  resources: [
    { uri: 'docs://secret', name: 'secret', text: 'x' },
    { uri: 'docs://hashed', name: 'hashed', text: 'x' },
  ],
  resourceTemplates: [{ uriTemplate: 'keys://{name}', name: 'secret-keys' }],
  prompts: [{ name: 'secret', arguments: [{ name: 'repo' }] }],
};
/** Waits for a person. */
const LATER: Lists = {
  ...EMPTY,
  tools: [tool('hashed', { title: 'x' }), tool('secret', { properties: { late: {} } })],
};

function joined(...all: Lists[]): Lists {
  const lists = { ...EMPTY };
  for (const key of Object.keys(EMPTY) as (keyof Lists)[]) lists[key] = all.flatMap((one) => one[key]) as never[];
  return lists;
}

/** The same settings; only one has what they hide. */
let having: ComposedDaemon;
let lacking: ComposedDaemon;
/** Ids of what is hidden. */
let ids: string[];

async function add(to: ComposedDaemon, name: string, lists: Lists): Promise<void> {
  const { tools: seen, leftOut, answers } = await parseCatalogueFile(JSON.stringify(lists));
  const catalogue = { path: '/x', leftOut, answers };
  const none = { command: [], url: '', usesCredential: false, hosts: [], paths: [], project: 'none' as const };
  const server = { project: to.project, name, spec: { ...none, catalogue }, variables: {}, addedMs: 0, givenBy: 'me' };
  await to.upstreams.add({ ...server, accepted: null, seen });
}

/** The server `lib` has what is shown, `vault` nothing. Of what is hidden, a part is accepted and a part waits. */
async function open(access: object, shown: Lists, isHaving: boolean): Promise<ComposedDaemon> {
  const daemon = await composeDaemon({ gateway: { access } });
  for (const [name, lists] of Object.entries({ lib: shown, vault: EMPTY })) {
    await add(daemon, name, isHaving ? joined(lists, HIDDEN) : lists);
    if (isHaving) await add(daemon, name, joined(lists, { ...HIDDEN, tools: HIDDEN.tools.slice(0, 1) }, LATER));
  }
  return daemon;
}

/** What a caller reads of an answer that is text: its surface and its door decide the words. */
async function printed(
  { gate, requestOf, project }: ComposedDaemon,
  verb: string,
  input: object,
  way: Pick<CallRequest, 'surface'> & { door?: 'shell' },
): Promise<string> {
  const { door, ...surface } = way;
  const request = requestOf(verb, input, { form: 'text', ...(door === undefined ? {} : { door }) });
  const { text, errorLine, exitCode } = await gate.dispatch({ ...request, ...surface });
  return JSON.stringify([verb, input, text, errorLine, exitCode]).replaceAll(project, 'PROJECT');
}

/** Without what differs between any two calls. */
async function answer(daemon: ComposedDaemon, verb: string, input: object): Promise<string> {
  const { data, error, success } = await daemon.call(verb, input);
  return JSON.stringify([verb, input, success, error, data]).replaceAll(daemon.project, 'PROJECT');
}

/** Whatever else a caller may ask for. */
const NAMES = [
  ...['secret', 'hashed', 'versioned', 'secret-keys', 'send', 'nothing', 'vault', 'lib secret'],
  ...['docs://secret', 'docs://SECRET', 'docs://%73ecret', 'docs://pages/x', 'keys://a', 'docs://none'],
  ...['vault:none', 'lib:none', 'resource::vault:none', 'prompt::vault:none'],
];
const kindOf = (id: string): string => id.split('::').at(-2) ?? 'tool';
const PATHS = ['/', '/lib', '/vault', '/lib/secret', '/lib/*', '/vault/*', '/contextd'];
const VERBS: Record<string, string> = {
  tool_hydrate: 'tool_id',
  tool_execute: 'tool_id',
  resource_read: 'resource_id',
  prompt_get: 'prompt_id',
  tool_browse: 'query',
  resource_browse: 'query',
  prompt_browse: 'query',
};

/** All that is hidden, by its whole id: with the hash, so that another tool of the name is not meant. */
const wholeIds = (): string[] => ids.filter((id) => !/:(?:send|secretly|open|page|review)[@#]/.test(id));

describe.each<[string, Lists, () => object]>([
  [
    'deny by names',
    SHOWN,
    () => ({ deny: ['*:secret', 'lib:hashed', 'lib:versioned', '*:secret-keys', '*:hashed', 'vault:*', '*::vault:*'] }),
  ],
  ['deny by whole ids', SHOWN, () => ({ deny: wholeIds() })],
  [
    'allow and read_only',
    SHOWN,
    () => ({ read_only: true, allow: ['*', 'lib:send', 'lib:secretly'], deny: wholeIds() }),
  ],
  [
    'deny of all resources and prompts',
    { ...EMPTY, tools: SHOWN.tools },
    () => ({ deny: ['*:resources', '*:prompts', ...wholeIds()] }),
  ],
])('gateway.access: %s', (_what, shown, access) => {
  beforeAll(async () => {
    const all = await composeDaemon({});
    await add(all, 'lib', joined(SHOWN, HIDDEN));
    await add(all, 'vault', HIDDEN);
    const { tools, resources, prompts } = await all.upstreams.snapshot(all.project);
    ids = [...tools, ...resources, ...prompts].map(({ id }) => id);
    await all.remove();
    having = await open(access(), shown, true);
    lacking = await open(access(), shown, false);
  });
  afterAll(async () => {
    await having?.remove();
    await lacking?.remove();
  });

  it('CE-1.1 every surface lists the same as if the hidden did not exist', async () => {
    for (const surface of SURFACES) {
      const listed = async (at: ComposedDaemon) => {
        const { signal } = new AbortController();
        return watchTools({ root: at.project, knownVersion: '', surface, signal }, { ...at, standardSurface: 'tools' });
      };
      expect(await listed(having)).toEqual(await listed(lacking));
    }
  });

  it('CE-1.1 every verb answers byte for byte as if the hidden did not exist', async () => {
    const hidden = wholeIds().flatMap((id) => [id, id.replace(/[@#].*$/, ''), id.slice(0, -1)]);
    const inputs = [...new Set([...hidden, ...NAMES])].flatMap((form): [string, object][] => [
      ...Object.entries(VERBS).flatMap(([verb, key]): [string, object][] =>
        NAMES.includes(form) || verb.startsWith(kindOf(form)) ? [[verb, { [key]: form }]] : [],
      ),
      [form, {}],
    ]);
    const paths = PATHS.flatMap((path) =>
      Object.keys(VERBS)
        .filter((verb) => VERBS[verb] === 'query')
        .map((verb): [string, object] => [verb, { path, top_k: 50 }]),
    );
    for (const [verb, input] of [...paths, ...inputs])
      expect(await answer(having, verb, input)).toBe(await answer(lacking, verb, input));
  });

  it('CE-1.1 what is hidden is read, got and run in the words of each surface and of a shell as what does not exist', async () => {
    const kinds: Record<string, string> = { tool: 'tool_execute', resource: 'resource_read', prompt: 'prompt_get' };
    const ways = [...SURFACES.map((surface) => ({ surface })), {}, { door: 'shell' as const }];
    for (const form of [...wholeIds(), 'docs://secret', 'docs://none', 'vault:none']) {
      const verb = kinds[form.startsWith('docs:') ? 'resource' : kindOf(form)] ?? 'tool_execute';
      const input = { [VERBS[verb] ?? '']: form };
      for (const way of ways)
        expect(await printed(having, verb, input, way)).toBe(await printed(lacking, verb, input, way));
    }
  });
});

describe('gateway.access: a denied tool that the project has not accepted, or not as it is now', () => {
  it.each(['not accepted', 'another hash'])('CE-1.1 is answered as one that does not exist: %s', async (how) => {
    const daemon = await composeDaemon({ gateway: { access: { deny: ['jobs'] } } });
    try {
      const accepted = daemon.catalog.list().map(acceptance);
      const kept = accepted.flatMap((one) => {
        if (one.name !== 'jobs') return [one];
        return how === 'not accepted' ? [] : [{ ...one, bundleSha256: 'f'.repeat(64) }];
      });
      await daemon.projects.register(daemon.project, kept);
      const hidden = await answer(daemon, 'jobs', {});
      expect(hidden).toContain('TOOL_NOT_FOUND');
      expect(hidden.replaceAll('jobs', 'jxbs')).toBe(await answer(daemon, 'jxbs', {}));
    } finally {
      await daemon.remove();
    }
  });
});
