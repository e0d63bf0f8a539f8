import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type DaemonClient } from '#src/cli/client.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import type { Envelope } from '#src/core/envelope.js';
import { newRequestId } from '#src/core/ids.js';
import { PROTOCOL_VERSION } from '#src/protocol/versions.js';
import { checkedEnvelope } from '../helpers/envelope-schema.ts';
import { type Installation, install } from '../helpers/installation.ts';
import { shapeRuns } from '../helpers/property-runs.ts';
import { seededRandom } from '../helpers/secret-samples.ts';

const SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_121);
/** How many random rules are tried beside the fixed ones. Each needs its own project and tool process. */
const RANDOM_RULES = Math.min(shapeRuns(2), 500);

/** Every kind of call: a success, a failure in the tool, a refusal, and a look at an earlier output. */
const CALLS: readonly (readonly [tool: string, input: object])[] = [
  ['safe_bash', { command: 'echo out; echo err >&2; exit 3' }],
  ['safe_bash', { command: 'seq 1 2000; echo x >/usr/x; mkdir -p d; echo >d/.envrc', max_tokens: 400 }],
  ['safe_bash', { command: 'kill -9 $$' }],
  ['safe_bash', { command: 'sleep 9', timeout_ms: 50 }],
  ['safe_bash', { command: 'true', dry_run: true }],
  ['safe_bash', { comand: 'x' }],
  ['safe_read', { path: 'a.txt' }],
  ['safe_read', { path: 'a.txt', lines: '2-3' }],
  ['safe_read', { paths: ['a.txt', 'gone.txt', 'b.txt'] }],
  ['safe_read', { path: 'gone.txt' }],
  ['safe_write', { path: 'new.txt', content: 'one\n' }],
  ['safe_write', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] }],
  ['safe_write', { path: 'a.txt', edits: [{ old: 'absent', new: '2' }] }],
  ['no_such_tool', {}],
];

const OWN_KEYS = [
  'success',
  'data',
  'error',
  'refs',
  'tokens_used',
  'has_more',
  'truncated',
  'meta',
  'warnings',
  'streams',
  'field',
  'text',
  'failure',
  'message',
  'details',
  'denied',
  'kind',
  'rule',
  'how_to_allow',
  'exit_code',
  'stdout',
  'stderr',
  'ended_by',
  'signal',
  'error_code',
  'path',
  'etag',
  'bytes',
  'lines',
  'content',
  'files',
  'content_1',
  'created',
  'replacements',
  'changed',
  'dry_run',
  'allowed',
  'checks',
  'reason',
  'faults',
  'pointer',
  'edit',
];

/** Returns every key of a value, at any depth, once. */
function keysOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(keysOf);
  if (typeof value !== 'object' || value === null) return [];
  return [...new Set(Object.entries(value).flatMap(([key, inner]) => [key, ...keysOf(inner)]))];
}

interface Hostile {
  rules: readonly string[];
  env: readonly string[];
}

const random = seededRandom(SEED);
const below = (limit: number): number => Math.floor(random() * limit);
const pick = <T>(all: readonly T[]): T => all[below(all.length)] as T;

/** A part of a name that contextd uses, as a rule or as a value in `.env`. */
function pieceOfKey(): string {
  const key = pick(OWN_KEYS);
  const start = below(key.length);
  return key.slice(start, start + 1 + below(key.length - start));
}

const FIXED: readonly Hostile[] = [
  { rules: ['data'], env: [] },
  { rules: ['[a-z]+'], env: [] },
  { rules: ['[a-z_]+', '[0-9]+'], env: [] },
  { rules: ['.*'], env: [] },
  { rules: ['^', '$'], env: [] },
  { rules: ['\\w'], env: [] },
  { rules: OWN_KEYS, env: [] },
  { rules: [], env: OWN_KEYS },
  { rules: ['exit_code'], env: ['exit_code', 'safe_bash', 'success', 'stdout_and_stderr'] },
];

function randomHostile(): Hostile {
  return {
    rules: Array.from({ length: 1 + below(4) }, pieceOfKey),
    env: Array.from({ length: below(4) }, () => pick([pieceOfKey(), pick(OWN_KEYS)])),
  };
}

describe('rules and values of a project that match the names of contextd', () => {
  let at: Installation;
  let daemon: DaemonClient;
  const projects: string[] = [];
  /** The keys of each answer in a project without rules and secrets. */
  const usual: Envelope[] = [];

  beforeAll(async () => {
    at = await install({ warm: true });
    daemon = await connect(
      resolvePaths({ ...readEnvironment(at.environment), contextdHome: at.home }, findInstallRoot()),
    );
    const harmless = await projectWith({ rules: [], env: [] });
    for (const [tool, input] of CALLS) usual.push((await call(harmless, tool, input)).envelope);
  });
  afterAll(async () => {
    daemon.close();
    await at.remove();
    for (const project of projects) rmSync(project, { recursive: true, force: true });
  });

  async function projectWith({ rules, env }: Hostile): Promise<string> {
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
    projects.push(project);
    const toml = rules.map((regex, number) => `[[rules]]\nid = "hostile-${number}"\nregex = '''${regex}'''\n`);
    if (rules.length > 0) writeFileSync(join(project, '.gitleaks.toml'), toml.join(''));
    writeFileSync(join(project, '.env'), env.map((value, number) => `SECRET_KEY_${number}=${value}\n`).join(''));
    writeFileSync(join(project, 'a.txt'), 'one\ntwo\nthree\n');
    writeFileSync(join(project, 'b.txt'), 'four\n');
    await daemon.registerProject({ root: project });
    return project;
  }

  async function call(project: string, tool: string, input: object): Promise<{ id: string; envelope: Envelope }> {
    const id = newRequestId(Date.now());
    const context = { request_id: id, project_root: project, session_id: 's', protocol_version: PROTOCOL_VERSION };
    const request = { tool, input_json: Buffer.from(JSON.stringify(input)), context };
    const { envelope_json } = await daemon.execute(request, new AbortController().signal);
    return { id, envelope: checkedEnvelope(envelope_json.toString()) };
  }

  /** The raw lines of the log, not as `ctxd audit tail` shows them. */
  function recordsOf(id: string): Record<string, unknown>[] {
    const dir = join(at.home, 'state/audit');
    const lines = readdirSync(dir).flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n'));
    return lines.filter((line) => line.includes(id)).map((line) => JSON.parse(line));
  }

  async function expectRecordedAnswers(hostile: Hostile): Promise<void> {
    const project = await projectWith(hostile);
    for (const [position, [tool, input]] of CALLS.entries()) {
      const { id, envelope } = await call(project, tool, input);
      const what = `${tool} ${JSON.stringify(input)} with ${JSON.stringify(hostile)} (seed ${SEED})`;
      expect(['SCRUB_FAILED', 'AUDIT_FAILED'], what).not.toContain(envelope.data.error_code);
      // Long tokens may leave no room for all details: keys may be missing, but none may be added.
      expect(Object.keys(envelope.data).toSorted(), what).toEqual(Object.keys(usual[position]?.data ?? {}).toSorted());
      expect(keysOf(usual[position]?.data), what).toEqual(expect.arrayContaining(keysOf(envelope.data)));
      const last = recordsOf(id).at(-1);
      expect(last, what).toMatchObject({ error_code: envelope.data.error_code ?? null, project });
      if (tool !== 'no_such_tool') expect(last, what).toMatchObject({ tool });
    }
  }

  it.each(FIXED.map((hostile) => [JSON.stringify(hostile).slice(0, 60), hostile] as const))(
    'SEC-1.1 SEC-5.1: leave every answer its keys and its record: %s',
    { timeout: 120_000 },
    (_name, hostile) => expectRecordedAnswers(hostile),
  );

  it(`SEC-1.1 SEC-5.1: leave every answer its keys and its record: ${RANDOM_RULES} random projects`, {
    timeout: 3_600_000,
  }, async () => {
    for (let run = 0; run < RANDOM_RULES; run++) await expectRecordedAnswers(randomHostile());
  });

  it('SEC-1.1: still mask the values beside those keys', async () => {
    const project = await projectWith({ rules: ['two'], env: ['exit_code', 'hunter2hunter2'] });
    const { envelope } = await call(project, 'safe_bash', { command: 'cat a.txt; echo hunter2hunter2' });
    expect(envelope.data).toMatchObject({
      exit_code: 0,
      stdout: expect.stringMatching(/^one\n\[SECRET_\d\]\nthree\n\[SECRET_\d\]\n$/),
    });
  });
});
