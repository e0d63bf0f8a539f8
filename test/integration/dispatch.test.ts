import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCatalog } from '#src/catalog/catalog.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { loadConfig } from '#src/config/load.js';
import { ensureDirectories, resolvePaths } from '#src/config/paths.js';
import { systemClock } from '#src/core/clock.js';
import { newRequestId } from '#src/core/ids.js';
import { silentLogger } from '#src/core/log.js';
import { createArtifactView } from '#src/daemon/artifact-view.js';
import { acceptance } from '#src/daemon/management.js';
import { policyFor, viewOf } from '#src/daemon/policy.js';
import { createDispatch } from '#src/dispatch/dispatch.js';
import { createSlots } from '#src/dispatch/slots.js';
import { createViewMaker } from '#src/dispatch/view/run-view.js';
import { createRunner } from '#src/runner/create-runner.js';
import { createSandbox } from '#src/sandbox/create-sandbox.js';
import { readRulePack } from '#src/scrub/exact/rule-pack.js';
import { createEngine } from '#src/scrub/hardened/engine.js';
import { createScanner } from '#src/scrub/scan/scanner.js';
import { createScrubber } from '#src/scrub/scrubber.js';
import { createArtifactStore } from '#src/stores/artifacts.js';
import { createAuditLog } from '#src/stores/audit.js';
import { createCursors } from '#src/stores/cursors.js';
import { createJournal } from '#src/stores/journal.js';
import { createDaemonKeys } from '#src/stores/keys.js';
import { createProjectStore } from '#src/stores/projects.js';
import { createSessionStore } from '#src/stores/sessions.js';
import { createDatabase } from '#src/stores/sqlite.js';
import { loadCounter } from '#src/tokens/counter.js';
import { appears } from '../helpers/appears.ts';
import { checkedEnvelope } from '../helpers/envelope-schema.ts';

const rulesDir = join(import.meta.dirname, '../../src/scrub/rules');

/** The real parts of a daemon without its door, so that one of them can be taken away. */
async function assemble() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'dsp-')));
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'dsp-project-')));
  const paths = resolvePaths(
    { ...readEnvironment({ HOME: home }), contextdHome: join(home, 'ctx') },
    findInstallRoot(),
  );
  await ensureDirectories(paths);
  const config = await loadConfig(paths);
  const shared = { logger: silentLogger, clock: systemClock };
  const database = createDatabase({ file: paths.stateDb, logger: silentLogger });
  const keys = createDaemonKeys({ database });
  const projects = createProjectStore({ database, clock: systemClock });
  const sessions = createSessionStore({ database, keys, clock: systemClock });
  const journal = createJournal({ database, clock: systemClock });
  const artifacts = createArtifactStore({
    database,
    keys,
    dir: paths.artifactsDir,
    limits: config.artifacts,
    ...shared,
  });
  const auditLog = createAuditLog({ dir: paths.auditDir, ...shared });
  const catalog = createCatalog({ coreBundleDir: paths.coreBundleDir, toolsDir: paths.toolsDir });
  const sandbox = createSandbox({ paths, config: config.sandbox, ...shared });
  const scanner = createScanner({
    config: config.scrub,
    logger: silentLogger,
    readRules: async () => ({ pack: readRulePack(rulesDir), official: null }),
  });
  const engine = createEngine(readRulePack(rulesDir));
  const scrubber = createScrubber({ scanner, engine, numbers: sessions, ...shared });
  const runner = createRunner({
    sandbox,
    policyFor: (session) => policyFor(viewOf(session), config.sandbox),
    privateSocketsDir: paths.dialledSocketsDir,
    scrub: async (sessionKey, texts) => (await scrubber.scrub(sessionKey, [...texts])).value,
    services: { ArtifactView: createArtifactView(artifacts) },
    ...shared,
  });
  for (const part of [database, keys, projects, journal, artifacts, auditLog, catalog, sandbox, runner, scrubber])
    await part.start();
  await projects.register(project, catalog.list().map(acceptance));
  const dispatch = createDispatch({
    catalog,
    projects,
    sandbox,
    runner,
    sessions,
    scrubber,
    secondSearch: { missedIn: async () => [], stored() {} },
    artifacts,
    cursors: createCursors(sessions),
    counter: loadCounter(),
    views: createViewMaker(),
    auditLog,
    journal,
    limits: config,
    config,
    slots: createSlots(config.server.max_concurrent_calls),
    ...shared,
  });
  const call = async (tool: string, input: object, requestId = newRequestId(Date.now())) => {
    const answer = await dispatch({
      requestId,
      door: 'grpc',
      tool,
      projectRoot: project,
      sessionHint: 'test',
      inputJson: Buffer.from(JSON.stringify(input)),
      signal: new AbortController().signal,
    });
    checkedEnvelope(answer.line);
    return answer;
  };
  return {
    call,
    auditLog,
    artifacts,
    projects,
    artifactsDir: paths.artifactsDir,
    project,
    scanner,
    catalog,
    async remove() {
      for (const part of [runner, sandbox, scrubber, auditLog, artifacts, database]) await part.stop();
      rmSync(home, { recursive: true, force: true });
      rmSync(project, { recursive: true, force: true });
    },
  };
}

type Assembled = Awaited<ReturnType<typeof assemble>>;
let at: Assembled;
beforeAll(async () => {
  at = await assemble();
});
afterAll(() => at.remove());

describe('every way out of a call is recorded', () => {
  it('SEC-5.1 answers, refusals and failures alike', async () => {
    await at.call('safe_bash', { command: 'echo fine' });
    await at.call('safe_bash', { comand: 'x' });
    await at.call('no_such_tool', {});
    await at.call('safe_bash', { command: 'sleep 9', timeout_ms: 50 });
    const records = await at.auditLog.tail(4);
    expect(records.map(({ error_code }) => error_code)).toEqual([null, 'ARGS_INVALID', 'TOOL_NOT_FOUND', 'TIMEOUT']);
  });

  it('a secret in arguments that do not even parse is not in the record', async () => {
    const secret = `ghp_${randomBytes(18).toString('hex')}`;
    await at.call('safe_bash', { comand: `token=${secret}` });
    const [record] = await at.auditLog.tail(1);
    expect(JSON.stringify(record)).not.toContain(secret);
  });

  it('FR-8.1 SEC-5.2 what the sandbox did is in the answer and in the record: asked, moved away, refused', async () => {
    const command = 'mkdir -p deep; echo x >deep/.envrc; echo x >/usr/x';
    const { meta, data } = JSON.parse((await at.call('safe_bash', { command })).line);
    expect(data.exit_code).toBe(1);
    expect(meta.warnings).toEqual([
      expect.stringMatching(
        /^deep\/\.envrc was set aside: a program on the host would .*: ctxd quarantine accept [0-9a-f]{8}$/,
      ),
    ]);
    expect(meta.denied).toEqual([expect.objectContaining({ kind: 'read_only', path: '/usr/x' })]);
    const [record] = await at.auditLog.tail(1);
    expect(record).toMatchObject({
      quarantined: [{ path: 'deep/.envrc', id: expect.stringMatching(/^[0-9a-f]{8}$/) }],
      denied: meta.denied,
      host_calls: { total: 1, calls: [{ method: 'Exec', error_code: null, exit_code: 1, ended_by: 'exit' }] },
    });
  });

  it('SEC-2.3: an answer that went out before the search for dangerous files was done says so, as its record does', async () => {
    const script = 'import os\nfor i in range(200):\n for j in range(150): os.makedirs(f"many/{i}/{j}")';
    await at.call('safe_bash', { command: `python3 -c '${script}'` });
    const { meta } = JSON.parse((await at.call('safe_bash', { command: 'echo x >many/199/149/.envrc' })).line);
    expect(meta.warning_details).toEqual([
      {
        code: 'PARTIAL_FAILURE',
        severity: 'warning',
        message:
          'The search for files that would run on the host was not complete yet; what it still finds is in the next answer.',
      },
    ]);
    const [record] = await at.auditLog.tail(1);
    expect(record).toMatchObject({ search_incomplete: true });
  });

  it('SEC-1.1 a page of an output that was stored before its secret was known does not show it', async () => {
    const secret = randomBytes(15).toString('hex');
    const first = await at.call('safe_bash', { command: `seq 1 3000; echo ${secret}; seq 1 3000`, max_tokens: 300 });
    await at.call('safe_bash', { command: `echo API_KEY=${secret}` });
    let { meta } = JSON.parse(first.line);
    for (let page = 0; meta.pagination !== undefined && page < 200; page++) {
      const { line } = await at.call('safe_bash', { continuation: meta.pagination.cursor, max_tokens: 2000 });
      expect(line).not.toContain(secret);
      const answer = JSON.parse(line);
      meta = answer.meta;
      if (!answer.success) expect(answer.data.error_code).toBe('EXPIRED');
    }
    expect(meta.pagination).toBeUndefined();
  });

  it('SEC-5.1 SEC-5.2: what was opened, asked and run is on record when the output was withheld', async () => {
    await at.scanner.stop();
    await at.call('safe_bash', { command: 'echo withheld' });
    await at.scanner.start();
    expect(await at.auditLog.tail(1)).toMatchObject([
      { error_code: 'SCRUB_FAILED', began: true, run_ms: expect.any(Number), host_calls: { total: 1 } },
    ]);
  });

  it('SEC-1.1: keys of an input that are secrets are masked in the record, and none of them is lost', async () => {
    const secrets = Array.from({ length: 2 }, () => `ghp_${randomBytes(18).toString('hex')}`);
    await at.call('safe_bash', { command: 'true', env: Object.fromEntries(secrets.map((secret) => [secret, 'x'])) });
    const [record] = await at.auditLog.tail(1);
    expect(record?.input).toEqual({ command: 'true', env: { '[SECRET]': 'x', '[SECRET] (2)': 'x' } });
  });

  it('a request id is used once', async () => {
    const id = newRequestId(Date.now());
    await at.call('safe_bash', { command: 'echo first' }, id);
    const second = JSON.parse((await at.call('safe_bash', { command: 'echo second' }, id)).line);
    expect(second.data.error_code).toBe('CONFLICT');
  });
});

describe('verify and authorize', () => {
  it('a tool accepted with another hash is refused, and one that was not accepted', async () => {
    const accepted = at.catalog.list().map(acceptance);
    await at.projects.register(
      at.project,
      accepted.map((tool) => ({ ...tool, bundleSha256: '0'.repeat(64) })),
    );
    expect(JSON.parse((await at.call('safe_bash', { command: 'true' })).line).data.error_code).toBe('INTEGRITY_FAILED');
    await at.projects.register(
      at.project,
      accepted.filter(({ name }) => name !== 'safe_bash'),
    );
    expect(JSON.parse((await at.call('safe_bash', { command: 'true' })).line).data.error_code).toBe(
      'PERMISSION_DENIED',
    );
    await at.projects.register(
      at.project,
      accepted.map((tool) => ({ ...tool, grants: [] })),
    );
    const ungranted = JSON.parse((await at.call('safe_bash', { command: 'true' })).line);
    expect(ungranted.data).toMatchObject({
      error_code: 'PERMISSION_DENIED',
      details: { checks: [{ check: 'grants', allowed: false }] },
    });
    await at.projects.register(at.project, accepted);
    expect(JSON.parse((await at.call('safe_bash', { command: 'true' })).line).success).toBe(true);
  });
});

// Last: they take parts away.
describe('it fails closed', () => {
  it('SEC-1.1 no scrub, no output', async () => {
    await at.scanner.stop();
    const { line, exitCode } = await at.call('safe_bash', { command: 'echo visible-words' });
    expect(line).not.toContain('visible-words');
    expect(JSON.parse(line)).toMatchObject({ success: false, refs: [], data: { error_code: 'SCRUB_FAILED' } });
    expect(exitCode).toBe(70);
    await at.scanner.start();
  });

  it('FR-3.5 no stored output, no answer that refers to it', async () => {
    rmSync(at.artifactsDir, { recursive: true });
    writeFileSync(at.artifactsDir, '');
    const { line } = await at.call('safe_bash', { command: 'seq 100000' });
    expect(JSON.parse(line)).toMatchObject({
      success: false,
      refs: [],
      data: { error_code: 'PATH_INVALID' },
      error: expect.stringContaining('cannot write artifacts to'),
    });
    expect(line).not.toContain('99998');
  });

  it('SEC-5.1: a call whose end cannot be recorded has its start on record, and the answer says AUDIT_FAILED', async () => {
    const call = at.call('safe_bash', { command: 'touch begun; while [ ! -e go ]; do sleep 0.02; done; echo ended' });
    await appears(at.project, 'begun');
    await at.auditLog.stop();
    writeFileSync(join(at.project, 'go'), '');
    const { line, exitCode } = await call;
    expect(line).not.toContain('ended');
    expect(JSON.parse(line)).toMatchObject({ success: false, refs: [], data: { error_code: 'AUDIT_FAILED' } });
    expect(exitCode).toBe(70);
    const [record] = await at.auditLog.tail(1);
    expect(record).toMatchObject({
      kind: 'started',
      error_code: 'INTERRUPTED',
      input: { command: expect.stringContaining('begun') },
    });
  });

  it('SEC-5.1: a command does not run when its start cannot be recorded', async () => {
    const { line } = await at.call('safe_bash', { command: 'touch ran' });
    expect(JSON.parse(line).data.error_code).toBe('AUDIT_FAILED');
    expect(existsSync(join(at.project, 'ran'))).toBe(false);
  });

  it('SEC-5.1 no record, no answer', async () => {
    await at.auditLog.stop();
    const { line, exitCode } = await at.call('safe_bash', { command: 'echo visible-words' });
    expect(line).not.toContain('visible-words');
    expect(JSON.parse(line)).toMatchObject({ success: false, refs: [], data: { error_code: 'AUDIT_FAILED' } });
    expect(exitCode).toBe(70);
  });
});
