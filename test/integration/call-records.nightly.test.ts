import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { MethodDefinition } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { connect, type DaemonClient } from '#src/cli/client.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { newRequestId } from '#src/core/ids.js';
import type { ExecuteResponse__Output } from '#src/protocol/generated/tool.js';
import { PROTOCOL_VERSION } from '#src/protocol/versions.js';
import { appears } from '../helpers/appears.ts';
import { certificateOf, close as closeClients, connect as connectClients } from '../helpers/door.ts';
import { checkedEnvelope } from '../helpers/envelope-schema.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';
import { generate, seededRandom } from '../helpers/secret-samples.ts';

const token = generate('ghp_[A-Za-z0-9]{36}', seededRandom(11));

interface AuditLine {
  kind?: string;
  request_id: string;
  tool: string;
  door: string;
  project: string;
  input: unknown;
  exit_code: number | null;
  error_code: string | null;
  began?: boolean;
}

let at: Installation;
let daemons: DaemonClient[];
/** The lines of the log that earlier tests left. */
let earlier: readonly string[] = [];
beforeAll(async () => {
  at = await install();
});
beforeEach(() => {
  daemons = [];
  earlier = rawLines();
  for (const name of ['begun', 'go']) rmSync(join(at.project, name), { force: true });
});
afterEach(() => {
  for (const daemon of daemons) daemon.close();
});
afterAll(() => at.remove());

async function client(): Promise<DaemonClient> {
  const paths = resolvePaths({ ...readEnvironment(at.environment), contextdHome: at.home }, findInstallRoot());
  const daemon = await connect(paths);
  daemons.push(daemon);
  return daemon;
}

/** What a person did, such as `ctxd init`, is on record too. */
const isCall = ({ door }: AuditLine) => door !== 'ctxd';

function rawLines(): string[] {
  const dir = join(at.home, 'state/audit');
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return names.flatMap((name) => readFileSync(join(dir, name), 'utf8').split('\n')).filter((line) => line !== '');
}

/** The raw lines of the log about calls of this test, not as `ctxd audit tail` shows them. */
function lines(): AuditLine[] {
  return rawLines()
    .filter((line) => !earlier.includes(line))
    .map((line): AuditLine => JSON.parse(line))
    .filter(isCall);
}

/** What `ctxd audit tail` shows of this test. */
async function tail(): Promise<AuditLine[]> {
  const records: AuditLine[] = JSON.parse((await at.run(CTXD, ['audit', 'tail', '--json'])).stdout);
  const before = new Set(earlier.map((line) => (JSON.parse(line) as AuditLine).request_id));
  return records.filter((record) => isCall(record) && !before.has(record.request_id));
}

const WAITS = 'touch begun; while [ ! -e go ]; do sleep 0.02; done; echo done';

async function execute(daemon: DaemonClient, input: object | Buffer, context: object = {}, tool = 'safe_bash') {
  const request = {
    tool,
    input_json: Buffer.isBuffer(input) ? input : Buffer.from(JSON.stringify(input)),
    context: {
      request_id: newRequestId(Date.now()),
      project_root: at.project,
      session_id: 'records',
      protocol_version: PROTOCOL_VERSION,
      ...context,
    },
  };
  const answer = await daemon.execute(request, new AbortController().signal);
  return checkedEnvelope(answer.envelope_json.toString());
}

describe('a call that runs', () => {
  it('SEC-5.1 NFR-2.3: has its start on record when the daemon is killed, and its end, INTERRUPTED, when the next one starts', {
    timeout: 300_000,
  }, async () => {
    const { pid } = await at.status();
    const command = `${WAITS} # ${token}`;
    // A proxy would start the next daemon and ask it for the answer.
    const call = execute(await client(), { command });
    const lost = expect(call).rejects.toThrow();
    await appears(at.project, 'begun');
    process.kill(pid, 'SIGKILL');
    await lost;

    const left = lines();
    expect(left).toHaveLength(1);
    expect(left[0]).toMatchObject({ kind: 'started', tool: 'safe_bash', project: at.project, error_code: null });
    expect(left[0]?.input).toBeNull();
    expect(at.filesHolding(token)).toEqual([]);

    // Start twice: the second start must not record another end.
    for (let start = 0; start < 2; start++) {
      await at.run(CTXD, ['server', 'start']);
      expect(await tail()).toMatchObject([
        {
          request_id: left[0]?.request_id,
          input: { command: expect.stringContaining('touch begun') },
          error_code: 'INTERRUPTED',
          exit_code: 1,
          began: true,
        },
      ]);
      const stats = JSON.parse((await at.run(CTXD, ['stats', '--json'])).stdout);
      expect(JSON.stringify(stats)).toContain('"calls":1');
      await at.run(CTXD, ['server', 'stop']);
    }
    expect(lines()).toHaveLength(2);
  });

  it('SEC-5.1: is shown once in the log, first as running and then with its end', async () => {
    const call = at.call('safe_bash', { command: WAITS });
    await appears(at.project, 'begun');
    const [record, ...others] = await tail();
    expect(others).toEqual([]);
    expect(record).toMatchObject({ kind: 'started', exit_code: null, error_code: null });
    expect((await at.run(CTXD, ['audit', 'tail'])).stdout).toMatch(/\tsafe_bash\trunning\t/);
    writeFileSync(join(at.project, 'go'), '');
    await call;
    expect(await tail()).toMatchObject([{ request_id: record?.request_id, exit_code: 0, began: true }]);
  });

  it('SEC-5.1: is not ended by another call that takes its request id', async () => {
    const daemon = await client();
    const request_id = newRequestId(Date.now());
    const first = execute(daemon, { command: WAITS }, { request_id });
    await appears(at.project, 'begun');
    const second = await execute(daemon, { command: 'echo second' }, { request_id });
    expect(second.data.error_code).toBe('CONFLICT');
    expect((await tail()).map(({ kind, error_code }) => [kind, error_code])).toEqual([
      ['started', null],
      [undefined, 'CONFLICT'],
    ]);
    writeFileSync(join(at.project, 'go'), '');
    expect((await first).success).toBe(true);
  });
});

describe('a call that the door refuses', () => {
  it('SEC-5.1: leaves a record when the caller has another version or sends too much', async () => {
    const daemon = await client();
    const answers = [
      await execute(daemon, { command: `echo ${token}` }, { protocol_version: 999 }),
      await execute(daemon, { command: 'true' }, { session_id: 's'.repeat(5_000) }),
      await execute(daemon, {}, {}, 't'.repeat(500)),
    ];
    const codes = answers.map(({ data }) => data.error_code);
    expect(codes).toEqual(['VERSION_MISMATCH', 'ARGS_INVALID', 'ARGS_INVALID']);
    const records = await tail();
    expect(records.map(({ error_code }) => error_code)).toEqual(codes);
    expect(records.map(({ request_id }) => request_id)).toEqual(answers.map(({ meta }) => meta.request_id));
    expect(records[0]?.input).toEqual({ command: expect.stringContaining('[SECRET]') });
    expect(at.filesHolding(token)).toEqual([]);
  });

  it('SEC-5.1: leaves a record when its message cannot be read', async () => {
    const certsDir = join(at.home, 'state/certs');
    const clients = connectClients(join(at.home, 'run/contextd.sock'), certificateOf(certsDir, 'proxy'));
    const same = (bytes: Buffer) => bytes;
    const { path, responseDeserialize } = clients.tools.Execute as unknown as MethodDefinition<
      object,
      ExecuteResponse__Output
    >;
    const answer = await new Promise<ExecuteResponse__Output | undefined>((resolve, reject) => {
      clients.tools.makeUnaryRequest(path, same, responseDeserialize, Buffer.from('not protobuf'), (error, value) =>
        error === null ? resolve(value) : reject(error),
      );
    });
    closeClients(clients);
    const { data, meta } = checkedEnvelope(answer?.envelope_json.toString() ?? '');
    expect(data.error_code).toBe('ARGS_INVALID');
    expect(await tail()).toMatchObject([{ request_id: meta.request_id, error_code: 'ARGS_INVALID', door: 'grpc' }]);
  });

  it('SEC-5.1, NFR-2.3: records a call that comes while the daemon is stopping, and the next daemon runs it', async () => {
    const [caller, stopper] = [await client(), await client()];
    const running = execute(caller, { command: WAITS });
    await appears(at.project, 'begun');
    const stopped = stopper.stopServer({ grace_ms: 0, restart: false }, 60_000);
    const refused = expect.objectContaining({ code: 'DAEMON_UNAVAILABLE' });
    const asked = async (command: string) => execute(caller, { command }).catch((thrown: unknown) => thrown);
    let direct = await asked('echo late');
    while (!(direct instanceof Error)) direct = await asked('echo late');
    expect(direct).toEqual(refused);
    const next = at.ask('safe_bash', { command: 'echo next' });
    const records = (command: string) => lines().filter(({ input }) => isDeepStrictEqual(input, { command }));
    while (records('echo next').length === 0) expect(await asked('echo late')).toEqual(refused);
    writeFileSync(join(at.project, 'go'), '');
    expect((await running).success).toBe(true);
    expect(await stopped).toMatchObject({ ended_calls: 0 });
    const { data, meta } = await next;
    expect(data.stdout).toBe('next\n');
    const [first, second, ...more] = records('echo next').filter(({ kind }) => kind !== 'started');
    expect(first).toMatchObject({ error_code: 'DAEMON_UNAVAILABLE', exit_code: 69 });
    expect(second).toMatchObject({ error_code: null, request_id: meta.request_id });
    expect(first?.request_id).not.toBe(meta.request_id);
    expect(more).toEqual([]);
  });

  it('counts only the output of a command as run, and everything printed as returned', async () => {
    const at = await install();
    onTestFinished(() => at.remove());
    const sums = async () => {
      const rows = JSON.parse((await at.run(CTXD, ['stats', '--json', '--by', 'tool'])).stdout);
      const { tokens_run, tokens_returned, tokens_saved } = rows[0];
      return { tokens_run, tokens_returned, tokens_saved };
    };
    await at.run('.claude/tools/safe_bash/safe_bash', ['echo hello']);
    expect(await sums()).toEqual({ tokens_run: 2, tokens_returned: 2, tokens_saved: 0 });
    const { tokens_used } = await at.ask('safe_bash', { command: 'echo hello' });
    expect(await sums()).toEqual({ tokens_run: 4, tokens_returned: 2 + tokens_used, tokens_saved: 2 - tokens_used });
    const stats = await at.run(CTXD, ['stats', '--days', '1']);
    expect(stats.stdout).toMatch(/^Today agents read \d+ tokens of 2 calls that printed 4: nothing was saved\.\n$/);
  });
});
