import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#src/core/json.js';
import { McpError } from '#src/core/passing.js';
import { generate, seededRandom } from '../../../helpers/secret-samples.ts';
import { type Answers, definitionsOf, type Given, passing, useScanner } from './passing.ts';

useScanner();

const lists = (method: string, key: string, ...entries: JsonObject[]): Answers => {
  return (request) => (request.method === method ? { [key]: entries } : { [request.method]: 'answered' });
};
const secret = (seed: number): string => `ghp_${generate('[a-zA-Z0-9]{36}', seededRandom(seed))}`;

const REVIEW = { name: 'review' };
const QUESTION = {
  resultType: 'input_required',
  inputRequests: { q: { method: 'elicitation/create', params: { message: 'Which?' } } },
};
const ANSWER = { inputResponses: { q: { action: 'accept', content: { which: 'mine' } } } };

/** Two servers; `zeta` asks, and `alpha` can be made to offer the same from then on. */
function twoServers(question: JsonObject) {
  let isStolen = false;
  const answering =
    (isAsking: boolean): Answers =>
    ({ method, params }) => {
      const offers = isAsking || isStolen;
      if (method === 'prompts/list') return { prompts: offers ? [REVIEW] : [] };
      if (method === 'resources/list') return { resources: offers ? [{ uri: 'x://review', name: 'review' }] : [] };
      if (method === 'resources/templates/list') return { resourceTemplates: [] };
      return isAsking && params.inputResponses === undefined ? question : { messages: [] };
    };
  const offers = definitionsOf('prompt', REVIEW);
  const at = passing({ alpha: { answers: answering(false), offers }, zeta: { answers: answering(true), offers } });
  return {
    ...at,
    steal() {
      isStolen = true;
    },
  };
}

const withAnswers = (at: { sent: { server: string; params: JsonObject }[] }) =>
  at.sent.flatMap(({ server, params: { inputResponses, requestState } }) =>
    inputResponses === undefined && requestState === undefined ? [] : [[server, requestState]],
  );

describe.each([
  ['prompts/get', { name: 'review' }],
  ['resources/read', { uri: 'x://review' }],
] as const)('a question of a server to %s', (method, params) => {
  it('issue 34: is answered to the server that asked, although another offers the same meanwhile', async () => {
    for (const [state, question] of [
      ['of zeta', { ...QUESTION, requestState: 'of zeta' }],
      [undefined, QUESTION],
    ] as const) {
      const at = twoServers(question);
      const { requestState } = await at.ask(method, params);
      if (typeof requestState !== 'string') throw new Error('no state came');
      at.steal();
      await at.ask(method, { ...params, ...ANSWER, requestState });
      expect(withAnswers(at)).toEqual([['zeta', state]]);
    }
  });

  it('issue 34: is refused if the server that asked is gone, or another has taken its name', async () => {
    for (const replace of [
      (servers: Record<string, Given>) => Reflect.deleteProperty(servers, 'zeta'),
      (servers: Record<string, Given>) =>
        Object.assign(servers, { zeta: { ...servers.alpha, answers: () => ({}), addedMs: 2 } }),
    ]) {
      const at = twoServers({ ...QUESTION, requestState: 'of zeta' });
      const { requestState } = await at.ask(method, params);
      at.steal();
      replace(at.servers);
      const again = at.ask(method, { ...params, ...ANSWER, requestState: requestState ?? '' });
      await expect(again).rejects.toMatchObject({ data: { reason: 'invalid_request_state' } });
      expect(withAnswers(at)).toEqual([]);
    }
  });

  it('issue 34: keeps its answers if they come without their state', async () => {
    const at = twoServers(QUESTION);
    await at.ask(method, params);
    at.steal();
    await at.ask(method, { ...params, ...ANSWER });
    expect(withAnswers(at)).toEqual([]);
  });
});

describe('what a server answers to a call', () => {
  it('issue 34: its state is not accepted for the tool of another server', async () => {
    const answers: Answers = ({ params }) =>
      params.inputResponses === undefined ? { ...QUESTION, requestState: 'of zeta' } : { content: [] };
    const at = passing({ alpha: { answers }, zeta: { answers } });
    const answer = await at.call('zeta', {});
    const requestState = answer !== undefined && 'result' in answer ? answer.result.requestState : undefined;
    expect(requestState).toEqual(expect.any(String));
    const stolen = await at.call('alpha', { ...ANSWER, requestState: requestState ?? '' });
    expect(stolen).toMatchObject({ error: { data: { reason: 'invalid_request_state' } } });
    expect(withAnswers(at)).toEqual([]);
    expect(await at.call('zeta', { ...ANSWER, requestState: requestState ?? '' })).toEqual({ result: { content: [] } });
    expect(withAnswers(at)).toEqual([['zeta', 'of zeta']]);
  });

  it('issue 34: secrets are masked wherever the protocol has neither a state nor bytes', async () => {
    const [token, key] = [secret(1), generate('AKIA[A-Z2-7]{16}', seededRandom(3))];
    const bytes = { type: 'image', data: Buffer.from('an image').toString('base64'), mimeType: 'image/png' };
    const hidden = { requestState: token, data: key, blob: key, mimeType: 'text/plain', uri: 'x://y', type: 'image' };
    const answers: Answers = (request) => {
      request.notify({ method: 'notifications/message', params: { level: 'info', data: hidden } });
      return { content: [bytes], structuredContent: hidden, _meta: { nested: hidden } };
    };
    const at = passing({ one: { answers } });
    const answer = await at.call('one', {});
    expect(answer).toMatchObject({ result: { content: [bytes] } });
    expect(at.heard).toHaveLength(1);
    const shown = JSON.stringify([answer, at.heard]);
    expect(shown).not.toContain(token);
    expect(shown).not.toContain(key);
    const failing: Answers = () => {
      throw new McpError(-32_000, 'no', hidden);
    };
    const failed = passing({ one: { answers: failing } });
    expect(JSON.stringify(await failed.call('one', {}))).not.toMatch(new RegExp(`${token}|${key}`));
  });

  it('SEC-1.3 issue 34: what only gitleaks finds is masked in results, notifications, questions and errors', async () => {
    const hush = `hush-${'123456789012'}`;
    const hidden = { text: `a ${hush} b`, [hush]: [hush] };
    const answers: Answers = ({ client, notify }) => {
      notify({ method: 'notifications/progress', params: { message: hush } });
      client.notify({ method: 'notifications/message', params: { data: hidden } });
      client.ask({ method: 'elicitation/create', params: { message: hush } }, new AbortController().signal);
      return { content: [{ type: 'text', text: hush }], structuredContent: hidden };
    };
    const at = passing({ one: { answers } });
    const answer = await at.call('one', {});
    const failing: Answers = () => {
      throw new McpError(-32_000, hush, hidden);
    };
    const failed = await passing({ one: { answers: failing } }).call('one', {});
    await setImmediate();
    expect([at.heard.length, at.questions.length]).toEqual([2, 1]);
    for (const shown of [answer, failed, ...at.heard, ...at.questions]) {
      expect(JSON.stringify(shown)).toContain('[SECRET');
      expect(JSON.stringify(shown)).not.toContain(hush);
    }
  });

  it('issue 34: only requests and notifications of the protocol reach a client', async () => {
    const asked: unknown[] = [];
    const answers: Answers = ({ client, notify }) => {
      for (const method of [`notifications/${secret(4)}`, 'tools/list', 'notifications/progress']) {
        notify({ method, params: {} });
        client.notify({ method, params: {} });
      }
      for (const method of ['tools/list', 'initialize', 'elicitation/create', 'sampling/createMessage', 'roots/list'])
        asked.push(client.ask({ method, params: {} }, new AbortController().signal).catch(() => 'refused'));
      return { content: [] };
    };
    const at = passing({ one: { answers } });
    await at.call('one', {});
    expect(await Promise.all(asked)).toEqual(['refused', 'refused', {}, {}, {}]);
    expect(at.questions.map(({ method }) => method)).not.toContain('tools/list');
    expect(at.heard.map(({ method }) => method)).toEqual(['notifications/progress', 'notifications/progress']);
    const inputRequests = { q: { method: 'tools/list', params: {} } };
    const asking = passing({ one: { answers: () => ({ ...QUESTION, inputRequests, requestState: 'x' }) } });
    expect(await asking.call('one', {})).toMatchObject({ error: { code: -32_603 } });
  });
});

describe('what a person has not accepted or has denied', () => {
  const [old, changed, added] = [{ name: 'old' }, { name: 'changed' }, { name: 'added' }];
  const prompts = lists('prompts/list', 'prompts', old, { ...changed, description: 'Now something else.' }, added);

  it('issue 34: prompts that are new or changed are neither listed nor got nor completed', async () => {
    const at = passing({ one: { answers: prompts, offers: definitionsOf('prompt', old, changed) } });
    expect(await at.ask('prompts/list')).toEqual({ prompts: [old] });
    expect(await at.ask('prompts/get', old)).toEqual({ 'prompts/get': 'answered' });
    for (const name of ['changed', 'added']) {
      await expect(at.ask('prompts/get', { name })).rejects.toThrow(McpError);
      await expect(at.ask('completion/complete', { ref: { type: 'ref/prompt', name } })).rejects.toThrow(McpError);
    }
  });

  it('issue 34: templates that are new or changed are neither listed nor read through nor completed', async () => {
    const [known, fresh] = ['known://{id}', 'fresh://{id}'].map((uriTemplate) => ({ uriTemplate, name: uriTemplate }));
    const answers = lists('resources/templates/list', 'resourceTemplates', known ?? {}, fresh ?? {});
    const at = passing({ one: { answers, offers: definitionsOf('template', known ?? {}) } });
    expect(await at.ask('resources/templates/list')).toEqual({ resourceTemplates: [known] });
    expect(await at.ask('resources/read', { uri: 'known://1' })).toEqual({ 'resources/read': 'answered' });
    await expect(at.ask('resources/read', { uri: 'fresh://1' })).rejects.toThrow('Resource not found');
    await expect(at.ask('resources/subscribe', { uri: 'fresh://1' })).rejects.toThrow('Resource not found');
    const ref = { type: 'ref/resource', uri: 'fresh://{id}' };
    await expect(at.ask('completion/complete', { ref })).rejects.toThrow(McpError);
  });

  it('issue 34: a resource or prompt whose id is denied does not exist, although a template matches it', async () => {
    const [secretOne, plain] = ['secret', 'plain'].map((name) => ({ uri: `mm://${name}`, name }));
    const template = { uriTemplate: 'mm://{name}', name: 'any' };
    const answers: Answers = (request) => {
      if (request.method === 'resources/list') return { resources: [secretOne ?? {}, plain ?? {}] };
      if (request.method === 'resources/templates/list') return { resourceTemplates: [template] };
      return prompts(request);
    };
    const offers = [...definitionsOf('template', template), ...definitionsOf('prompt', old, added)];
    const at = passing({ mm: { answers, offers } }, ['resource::mm:secret*', 'prompt::mm:added*']);
    expect(await at.ask('resources/list')).toEqual({ resources: [plain] });
    expect(await at.ask('prompts/list')).toEqual({ prompts: [old] });
    expect(await at.ask('resources/read', { uri: 'mm://plain' })).toEqual({ 'resources/read': 'answered' });
    await expect(at.ask('resources/read', { uri: 'mm://secret' })).rejects.toThrow('Resource not found');
    await expect(at.ask('prompts/get', added)).rejects.toThrow(McpError);
  });
});

describe('a server of which something is denied', () => {
  const [hidden, open] = ['hidden', 'open'].map((name) => ({ uri: `mm://${name}`, name }));
  const template = { uriTemplate: 'mm://{name}', name: 'any' };
  const prompt = { name: 'hidden' };
  /** Its server says in its own words that it does not have something; to subscribe always succeeds. */
  const answers: Answers = (request) => {
    if (request.method === 'resources/list') return { resources: [hidden ?? {}, open ?? {}] };
    if (request.method === 'resources/templates/list') return { resourceTemplates: [template] };
    if (request.method === 'prompts/list') return { prompts: [prompt] };
    if (request.method.endsWith('subscribe')) return {};
    throw new McpError(-32_602, `mm knows no ${JSON.stringify(request.params)}`);
  };

  it.each<[string, (name: string) => JsonObject]>([
    ['resources/read', (name) => ({ uri: `mm://${name}` })],
    ['resources/read', (name) => ({ uri: `mm:${name}` })],
    ['resources/subscribe', (name) => ({ uri: `mm:///${name}` })],
    // The template that makes it is allowed.
    ['resources/subscribe', (name) => ({ uri: `mm://${name}` })],
    ['resources/unsubscribe', (name) => ({ uri: `mm://${name}` })],
    ['completion/complete', (name) => ({ ref: { type: 'ref/resource', uri: `hidden://{${name}}` } })],
    ['completion/complete', (name) => ({ ref: { type: 'ref/prompt', name } })],
    ['prompts/get', (name) => ({ name })],
  ])(
    'decision 0131: %s is answered the same for what is denied and for what does not exist',
    async (method, params) => {
      const secret = { uriTemplate: 'hidden://{hidden}', name: 'hidden-any' };
      const offers = [...definitionsOf('template', template, secret), ...definitionsOf('prompt', prompt)];
      const hiddenOnes = [{ uri: 'mm:///hidden', name: 'hidden' }, { uri: 'mm:hidden', name: 'hidden' }, hidden ?? {}];
      const seen = [...offers, ...definitionsOf('resource', ...hiddenOnes, open ?? {})];
      const at = passing({ mm: { answers, offers, seen } }, ['resource::mm:hidden*', 'prompt::mm:hidden*']);
      const said = async (name: string) => {
        const answered = await at
          .ask(method, params(name))
          .catch(({ code, message, data }: McpError) => ({ code, message, data }));
        return JSON.stringify(answered).replaceAll(name, 'NAME');
      };
      expect(await said('hidden')).toBe(await said('absent'));
      expect(await said('absent')).not.toContain('mm knows no');
    },
  );
});

describe('what a server says of itself', () => {
  const notices = [
    'message',
    'resources/updated',
    'resources/list_changed',
    'prompts/list_changed',
    'tools/list_changed',
  ];

  it.each([
    ['nothing', [], notices],
    ['its log', ['one:logging'], notices.slice(1)],
    ['its resources', ['one:resources'], ['message', 'prompts/list_changed', 'tools/list_changed']],
    ['its prompts', ['one:prompts'], notices.filter((one) => !one.startsWith('prompts'))],
  ])('decision 0131: reaches a client without what gateway.access denies of it: %s', async (_what, deny, expected) => {
    const answers: Answers = ({ client, notify }) => {
      for (const notice of notices)
        for (const hear of [client.notify, notify]) hear({ method: `notifications/${notice}`, params: {} });
      return { content: [] };
    };
    const at = passing({ one: { answers } }, deny);
    await at.call('one', {});
    expect(at.heard.map(({ method }) => method)).toEqual(
      expected.flatMap((one) => [one, one].map((of) => `notifications/${of}`)),
    );
  });
});

describe('a server that never answers', () => {
  it('issue 34: does not stop lists, reads and levels of the others', async () => {
    const resource = { uri: 'x://one', name: 'one' };
    const answers = lists('resources/list', 'resources', resource);
    const at = passing({ mute: { answers: () => undefined }, one: { answers } });
    for (const [method, params, expected] of [
      ['resources/list', {}, { resources: [resource] }],
      ['resources/read', { uri: 'x://one' }, { 'resources/read': 'answered' }],
      ['logging/setLevel', { level: 'error' }, {}],
    ] as const) {
      const asked = at.ask(method, params);
      // Until it waits for the mute server only.
      while (!at.sent.some(({ server }) => server === 'mute')) await setImmediate();
      await setImmediate();
      at.late();
      await setImmediate();
      at.late();
      expect(await asked).toEqual(expected);
      at.sent.length = 0;
    }
  });
});

describe('a list without an end', () => {
  const endless = (entriesOf: (page: number) => JsonObject[]): Answers => {
    let page = 0;
    return ({ method }) => {
      if (method === 'resources/list') return { resources: entriesOf(page++), nextCursor: String(page) };
      return { [method]: 'answered' };
    };
  };
  const entry = (name: string, chars: number) => ({ uri: `x://${name}`, name, description: 'x'.repeat(chars) });

  it.each<[string, (page: number) => JsonObject[], number, number]>([
    ['of small entries', (page) => [entry(`${page}`, 10)], 64, 64],
    ['of large pages', (page) => [entry(`${page}`, 1_000_000), entry(`small ${page}`, 10)], 17, 17],
    ['of entries that are large together', (page) => [entry(`${page}`, 100_000)], 20, 64],
  ])('issue 34: %s is read within the bounds of every list, also for a read', async (_what, entriesOf, most, pages) => {
    const at = passing({ one: { answers: endless(entriesOf) } });
    const { resources } = await at.ask('resources/list');
    expect(resources).toHaveLength(most);
    expect(JSON.stringify(resources).length).toBeLessThan(2 * 1024 * 1024 + 100_000);
    expect(at.sent).toHaveLength(pages);
    expect(await at.ask('resources/read', { uri: 'x://none' })).toEqual({ 'resources/read': 'answered' });
    expect(at.sent.filter(({ method }) => method === 'resources/list')).toHaveLength(2 * pages);
  });
});
