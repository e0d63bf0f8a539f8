import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { acceptConfig } from '#src/config/load.js';
import { ensureDirectories, resolvePaths } from '#src/config/paths.js';
import { systemClock, systemTimer } from '#src/core/clock.js';
import { newRequestId } from '#src/core/ids.js';
import { startParts, stopParts } from '#src/core/lifecycle.js';
import { type Logger, silentLogger } from '#src/core/log.js';
import { compose } from '#src/daemon/compose.js';
import { STEPS } from '#src/dispatch/dispatch.js';
import type { Door } from '#src/doors/grpc/grpc.js';
import { acceptance } from '#src/features/projects/registered-projects.js';
import { grantSubject } from '#src/stores/consents.js';
import { appears } from '../helpers/appears.ts';
import { checkedEnvelope } from '../helpers/envelope-schema.ts';

/** The daemon as it is composed, without its door, so that one of its parts can be taken away. */
async function assemble() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'dsp-')));
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'dsp-project-')));
  const environment = { ...readEnvironment({ HOME: home }), contextdHome: join(home, 'ctx') };
  const paths = resolvePaths(environment, findInstallRoot());
  await ensureDirectories(paths);
  const config = acceptConfig('test', { scrub: { gitleaks: 'off' } });
  const answered: object[] = [];
  const logger: Logger = {
    ...silentLogger,
    debug: (event, fields) => {
      if (event === 'call.answered') answered.push(fields ?? {});
    },
  };
  const noDoor: Door = { name: 'no door', async prepare() {}, async start() {}, async stop() {}, connections: () => 0 };
  const { parts, built } = compose(
    {
      environment,
      paths,
      config,
      clock: systemClock,
      timer: systemTimer,
      logger,
      requestStop() {},
      endNow() {},
      leaveLog() {},
    },
    noDoor,
  );
  await startParts(parts, silentLogger);
  const { gate, projects, catalog } = built;
  await projects.register(project, catalog.list().map(acceptance));
  const call = async (tool: string, input: object, requestId = newRequestId(Date.now())) => {
    const answer = await gate.dispatch({
      requestId,
      principal: { door: 'grpc', client: 'proxy' },
      tool,
      projectRoot: project,
      sessionHint: 'test',
      branchHint: '',
      inputJson: Buffer.from(JSON.stringify(input)),
      inputText: null,
      form: 'json',
      cwd: project,
      signal: new AbortController().signal,
    });
    checkedEnvelope(answer.line);
    return answer;
  };
  return {
    ...built,
    call,
    /** The steps that the last call took, in their order, by what the daemon logs of their times. */
    stepsTaken: () =>
      Object.keys(answered.at(-1) ?? {}).flatMap((key) =>
        STEPS.some(({ name }) => key === `${name}_us`) ? [key.slice(0, -'_us'.length)] : [],
      ),
    artifactsDir: paths.artifactsDir,
    project,
    async remove() {
      await stopParts(parts, silentLogger);
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

describe('the steps of a call', () => {
  const without = (...skipped: string[]) => STEPS.map(({ name }) => name).filter((name) => !skipped.includes(name));

  it('runs every step of the list in its order', async () => {
    await at.call('safe_bash', { command: 'true' });
    expect(at.stepsTaken()).toEqual(without());
  });

  it('goes on with scrub after the step that fails', async () => {
    await at.call('no_such_tool', {});
    expect(at.stepsTaken()).toEqual(without('authorize', 'open_secrets', 'run'));
    await at.call('safe_write', { path: 'a', content: '[SECRET_77]' });
    expect(at.stepsTaken()).toEqual(without('run'));
  });

  it('opens no secret for a dry run', async () => {
    await at.call('safe_bash', { command: 'true', dry_run: true });
    expect(at.stepsTaken()).toEqual(without('open_secrets'));
  });

  it('continues an earlier output without authorizing it again or opening secrets', async () => {
    const { meta } = JSON.parse((await at.call('safe_bash', { command: 'seq 1 3000', max_tokens: 300 })).line);
    await at.call('safe_bash', { continuation: meta.pagination.cursor });
    expect(at.stepsTaken()).toEqual(without('authorize', 'open_secrets'));
  });
});

describe('every way out of a call is recorded', () => {
  it('SEC-5.1 records answers, refusals and failures', async () => {
    await at.call('safe_bash', { command: 'echo fine' });
    await at.call('safe_bash', { comand: 'x' });
    await at.call('no_such_tool', {});
    await at.call('safe_bash', { command: 'sleep 9', timeout_ms: 50 });
    const records = await at.auditLog.tail(4);
    expect(records.map(({ error_code }) => error_code)).toEqual([null, 'ARGS_INVALID', 'TOOL_NOT_FOUND', 'TIMEOUT']);
  });

  it('keeps a secret in arguments that do not parse out of the record', async () => {
    const secret = `ghp_${randomBytes(18).toString('hex')}`;
    await at.call('safe_bash', { comand: `token=${secret}` });
    const [record] = await at.auditLog.tail(1);
    expect(JSON.stringify(record)).not.toContain(secret);
  });

  it('FR-8.1 SEC-5.2 reports what the sandbox did in the answer and in the record: asked, moved away, refused', async () => {
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

  it('SEC-2.3 issue 30: says in the record, and not to the agent, that the search for dangerous files was not finished', async () => {
    const script = 'import os\nfor i in range(200):\n for j in range(150): os.makedirs(f"many/{i}/{j}")';
    await at.call('safe_bash', { command: `python3 -c '${script}'` });
    const { meta } = JSON.parse((await at.call('safe_bash', { command: 'echo x >many/199/149/.envrc' })).line);
    expect(meta).not.toHaveProperty('warning_details');
    const [record] = await at.auditLog.tail(1);
    expect(record).toMatchObject({ search_incomplete: true });
  });

  it('SEC-1.1 does not show a secret on a page of an output that was stored before the secret was known', async () => {
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

  it('SEC-5.1 SEC-5.2: records what was opened, asked and run even if the output is withheld', async () => {
    await at.scanner.stop();
    await at.call('safe_bash', { command: 'echo withheld' });
    await at.scanner.start();
    expect(await at.auditLog.tail(1)).toMatchObject([
      { error_code: 'SCRUB_FAILED', began: true, run_ms: expect.any(Number), host_calls: { total: 1 } },
    ]);
  });

  it('SEC-1.1: masks keys of an input that are secrets in the record and loses no entry', async () => {
    const secrets = Array.from({ length: 2 }, () => `ghp_${randomBytes(18).toString('hex')}`);
    await at.call('safe_bash', { command: 'true', env: Object.fromEntries(secrets.map((secret) => [secret, 'x'])) });
    const [record] = await at.auditLog.tail(1);
    expect(record?.input).toEqual({ command: 'true', env: { '[SECRET]': 'x', '[SECRET] (2)': 'x' } });
  });

  it('SEC-1.1: keeps the names that a tool states readable, though a rule of the project matches one', async () => {
    const rules = join(at.project, '.gitleaks.toml');
    writeFileSync(rules, `[[rules]]\nid = "own"\nregex = '''expected_etag'''\n`);
    onTestFinished(() => rmSync(rules, { force: true }));
    await at.call('safe_write', { path: 'kept.txt', content: 'one' });
    const { data } = JSON.parse(
      (await at.call('safe_write', { path: 'kept.txt', content: 'two', expected_etag: 'etag of another file' })).line,
    );
    expect(Object.keys(data.details)).toEqual(['path', 'expected_etag', 'actual_etag']);
    const shown = JSON.parse((await at.call('safe_bash', { command: 'echo is expected_etag' })).line);
    expect(shown.data.stdout).toMatch(/^is \[SECRET_\d+\]\n$/);
  });

  it('accepts a request id only once', async () => {
    const id = newRequestId(Date.now());
    await at.call('safe_bash', { command: 'echo first' }, id);
    const second = JSON.parse((await at.call('safe_bash', { command: 'echo second' }, id)).line);
    expect(second.data.error_code).toBe('CONFLICT');
  });
});

describe('verify and authorize', () => {
  it('refuses a tool accepted with another hash and a tool that was not accepted', async () => {
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

describe('a check that asks', () => {
  const setGrants = (grants: readonly string[]) =>
    at.projects.register(
      at.project,
      at.catalog.list().map((tool) => ({ ...acceptance(tool), grants })),
    );
  const bash = () => {
    const [tool] = at.catalog.versions('safe_bash');
    if (tool === undefined) throw new Error('safe_bash is not in the core bundle');
    return tool;
  };

  it('is answered by a stored consent to these bytes of the tool, and refuses the call without one', async () => {
    await setGrants([]);
    const { manifest, sha256 } = bash();
    const give = async (hash: string): Promise<void> => {
      for (const grant of manifest.grants) await at.consents.give(at.project, grantSubject('safe_bash', grant), hash);
    };
    await give('0'.repeat(64));
    const refused = JSON.parse((await at.call('safe_bash', { command: 'true' })).line);
    expect(refused.data).toMatchObject({
      error_code: 'PERMISSION_DENIED',
      remediation: 'Run `ctxd init` in the project root to accept the tool with its grants.',
      details: { checks: [{ check: 'grants', allowed: false }] },
    });
    await give(sha256);
    expect(JSON.parse((await at.call('safe_bash', { command: 'true' })).line).success).toBe(true);
    expect((await at.projects.find(at.project))?.tools.find(({ name }) => name === 'safe_bash')?.grants).toEqual(
      [...manifest.grants].sort(),
    );
  });

  it('is answered by accepting the tools, and a dry run reports the consent', async () => {
    await at.projects.register(at.project, at.catalog.list().map(acceptance));
    const { data } = JSON.parse((await at.call('safe_bash', { command: 'true', dry_run: true })).line);
    expect(data.checks[0]).toMatchObject({ check: 'grants', allowed: true });
  });
});

// These tests come last because they take parts away.
describe('dispatch fails closed', () => {
  it('SEC-1.1 gives out no output that was not scrubbed', async () => {
    await at.scanner.stop();
    const { line, exitCode } = await at.call('safe_bash', { command: 'echo visible-words' });
    expect(line).not.toContain('visible-words');
    expect(JSON.parse(line)).toMatchObject({ success: false, refs: [], data: { error_code: 'SCRUB_FAILED' } });
    expect(exitCode).toBe(70);
    await at.scanner.start();
  });

  it('FR-3.5 gives out no answer that refers to an output that was not stored', async () => {
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

  it('SEC-5.1: answers AUDIT_FAILED if the end of a call cannot be recorded, and keeps its start on record', async () => {
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

  it('SEC-5.1: runs no command whose start cannot be recorded', async () => {
    const { line } = await at.call('safe_bash', { command: 'touch ran' });
    expect(JSON.parse(line).data.error_code).toBe('AUDIT_FAILED');
    expect(existsSync(join(at.project, 'ran'))).toBe(false);
  });

  it('SEC-5.1 gives out no answer that was not recorded', async () => {
    await at.auditLog.stop();
    const { line, exitCode } = await at.call('safe_bash', { command: 'echo visible-words' });
    expect(line).not.toContain('visible-words');
    expect(JSON.parse(line)).toMatchObject({ success: false, refs: [], data: { error_code: 'AUDIT_FAILED' } });
    expect(exitCode).toBe(70);
  });
});
