import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemTimer } from '#src/core/clock.js';
import { silentLogger } from '#src/core/log.js';
import { Distiller } from '#src/features/memory/distill/distiller.js';
import { HttpLessonWriter } from '#src/features/memory/distill/lesson-writer.js';
import type { RecordedCall } from '#src/features/memory/distill/lessons.js';
import type { MemoryDraft } from '#src/features/memory/item.js';
import { makeTempDir } from '../../stores/open-stores.ts';
import { HandTimer } from './open-member.ts';
import { openTestMemories, PROJECT, type TestMemories } from './open-memories.ts';

const call = (requestId: string, subject: string, error?: string): RecordedCall => ({
  requestId,
  session: 'one',
  subject,
  detail: '',
  kind: 'command',
  isFailure: error !== undefined,
  changesFiles: false,
  error: error ?? '',
});
const CALLS = [call('req_1', 'npm test', 'no such table'), call('req_2', 'npm run migrate'), call('req_3', 'npm test')];
const ASKED = { project: PROJECT, requestIds: CALLS.map(({ requestId }) => requestId), task: '', outcome: null };

interface Options {
  writer?: HttpLessonWriter | null;
  readCalls?: () => Promise<RecordedCall[]>;
}

function openDistiller(at: TestMemories, { writer = null, readCalls = async () => [...CALLS] }: Options = {}) {
  const mask = async (_project: string, drafts: readonly MemoryDraft[]) =>
    drafts.map((draft) => ({ ...draft, content: draft.content.replaceAll('swordfish', '[SECRET:test]') }));
  const { database, memories, clock } = at;
  const distiller = new Distiller({ database, memories, readCalls, mask, writer, clock, logger: silentLogger });
  onTestFinished(() => distiller.stop());
  return distiller;
}

/** Until nothing waits: the queue reports nothing, because nobody waits for it. */
async function finished(distiller: Distiller, project = PROJECT) {
  for (;;) {
    const waiting = (await distiller.pending(project)).filter(({ fault }) => fault === '');
    if (waiting.length === 0) return distiller.pending(project);
  }
}

type Answer = (response: ServerResponse, body: string) => void;

/** A real server on loopback that answers as it is asked to. */
async function openModel(answer: Answer, timer = systemTimer) {
  const bodies: string[] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = `${request.method} ${request.url} ${request.headers.authorization}\n`;
    for await (const chunk of request) body += String(chunk);
    bodies.push(body);
    answer(response, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const writer = new HttpLessonWriter({ url, model: 'small', timeoutMs: 60_000, timer, apiKey: async () => 'key' });
  return { bodies, writer };
}

const completion = (content: string): string => JSON.stringify({ choices: [{ message: { content } }] });
const LESSON = { title: 'Migrate before the tests', description: 'After a rebase.', content: 'Run swordfish.' };

describe('a distillation', () => {
  it('issue 18 stores lessons with the ids of the calls, and the same calls again add nothing', async () => {
    const at = await openTestMemories();
    const distiller = openDistiller(at);
    await distiller.distill(ASKED);
    await distiller.distill(ASKED);
    expect(await finished(distiller)).toEqual([]);
    const stored = await at.memories.list(PROJECT, '', 10, true);
    expect(stored).toMatchObject([
      { origin: 'distilled', outcome: 'success', provenance: ['req_1', 'req_2', 'req_3'] },
    ]);
    expect(stored[0]?.content).toContain('- ran: npm run migrate');
    expect(stored[0]?.confidence).toBe(0.5);
  });

  it('issue 18 waits until its daemon is back', async () => {
    const dir = await makeTempDir();
    const first = await openTestMemories(dir);
    const hung = openDistiller(first, { readCalls: () => new Promise(() => {}) });
    await hung.distill({ ...ASKED, task: 'Repair the tests', outcome: 'success' });
    expect(await hung.pending(PROJECT)).toMatchObject([
      { id: '1', task: 'Repair the tests', outcome: 'success', requestIds: ['req_1', 'req_2', 'req_3'], fault: '' },
    ]);
    await first.store.stop();
    const second = await openTestMemories(dir);
    const distiller = openDistiller(second);
    expect(await distiller.pending(PROJECT)).toHaveLength(1);
    await distiller.start();
    await finished(distiller);
    expect(await second.memories.list(PROJECT, '', 10, false)).toHaveLength(2);
  });

  it('issue 18 that fails three times stays with its reason, and others go on', async () => {
    const at = await openTestMemories();
    let attempts = 0;
    const distiller = openDistiller(at, {
      async readCalls() {
        attempts += 1;
        if (attempts <= 3) throw new Error('the log is torn');
        return [...CALLS];
      },
    });
    await distiller.distill(ASKED);
    await finished(distiller);
    await distiller.distill({ ...ASKED, task: 'Another' });
    expect(await finished(distiller)).toMatchObject([{ id: '1', fault: expect.stringMatching(/./) }]);
    expect(await at.memories.list(PROJECT, '', 10, false)).toHaveLength(2);
  });

  it('issue 18 is refused when 200 wait', async () => {
    const at = await openTestMemories();
    const distiller = openDistiller(at, { readCalls: () => new Promise(() => {}) });
    for (let i = 0; i < 200; i++) await distiller.distill(ASKED);
    await expect(distiller.distill(ASKED)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await distiller.pending('/home/me/other')).toEqual([]);
  });
});

describe('a model that writes lessons', () => {
  it('issue 18 gets the task and the calls with its key, and what it writes is masked and stored', async () => {
    const at = await openTestMemories();
    const { bodies, writer } = await openModel((response) =>
      response.end(
        completion(`\`\`\`json\n${JSON.stringify({ lessons: [LESSON, { ...LESSON, title: 'Two' }] })}\n\`\`\``),
      ),
    );
    const distiller = openDistiller(at, { writer });
    await distiller.distill({ ...ASKED, task: 'Repair the tests' });
    await finished(distiller);
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toMatch(/^POST \/v1\/chat\/completions Bearer key\n/);
    for (const text of ['small', 'Repair the tests', 'no such table', 'npm run migrate'])
      expect(bodies[0]).toContain(text);
    expect(await at.memories.list(PROJECT, '', 10, true)).toMatchObject([
      { ...LESSON, content: 'Run [SECRET:test].', task: 'Repair the tests', provenance: ['req_1', 'req_2', 'req_3'] },
      { title: 'Two' },
    ]);
  });

  const BAD: [string, Answer][] = [
    ['refuses', (response) => response.writeHead(503).end()],
    ['closes the connection', (response) => response.destroy()],
    ['answers no JSON', (response) => response.end('<html>')],
    ['answers no completion', (response) => response.end('{"choices":[]}')],
    ['writes no lessons', (response) => response.end(completion('I learned a lot.'))],
    ['writes lessons without a title', (response) => response.end(completion('{"lessons":[{"content":"x"}]}'))],
    ['writes lessons that are no objects', (response) => response.end(completion('{"lessons":[7]}'))],
    ['sends it elsewhere', (response) => response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end()],
    ['never stops', (response) => response.end(' '.repeat(300_000))],
  ];
  it.each(BAD)('issue 18 is replaced by lessons without a model if it %s', async (_what, answer) => {
    const at = await openTestMemories();
    const { bodies, writer } = await openModel(answer);
    const distiller = openDistiller(at, { writer });
    await distiller.distill(ASKED);
    expect(await finished(distiller)).toEqual([]);
    expect(bodies).toHaveLength(1);
    expect(await at.memories.list(PROJECT, '', 10, true)).toMatchObject([
      { title: 'npm test failed (no such table): what made it succeed' },
    ]);
  });

  it('issue 18 is replaced by lessons without a model if it does not answer in time', async () => {
    const at = await openTestMemories();
    const timer = new HandTimer();
    const { writer } = await openModel(() => timer.pass(60_000), timer);
    const distiller = openDistiller(at, { writer });
    await distiller.distill(ASKED);
    expect(await finished(distiller)).toEqual([]);
    expect(await at.memories.list(PROJECT, '', 10, false)).toHaveLength(1);
  });

  it('issue 18 may find that there is nothing to learn', async () => {
    const at = await openTestMemories();
    const { writer } = await openModel((response) => response.end(completion('{"lessons":[]}')));
    const distiller = openDistiller(at, { writer });
    await distiller.distill(ASKED);
    await finished(distiller);
    expect(await at.memories.list(PROJECT, '', 10, false)).toEqual([]);
  });
});
