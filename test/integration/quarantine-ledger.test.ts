import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { toRaw } from '#src/fs/raw-path.js';
import { ledgerFile } from '#src/guard/contract/quarantine.js';
import { contentHash } from '#src/guard/quarantine/content-hash.js';
import { QuarantineLedger } from '#src/guard/quarantine/ledger.js';
import { type Bench, openBench, recordingLogger } from '../helpers/workspace-bench.ts';

let bench: Bench;
let file: string;
beforeEach(() => {
  bench = openBench();
  file = ledgerFile(join(bench.base, 'state/quarantine'), bench.workspace);
});
afterEach(() => bench.close());

const clock = { now: () => 1234, monotonic: () => 0 };

function open(recorder = recordingLogger()) {
  return { ledger: new QuarantineLedger(file, recorder.logger, clock, bench.workspace), events: recorder.events };
}

/** What the ledger holds after it was written and read again. */
function written(ledger: QuarantineLedger): QuarantineLedger {
  ledger.flush();
  return open().ledger;
}

const inside = (path: string) => toRaw(join(bench.workspace, path));

it('SEC-2.3: keeps its items across a restart, relative to the workspace and absolute outside it', () => {
  const { ledger } = open();
  expect(ledger.note(inside('a/é'), inside('a/é.quarantined-0123abcd'), 'why', null)).toEqual({
    path: 'a/é',
    id: '0123abcd',
    reason: 'why',
  });
  ledger.note('/common/.git/hooks', '/common/.git/hooks.quarantined-89abcdef', 'git', null);
  const again = written(ledger);
  expect(again.items).toEqual([
    {
      id: '0123abcd',
      path: toRaw('a/é'),
      moved: toRaw('a/é.quarantined-0123abcd'),
      reason: 'why',
      at: 1234,
      shown: null,
    },
    {
      id: '89abcdef',
      path: '/common/.git/hooks',
      moved: '/common/.git/hooks.quarantined-89abcdef',
      reason: 'git',
      at: 1234,
      shown: null,
    },
  ]);
  expect(again.items.map(({ path }) => again.absolute(path))).toEqual([inside('a/é'), '/common/.git/hooks']);
  again.drop(again.items.slice(0, 1));
  expect(written(again).items.map(({ id }) => id)).toEqual(['89abcdef']);
});

it('SEC-2.3: keeps every name that the kernel allows, whether UTF-8 or not', () => {
  const name = fc
    .uint8Array({ minLength: 1, maxLength: 20 })
    .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 0 || byte === 0x2f ? 0xff : byte))).toString('latin1'))
    .filter((text) => text !== '.' && text !== '..');
  fc.assert(
    fc.property(name, (text) => {
      const { ledger } = open();
      const path = `${inside('d')}/${text}`;
      ledger.note(path, `${path}.quarantined-0123abcd`, 'why', null);
      const item = written(ledger).items.at(-1);
      expect(item?.path).toBe(`d/${text}`);
      expect(ledger.absolute(item?.path ?? '')).toBe(path);
      ledger.drop(ledger.items);
      ledger.flush();
    }),
  );
});

it('SEC-2.3: is written with mode 0600 in a directory of mode 0700 under any umask, and leaves no draft', () => {
  for (const mask of [0o777, 0o000]) {
    const before = process.umask(mask);
    try {
      const { ledger } = open();
      ledger.note(inside('.envrc'), inside('.envrc.quarantined-0123abcd'), 'why', null);
      ledger.flush();
    } finally {
      process.umask(before);
    }
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(dirname(file)).mode & 0o777).toString(8)).toBe('700');
    expect(readdirSync(dirname(file))).toHaveLength(1);
  }
});

it('is written soon after a change, without a flush', async () => {
  const { ledger } = open();
  ledger.note(inside('.envrc'), inside('.envrc.quarantined-0123abcd'), 'why', null);
  await expect.poll(() => open().ledger.items).toHaveLength(1);
});

it('SEC-2.3: writing takes a small part of the time however many items there are, and a flush writes all of them', async () => {
  let monotonicMs = 0;
  const slowClock = { now: () => 1234, monotonic: () => (monotonicMs += 60_000) };
  const ledger = new QuarantineLedger(file, recordingLogger().logger, slowClock, bench.workspace);
  const noteOne = (name: string) => ledger.note(inside(name), inside(`${name}.quarantined-0123abcd`), 'why', null);
  noteOne('first');
  await expect.poll(() => open().ledger.items).toHaveLength(1);
  const { ctimeNs } = statSync(file, { bigint: true });
  for (let i = 0; i < 100; i++) {
    noteOne(`${i}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(statSync(file, { bigint: true }).ctimeNs).toBe(ctimeNs);
  expect(written(ledger).items).toHaveLength(101);
});

it.each([
  ['is not JSON', '{"items":'],
  ['lacks a key', '{"workspace":"/w","items":[]}'],
  ['has a key too many', '{"workspace":"/w","items":[],"accepted":[],"more":1}'],
  [
    'has an id that is not one',
    '{"workspace":"/w","items":[{"id":"x","path":"a","moved":"b","reason":"c","at":1}],"accepted":[]}',
  ],
  [
    'leads out of the workspace',
    `{"workspace":"/w","items":[],"accepted":[{"path":"../a","sha256":"${'a'.repeat(64)}","at":1}]}`,
  ],
  ['accepts what is not a hash', '{"workspace":"/w","items":[],"accepted":[{"path":"a","sha256":"b","at":1}]}'],
])('SEC-2.3: a file that %s counts as empty, is named in the log and is kept aside', (_title, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const { ledger, events } = open();
  expect([ledger.items, ledger.accepted]).toEqual([[], []]);
  expect(events).toMatchObject([{ event: 'quarantine.ledger_not_read', fields: { file } }]);
  expect(readFileSync(`${file}.unusable`, 'utf8')).toBe(text);
});

it('SEC-2.3: accepts content at its path and nowhere else, until it is revoked', () => {
  bench.sh('mkdir a b; echo x >a/.envrc; echo x >b/.envrc; echo y >a/other');
  const { ledger } = open();
  ledger.note(inside('a/.envrc'), inside('a/.envrc.quarantined-0123abcd'), 'why', null);
  const [item] = ledger.items;
  if (item === undefined) throw new Error('nothing was noted');
  expect([ledger.accepts(inside('a/.envrc')), ledger.acceptsContent(inside('a/.envrc'))]).toEqual([false, false]);
  const acceptance = ledger.accept(item, contentHash(inside('a/.envrc')) ?? '');
  for (const one of [ledger, open().ledger]) {
    expect([one.accepts(inside('a/.envrc')), one.acceptsContent(inside('a/.envrc'))]).toEqual([true, true]);
    expect([one.accepts(inside('b/.envrc')), one.acceptsContent(inside('b/.envrc'))]).toEqual([false, false]);
  }
  bench.sh('echo z >a/.envrc');
  expect([ledger.accepts(inside('a/.envrc')), ledger.acceptsContent(inside('a/.envrc'))]).toEqual([true, false]);
  ledger.revoke([acceptance]);
  expect(open().ledger.accepted).toEqual([]);
  expect(ledger.accepts(inside('a/.envrc'))).toBe(false);
});

it('forgets the oldest items beyond 10,000 that are in the project, and none that is in the store', () => {
  const { ledger } = open();
  bench.sh('touch .envrc .bashrc');
  const stored = ledger.setAside(inside('.envrc'), false) ?? '';
  ledger.note(inside('.envrc'), stored, 'why', null);
  for (let i = 0; i < 10_004; i++) ledger.note(inside(`${i}`), inside(`${i}.quarantined-0123abcd`), 'why', null);
  expect(written(ledger).items).toHaveLength(10_000);
  expect(ledger.items.slice(0, 2).map(({ path }) => path)).toEqual(['.envrc', '5']);
  expect(existsSync(stored)).toBe(true);
  expect(ledger.setAside(inside('.bashrc'), false)).toMatch(/\/w\/\.bashrc\.quarantined-[0-9a-f]{8}$/);
});

it('SEC-2.3: an acceptance that cannot be written fails and does not count', () => {
  mkdirSync(join(bench.base, 'state'));
  writeFileSync(join(bench.base, 'state/quarantine'), '');
  const { ledger, events } = open();
  ledger.note(inside('.envrc'), inside('.envrc.quarantined-0123abcd'), 'why', null);
  const [item] = ledger.items;
  if (item === undefined) throw new Error('nothing was noted');
  expect(() => ledger.accept(item, 'a'.repeat(64))).toThrow(expect.objectContaining({ code: 'INTERNAL_ERROR' }));
  expect(ledger.accepts(inside('.envrc'))).toBe(false);
  ledger.flush();
  expect(events.map(({ event }) => event)).toContain('quarantine.ledger_not_written');
});
