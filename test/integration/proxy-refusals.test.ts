import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Bench, BUILDS } from '../fixtures/proxy-daemon/bench.ts';
import type { ReceivedReport } from '../fixtures/proxy-daemon/grpc-server.ts';
import { CTXD, type Finished, type Installation, install, PROXY } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(13));

interface AuditLine {
  request_id: string;
  door: string;
  tool: string;
  project: string;
  session: string;
  input: unknown;
  error_code: string | null;
  exit_code: number | null;
  output_bytes: number;
  tokens_returned: number;
}

describe('a call that the proxy refuses', () => {
  let at: Installation;
  beforeAll(async () => {
    at = await install({ warm: true });
    await at.run(CTXD, ['server', 'start']);
  });
  afterAll(() => at.remove());

  function lines(): AuditLine[] {
    const dir = join(at.home, 'state/audit');
    return readdirSync(dir)
      .flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** Waits for the record: on a busy machine the proxy may end before the daemon has written it. */
  async function recordsOf(id: string): Promise<AuditLine[]> {
    const recorded = () => lines().filter(({ request_id }) => request_id === id);
    return vi.waitUntil(() => recorded().length > 0, { timeout: 30_000 }).then(recorded);
  }

  const link = '.claude/tools/safe_bash/safe_bash';
  const call = (args: readonly string[]): Promise<Finished> => at.run(link, args, { input: '{}' });

  it.each([
    ['two inputs', ['{}', '{}'], 2, 'ARGS_INVALID'],
    ['an unknown option', ['--no-such-option', '1', '--json'], 2, 'ARGS_INVALID'],
    ['a missing file', [`@${token}.json`], 1, 'PATH_NOT_FOUND'],
    ['an empty input', [' ', '--json'], 2, 'ARGS_INVALID'],
    ['a protected output file', ['{"command":"true"}', '--out', '.claude/x'], 3, 'PERMISSION_DENIED'],
  ])('SEC-5.1: leaves a record of %s, with its arguments masked', async (_what, args, exitCode, code) => {
    const { stdout, code: ended } = await call(args);
    const envelope = JSON.parse(stdout);
    expect({ code: envelope.data.error_code, ended }).toEqual({
      code,
      ended: exitCode,
    });
    const [record, ...others] = await recordsOf(envelope.meta.request_id);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      door: 'proxy',
      tool: 'safe_bash',
      project: at.project,
      input: { arguments: args.map((word) => word.replace(token, '[SECRET]')) },
      error_code: code,
      // The record is about exactly the line that the proxy printed.
      output_bytes: Buffer.byteLength(stdout) - 1,
      tokens_returned: envelope.tokens_used,
    });
    expect(at.filesHolding(token)).toEqual([]);
  });

  it('SEC-5.1: leaves a record of an input that is too large', async () => {
    const { stdout } = await at.run(link, ['-'], { input: Buffer.alloc(40 * 1024 * 1024, 0x20) });
    const { data, meta } = JSON.parse(stdout);
    expect(data.error_code).toBe('PAYLOAD_TOO_LARGE');
    expect(await recordsOf(meta.request_id)).toMatchObject([
      { error_code: 'PAYLOAD_TOO_LARGE', input: { arguments: ['-'] } },
    ]);
  });

  it('SEC-5.1 SEC-4.3: leaves a record of a link that does not match and of a proxy outside the installed place', async () => {
    mkdirSync(join(at.project, '.claude/tools/other'), { recursive: true });
    symlinkSync(PROXY, join(at.project, '.claude/tools/other/safe_bash'));
    const wrong = await at.run('.claude/tools/other/safe_bash', ['{"command":"true"}']);
    mkdirSync(join(at.project, '.claude/tools/copied'));
    copyFileSync(PROXY, join(at.project, '.claude/tools/copied/copied'));
    const copied = await at.run('.claude/tools/copied/copied', ['{"command":"true"}']);
    expect([wrong.code, copied.code]).toEqual([4, 4]);
    const ids = [wrong, copied].map(({ stdout }) => JSON.parse(stdout).meta.request_id);
    expect([...(await recordsOf(ids[0])), ...(await recordsOf(ids[1]))]).toMatchObject([
      { door: 'proxy', tool: 'safe_bash', project: at.project, error_code: 'INTEGRITY_FAILED', exit_code: 4 },
      { door: 'proxy', tool: 'copied', project: at.project, error_code: 'INTEGRITY_FAILED', exit_code: 4 },
    ]);
  });

  it('SEC-5.1: is not recorded twice if the daemon refuses it', async () => {
    const { stdout } = await call(['{"comand":"x"}']);
    const records = await recordsOf(JSON.parse(stdout).meta.request_id);
    expect(records).toMatchObject([{ door: 'grpc', error_code: 'ARGS_INVALID' }]);
  });
});

describe.each(BUILDS)('the %s proxy, when it refuses a call', (build) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(build);
  });
  afterAll(() => bench.remove());

  const refuse = () => bench.run(['{}', '{}']);

  it('SEC-5.1: prints the same refusal if no daemon runs, and starts none', async () => {
    writeFileSync(bench.launcher, `#!/bin/sh\ntouch ${bench.root}/started\n`, { mode: 0o755 });
    const { code, stdout } = await refuse();
    expect(code).toBe(2);
    expect(JSON.parse(stdout).data.error_code).toBe('ARGS_INVALID');
    expect(readdirSync(bench.root)).not.toContain('started');
    expect(readdirSync(join(bench.home, 'run'))).toEqual([]);
  });

  it('SEC-5.1: prints the same refusal if the listener does not answer or is not contextd', async () => {
    const silent = createServer();
    const deaf = createServer((socket) => socket.end('no TLS'));
    for (const server of [silent, deaf]) {
      await new Promise<void>((resolve) => server.listen(bench.socket, resolve));
      const connections = new Set<{ destroy(): void }>();
      server.on('connection', (socket) => connections.add(socket));
      const { code, stderr } = await refuse();
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
      expect({ code, stderr: stderr.split('\n').length }).toEqual({ code: 2, stderr: 2 });
    }
  });

  it('SEC-5.1: reports to the daemon what was refused and why', async () => {
    const reports: ReceivedReport[] = [];
    await bench.serve({ onReport: (report) => reports.push(report) });
    const { stdout } = await refuse();
    expect(reports).toMatchObject([
      {
        error_code: 'ARGS_INVALID',
        message: expect.stringContaining('2 words were given'),
        call: { tool: 'safe_bash', context: { project_root: bench.project } },
      },
    ]);
    expect(reports[0]?.call.context.request_id).toBe(JSON.parse(stdout).meta.request_id);
    expect(JSON.parse(reports[0]?.call.input_json.toString() ?? '')).toEqual({ arguments: ['{}', '{}'] });
  });
});
