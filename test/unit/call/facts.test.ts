import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  joinFacts,
  metaOfFacts,
  recordOfFacts,
  textsOf,
  withoutOutput,
  withoutTexts,
  withTexts,
} from '#src/call/fact-operations.js';
import { FACTS } from '#src/call/facts.js';
import { type CallFacts, codedWarnings, NO_FACTS } from '#src/call/outcome.js';
import { ownLeaves } from '#src/dispatch/own-names.js';
import { collectLeaves, replaceLeaves } from '#src/scrub/leaves.js';

/** Every text that a tool or a command chose is `chosen`, and nothing else holds that word. */
const FULL: CallFacts = {
  warnings: ['chosen'],
  codedWarnings: codedWarnings([['FALLBACK_USED', 'chosen']]),
  rateLimit: { limit: 2, remaining: 0, retry_after_ms: 1 },
  approvals: [{ rule: 'rule_01234567', answer: 'once', by: 'ann', waited_ms: 5 }],
  commandRules: [{ verdict: 'denied', rule: 'Bash(git push *)', file: '/home/ann/.claude/settings.json' }],
  denied: [{ kind: 'chosen', path: 'chosen', host: 'chosen', port: 1, rule: 'chosen', how_to_allow: 'chosen' }],
  connections: [
    {
      host: 'chosen',
      port: 1,
      via: 'chosen',
      verdict: 'denied',
      rule: 'chosen',
      why: 'chosen',
      up: 1,
      down: 2,
      count: 3,
    },
  ],
  quarantined: [
    { path: 'chosen', id: '0badcafe', reason: 'chosen', stays: true },
    { path: 'chosen', id: '00c0ffee', reason: 'chosen', removed: true },
  ],
  fileChanges: { ref: 'undo_1', files: ['M chosen'], more: 1, notCovered: ['chosen: why'] },
  searchComplete: false,
  hostCalls: { calls: [{ method: 'Exec', error_code: null, duration_ms: 1 }], total: 1 },
  shows: 'art_1',
  standardView: 'head',
  provenance: { argRepairs: ['chosen'], isCacheHit: true, attempts: 2 },
  refs: ['mem_0123456789'],
  runMs: 0,
  droppedBytes: 5,
  isViewApplied: true,
  policyHash: 'ab12',
  artifactHashes: ['cd34'],
  isolation: 'reduced',
  isolationMissing: ['cgroup'],
  secretsOpened: [{ token: '[SECRET_1]', input: '/command', use: 'env' }],
  tokensHanded: ['[SECRET_2]'],
  pipeStatus: [2, 0],
  endedIn: ['chosen'],
};

const rows = Object.entries(FACTS);
const unmasked = (text: string): string => text;

describe('the facts of a call', () => {
  it('have keys in `meta` and fields in the audit record in the order of the table, and none if there is nothing to report', () => {
    expect(Object.keys(metaOfFacts(FULL))).toEqual([
      'content_fidelity',
      'dropped_bytes',
      'isolation',
      'denied',
      'files_changed',
      'files_changed_more',
      'files_not_covered',
      'warnings',
      'warning_details',
      'rate_limit',
      'provenance',
    ]);
    expect(Object.keys(recordOfFacts(FULL, unmasked))).toEqual([
      'run_ms',
      'pipe_status',
      'secrets_opened',
      'approvals',
      'command_rules',
      'policy_sha256',
      'artifacts_sha256',
      'isolation',
      'isolation_missing',
      'host_calls',
      'denied',
      'connections',
      'files_changed',
      'quarantined',
      'reported',
      'search_incomplete',
      'provenance',
    ]);
    expect(metaOfFacts(NO_FACTS)).toEqual({});
    expect(recordOfFacts(NO_FACTS, unmasked)).toEqual({});
  });

  it('SEC-1.1 hold no text of a tool or a command if those are taken away, and keep their own', () => {
    const without = withoutTexts(FULL);
    expect(JSON.stringify(without)).not.toContain('chosen');
    expect(without).toMatchObject({ runMs: 0, droppedBytes: 5, fileChanges: { ref: 'undo_1', files: [], more: 1 } });
    expect(withoutOutput(FULL)).toEqual({
      ...FULL,
      warnings: [],
      codedWarnings: codedWarnings([]),
      shows: null,
      refs: [],
      droppedBytes: 0,
    });
  });

  it('SEC-1.1 have only values searched, never the property names, and hold what the search returns', () => {
    const leaving = { data: {}, streams: [], ...textsOf(FULL) };
    const own = ownLeaves(leaving, null);
    const leaves = collectLeaves(leaving);
    const names = leaves.filter((_leaf, position) => own.has(position));
    expect(
      leaves.filter((leaf, position) => !own.has(position) && !/chosen|0badcafe|00c0ffee|denied/.test(leaf)),
    ).toEqual([]);
    expect(names).toContain('stays');
    const searched = replaceLeaves(
      leaving,
      leaves.map((leaf, position) => (own.has(position) ? leaf : leaf.replace('chosen', 'masked'))),
    );
    const masked = withTexts(FULL, searched as typeof leaving);
    expect(masked).toEqual(JSON.parse(JSON.stringify(FULL).replaceAll('chosen', 'masked')));
    expect(() => withTexts(FULL, {})).toThrow(new TypeError('the texts of endedIn are missing'));
  });

  it('are joined so that what one source found is not lost to another', () => {
    const [first, second] = FULL.quarantined;
    if (first === undefined || second === undefined) throw new Error('two are set aside');
    const joined = joinFacts(FULL, {
      warnings: ['later'],
      denied: FULL.denied,
      quarantined: [
        { ...second, reason: 'later' },
        { ...first, id: '12345678' },
      ],
      fileChanges: null,
      searchComplete: true,
    });
    expect(joined).toEqual({
      ...FULL,
      warnings: ['chosen', 'later'],
      quarantined: [first, { ...second, reason: 'later' }, { ...first, id: '12345678' }],
      searchComplete: true,
    });
    fc.assert(
      fc.property(fc.subarray(rows.map(([name]) => name)), (names) => {
        const some = Object.fromEntries(Object.entries(FULL).filter(([name]) => names.includes(name)));
        expect(joinFacts(NO_FACTS, some)).toEqual({ ...NO_FACTS, ...some });
        expect(joinFacts(FULL, {})).toEqual(FULL);
      }),
    );
  });
});
