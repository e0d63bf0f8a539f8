import { expect, it } from 'vitest';
import type { CallRequest } from '#src/call/request.js';
import { CallSeals } from '#src/stores/call-seals.js';
import { createJournal } from '#src/stores/journal.js';
import { makeTempDir, openTestDatabase, openTestKeys } from './open-stores.js';

const request: CallRequest = {
  requestId: 'req_01JD0000000000000000000000',
  principal: { door: 'grpc', client: 'proxy' },
  tool: 'safe_bash',
  projectRoot: '/p',
  sessionHint: 's',
  branchHint: '',
  inputJson: Buffer.from('{"command":"ls"}'),
  inputText: null,
  form: 'json',
  cwd: '/p',
  signal: new AbortController().signal,
};
const answer = { line: '{"data":"the answer"}', exitCode: 3, errorLine: '', text: { stdout: 'ü\0', stderr: '' } };

async function openSeals() {
  const database = await openTestDatabase(await makeTempDir());
  return { database, seals: new CallSeals(await openTestKeys(database)) };
}

it('NFR-2.3: a sealed answer opens for the same call only', async () => {
  const { seals } = await openSeals();
  const own = seals.of(request);
  const sealed = own.seal(answer);
  expect(Buffer.from(sealed, 'base64').includes('the answer')).toBe(false);
  expect(seals.of({ ...request, isAskedAgain: true }).open(sealed)).toEqual(answer);
  const others: Partial<CallRequest>[] = [
    { requestId: 'req_01JD0000000000000000000001' },
    { principal: { door: 'grpc', client: 'cli' } },
    { principal: { door: 'http', token: 'proxy' } },
    { tool: 'safe_read' },
    { projectRoot: '/q' },
    { sessionHint: 't' },
    { branchHint: 'br_0123456789' },
    { inputJson: Buffer.from('{"command":"id"}') },
    { inputJson: Buffer.from('{"command":'), inputText: Buffer.from('"ls"}') },
    { inputText: Buffer.alloc(0) },
    { form: 'text' },
    { cwd: '/p/a' },
    { surface: 'gateway' },
    { clientShell: { isMerged: true } },
    { wholeText: 'ls; id &' },
  ];
  for (const other of others) {
    const seal = seals.of({ ...request, ...other });
    expect(seal.tag, JSON.stringify(other)).not.toBe(own.tag);
    expect(seal.open(sealed)).toBeNull();
  }
  expect((await openSeals()).seals.of(request).open(sealed)).toBeNull();
  for (const cut of [0, 10, sealed.length - 4]) expect(own.open(sealed.slice(0, cut))).toBeNull();
});

it('NFR-2.3: the journal keeps the newest 512 answers, also those of the daemon before', async () => {
  const { database } = await openSeals();
  const clock = { now: () => 1_000, monotonic: () => 0 };
  const session = { project: '/p', session: 's', branch: null };
  const finish = async (from: number, to: number): Promise<void> => {
    const journal = createJournal({ database, clock });
    await journal.start();
    for (let i = from; i < to; i++) {
      await journal.begin({ requestId: `req_${i}`, tool: 't', session, tag: 't' });
      await journal.finish(`req_${i}`, null, `${i}`);
    }
  };
  await finish(0, 300);
  await finish(300, 600);
  const journal = createJournal({ database, clock });
  const answers = await Promise.all(Array.from({ length: 600 }, (_, i) => journal.find(`req_${i}`)));
  expect(answers.filter((found) => found?.isOpen === false)).toHaveLength(600);
  expect(answers.findIndex((found) => found?.answer !== null)).toBe(88);
  expect(answers[599]?.answer).toBe('599');
  expect(await journal.find('req_600')).toBeNull();
  const large = 'x'.repeat(20 * 1024 * 1024);
  await journal.start();
  for (const id of ['req_a', 'req_b']) {
    await journal.begin({ requestId: id, tool: 't', session });
    await journal.finish(id, null, large);
  }
  expect([(await journal.find('req_a'))?.answer, (await journal.find('req_b'))?.answer?.length]).toEqual([
    null,
    large.length,
  ]);
});
