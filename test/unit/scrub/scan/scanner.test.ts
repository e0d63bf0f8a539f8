import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import { readRuleSources } from '#src/scrub/rule-sources.js';
import { openThread } from '#src/scrub/scan/scan-thread.js';
import { createScanner, type Scanner, type ScannerDeps } from '#src/scrub/scan/scanner.js';
import { generateSample, seededRandom } from '../../../helpers/secret-samples.ts';

const { pack, official } = readRuleSources();
const readRules = async () => ({ pack, official });
/** For the tests that start threads and need one finding: to compile all rules takes half a second of a processor. */
const oneRule = async () => ({
  pack: [
    { name: 'one.toml', text: "[[rules]]\nid = 'github-pat'\nregex = 'ghp_[0-9a-zA-Z]{36}'\nkeywords = ['ghp_']" },
  ],
  official: { name: 'none.toml', text: '' },
});
const named = (...texts: string[]) => texts.map((one) => ({ text: one, name: undefined }));
const fragile = new URL('./fixtures/fragile-worker.mjs', import.meta.url);
const held = new URL('./fixtures/held-worker.mjs', import.meta.url);
const { text, start, secret } = generateSample('x «ghp_[A-Za-z0-9]{36}» y', seededRandom(1));
const finding = { rule: 'github-pat', start, end: start + secret.length };

/** Takes much longer to search than any deadline of these tests. */
const ENDLESS = 'password = token, secret key: AKIA eyJ http://a:b\n'.repeat(1_000_000);

const PATIENT = { deadline_base_ms: 60_000, deadline_per_kb_ms: 0 };
const open: Scanner[] = [];
function scannerWith(deps: Partial<ScannerDeps> = {}): Scanner {
  const scanner = createScanner({ config: PATIENT, logger: silentLogger, readRules, ...deps });
  open.push(scanner);
  return scanner;
}

afterEach(async () => {
  for (const scanner of open.splice(0)) await scanner.stop();
});

/** Of each thread of this process. */
function niceness(): { tid: string; nice: number }[] {
  return readdirSync('/proc/self/task').map((tid) => {
    // The name of the thread, in parentheses, may hold blanks.
    const fields = readFileSync(`/proc/self/task/${tid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return { tid, nice: Number(fields[16]) };
  });
}

const withheld = expect.objectContaining({ code: 'SCRUB_FAILED' });

describe('SEC-1.1 the scanner', () => {
  /** For the tests that say nothing about the start, the deadline or the threads: each start reads all rules. */
  const scanner = createScanner({ config: PATIENT, logger: silentLogger, readRules });
  afterAll(() => scanner.stop());

  it('starts by itself at the first call', async () => {
    expect(await scanner.scan(named(text))).toEqual([[finding]]);
  });

  it('finds secrets in each of many texts, also in concurrent calls', async () => {
    const answers = await Promise.all([
      scanner.scan(named(text, '', 'clean')),
      scanner.scan(named()),
      scanner.scan(named(text)),
    ]);
    expect(answers).toEqual([[[finding], [], []], [], [[finding]]]);
  });

  it('recognises a secret by the name of its property', async () => {
    const leaf = { text: 'Tr0ub4dor&3', name: 'password' };
    expect(await scanner.scan([leaf])).toEqual([[expect.objectContaining({ start: 0, end: leaf.text.length })]]);
    expect(await scanner.scan([{ ...leaf, name: 'title' }])).toEqual([[]]);
  });

  it("applies the rules and approved allowances of a project's file to that project alone", async () => {
    const rule = { name: '.gitleaks.toml', text: "[[rules]]\nid = 'house'\nregex = 'house-[0-9]{4}'" };
    const excuse = { name: '.gitleaks.toml', text: "[[allowlists]]\nregexes = ['^gh']" };
    const added = { key: 'a', files: [rule], allowances: null };
    const approved = { key: 'a+', files: [rule], allowances: { disabledRules: [], allowlists: excuse } };
    const off = { key: 'b', files: [], allowances: { disabledRules: ['github-pat'], allowlists: excuse } };
    const house = { rule: 'house', start: 3, end: 13 };
    expect(await scanner.scan(named('in house-1234', text), added)).toEqual([[{ ...house, end: 13 }], [finding]]);
    expect(await scanner.scan(named('in house-1234', text), approved)).toEqual([[house], []]);
    expect(await scanner.scan(named('in house-1234', text), off)).toEqual([[], []]);
    expect(await scanner.scan(named('in house-1234', text))).toEqual([[], [finding]]);
  });

  it('gives a thread that has warmed up no more than the deadline', async () => {
    const thread = await openThread({ readRules });
    thread.warmUp();
    // A thread answers in order, so this answer says that it is warm.
    await thread.ask({ kind: 'scan', texts: named(text), workspace: null }, 60_000);
    const late = thread.ask({ kind: 'scan', texts: named(ENDLESS), workspace: null }, 300);
    await expect(late).rejects.toThrow('took longer than 300 ms');
    await thread.end();
  });

  it.runIf(process.platform === 'linux')(
    'issue 36.4: searches in a thread that comes after the others of the daemon',
    async () => {
      const before = niceness();
      const own = getPriority();
      const thread = await openThread({ readRules: oneRule });
      const added = niceness().filter(({ tid }) => !before.some((one) => one.tid === tid));
      expect(added.filter(({ nice }) => nice > own)).toHaveLength(1);
      expect(getPriority()).toBe(own);
      await thread.end();
    },
  );

  it('issue 16, cause 9: fails only the call that passes its deadline, which counts processor time: a search that could not run is not late', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-starved-'));
    const release = join(dir, 'release');
    const config = { deadline_base_ms: 500, deadline_per_kb_ms: 0 };
    try {
      const [starved, busy] = [scannerWith({ config, program: held, readRules: oneRule }), scannerWith({ config })];
      await Promise.all([starved.start(), busy.start()]);
      const answer = starved.scan(named(`hold:${release} ${text}`));
      const calls = [busy.scan(named(text)), busy.scan(named(ENDLESS)), busy.scan(named(text))];
      await expect(calls[1]).rejects.toEqual(withheld);
      // Three more seconds are for expressions that a search is the first to need, unless a slow start has warmed it up.
      await expect(calls[1]).rejects.toThrow(/took longer than (?:500|3500) ms/);
      expect([await calls[0], await calls[2]]).toEqual([[[finding]], [[finding]]]);
      // The busy one has used its deadline, so the starved one has waited at least as long.
      writeFileSync(release, '');
      expect(await answer).toMatchObject([[{ rule: 'github-pat' }]]);
    } finally {
      writeFileSync(release, '');
      rmSync(dir, { recursive: true });
    }
  });

  it('issue 16, cause 9: answers short texts while three long ones are searched or wait', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-held-'));
    const release = join(dir, 'release');
    try {
      const scanner = scannerWith({ program: held, readRules: oneRule });
      const events: string[] = [];
      const search = async (name: string, one: string) => {
        const [found] = await scanner.scan(named(one));
        events.push(name);
        return found;
      };
      const long = `hold:${release} ${'x '.repeat(40_000)}${text}`;
      const searches = [search('long', long), search('long', long), search('long', long)];
      expect(await search('short', text)).toEqual([finding]);
      expect(await search('short', text)).toEqual([finding]);
      events.push('released');
      writeFileSync(release, '');
      for (const one of searches) expect(await one).toHaveLength(1);
      expect(events).toEqual(['short', 'short', 'released', 'long', 'long', 'long']);
    } finally {
      writeFileSync(release, '');
      rmSync(dir, { recursive: true });
    }
  });

  it('issue 37: searches early only while no long text is searched or waits', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-held-'));
    const release = join(dir, 'release');
    try {
      const scanner = scannerWith({ program: held, readRules: oneRule });
      expect(await scanner.scanEarly(named(text))).toEqual([[finding]]);
      const long = scanner.scan(named(`hold:${release} ${'x '.repeat(40_000)}${text}`));
      expect(scanner.scanEarly(named(text))).toBeNull();
      writeFileSync(release, '');
      await long;
      expect(await scanner.scanEarly(named(text))).toEqual([[finding]]);
    } finally {
      writeFileSync(release, '');
      rmSync(dir, { recursive: true });
    }
  });

  it.each(['throw', 'exit'])('fails the call whose thread dies (%s), and starts another thread', async (how) => {
    const scanner = scannerWith({ program: fragile, readRules: oneRule });
    await scanner.start();
    const calls = [scanner.scan(named(text)), scanner.scan(named(how)), scanner.scan(named(text))];
    await expect(calls[1]).rejects.toEqual(withheld);
    expect([await calls[0], await calls[2]]).toEqual([[[finding]], [[finding]]]);
  });

  it('refuses unusable rules by name, at the start and for every call', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'contextd-rules-'));
    writeFileSync(join(dir, 'bad.toml'), "[[rules]]\nid = 'odd'\nregex = '('");
    try {
      const scanner = scannerWith({ readRules: async () => ({ pack: readRulePack(dir), official }) });
      await expect(scanner.start()).rejects.toThrow('bad.toml: rule "odd": the pattern is refused');
      await expect(scanner.start()).rejects.toEqual(expect.objectContaining({ code: 'SCHEMA_INVALID' }));
      await expect(scanner.scan(named(text))).rejects.toEqual(withheld);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it('refuses a missing folder of rules', async () => {
    const missing = join(tmpdir(), 'contextd-no-such-rules');
    const scanner = scannerWith({ readRules: async () => ({ pack: readRulePack(missing), official }) });
    await expect(scanner.start()).rejects.toThrow('ENOENT');
  });

  it('fails waiting and later calls after it was stopped', async () => {
    const scanner = scannerWith({ readRules: oneRule });
    const waiting = Promise.allSettled([scanner.scan(named(text.repeat(1000))), scanner.scan(named(text))]);
    await scanner.stop();
    await scanner.stop();
    for (const outcome of await waiting) expect(outcome).toEqual({ status: 'rejected', reason: withheld });
    await expect(scanner.scan(named(text))).rejects.toEqual(withheld);
  });
});
