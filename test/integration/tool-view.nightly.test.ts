import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DaemonCaller, openCaller } from '../helpers/daemon-caller.ts';
import { CTXD, type Installation, install } from '../helpers/installation.ts';

let at: Installation;
let daemon: DaemonCaller;

beforeAll(async () => {
  at = await install({ warm: true });
  daemon = await openCaller(at, 'views');
});
afterAll(async () => {
  daemon.close();
  await at.remove();
});

const LOG = Array.from(
  { length: 5000 },
  (_, i) => `${i + 1} ${i % 500 === 250 ? 'error: no such file' : 'did its part'}\n`,
);

async function run(command: string, more: object = {}) {
  const { envelope } = await daemon.call('safe_bash', { command, ...more });
  return { ...envelope, ref: envelope.refs[0] ?? '' };
}

const look = async (ref: string, view: unknown, more: object = {}) =>
  (await daemon.call('tool_view', { ref, view, ...more })).envelope;

async function storedLog(): Promise<string> {
  writeFileSync(join(at.project, 'build.log'), LOG.join(''));
  return (await run('cat build.log')).ref;
}

describe('a view', () => {
  it('FR-3.5 shows another part of a stored output and runs nothing', async () => {
    const { ref, data } = await run('echo "$RANDOM $RANDOM $RANDOM"; echo second');
    const again = await look(ref, { lines: '1' });
    expect(again.data).toMatchObject({ tool: 'safe_bash', stdout: `${String(data.stdout).split('\n')[0]}\n` });
    expect(again.refs).toEqual([ref]);
  });

  it('is the same whether it is asked for in the call or later', async () => {
    const ref = await storedLog();
    for (const view of [
      'errors',
      { grep: 'error', context: 1 },
      { lines: '250-252' },
      { bytes: '0-20' },
      { tail: 3 },
      { head: 2 },
      { digest: { query: 'error' } },
    ]) {
      const now = await run('cat build.log', { view });
      const later = await look(ref, view);
      expect(later.data.stdout, JSON.stringify(view)).toBe(now.data.stdout);
      expect(later.meta.view).toEqual(now.meta.view);
    }
    expect((await look(ref, { lines: '251' })).data.stdout).toBe('251 error: no such file\n');
    expect((await look(ref, { grep: 'error' })).data.stdout).toMatch(/^251:251 error: no such file\n751:751 error/);
  });

  it('FR-3.3 of a text made from the output continues where its page ended', async () => {
    const ref = await storedLog();
    const wanted = LOG.map((line, i) => `${i + 1}:${line}`)
      .filter((line) => line.includes('part'))
      .join('');
    const first = await look(ref, { grep: 'part$' }, { max_tokens: 3000 });
    const shown = String(first.data.stdout);
    let text = shown.slice(0, shown.indexOf('\n…'));
    for (let { meta } = first; meta.pagination !== undefined; ) {
      const { envelope } = await daemon.call('tool_view', { continuation: meta.pagination.cursor, max_tokens: 20_000 });
      text += String(envelope.data.stdout);
      ({ meta } = envelope);
    }
    expect(text).toBe(wanted);
    expect(first.refs).toEqual([ref]);
  });

  it('can be asked for with a cursor instead of an id', async () => {
    const { ref, meta } = await run('cat build.log', { max_tokens: 300 });
    const continuation = meta.pagination?.cursor ?? '';
    const view = { grep: '^251 ' };
    const { envelope } = await daemon.call('safe_bash', { continuation, view });
    expect(envelope.data.stdout).toBe('251:251 error: no such file\n');
    expect(envelope.refs).toEqual([ref]);
    expect((await daemon.call('safe_read', { continuation, view })).envelope.data.error_code).toBe('CURSOR_INVALID');
  });

  it('of JSON, rows and keys parses what a program printed', async () => {
    const rows = Array.from({ length: 300 }, (_, id) => ({ id, name: `item ${id}`, size: 1.5 }));
    writeFileSync(
      join(at.project, 'data.json'),
      JSON.stringify({ rows, total: 12345678901234567890n.toString() }, null, 2),
    );
    const { ref } = await run('cat data.json');
    expect((await look(ref, { json_path: '$.rows[7].name' })).data.stdout).toBe('"item 7"');
    expect((await look(ref, { json_path: '/rows/299/size' })).data.stdout).toBe('1.5');
    expect((await look(ref, 'json_keys')).data.stdout).toContain('rows: array');
    expect((await look(ref, { json_keys: ['total'] })).data.stdout).toContain('12345678901234567890');
    const table = await run("printf 'ID,NAME\\n1,one\\n2,two\\n3,three\\n'", {
      view: { rows: '2-3', columns: ['NAME'] },
    });
    expect(table.data.stdout).toBe('NAME\ntwo\nthree\n');
  });

  it('of differences compares with the last output of the same command', async () => {
    writeFileSync(join(at.project, 'state.txt'), 'one\ntwo\nthree\n');
    await run('cat state.txt');
    writeFileSync(join(at.project, 'state.txt'), 'one\n2\nthree\n');
    const second = await run('cat state.txt', { view: 'diff' });
    expect(second.data.stdout).toMatch(/^-two$/m);
    expect(second.data.stdout).toMatch(/^\+2$/m);
    expect(second.meta.view).toMatchObject({ name: 'diff', added: 1, removed: 1 });
    const other = await run('echo nothing like it');
    expect((await look(other.ref, 'diff')).data.error_code).toBe('VIEW_FAILED');
  });

  it('that does not fit a command’s output is replaced by the default view; for a stored output it fails', async () => {
    const { data, meta, ref } = await run('echo plain words', { view: { json_path: '$.a' } });
    expect(data.stdout).toBe('plain words\n');
    expect(meta.warning_details).toEqual([expect.objectContaining({ code: 'FALLBACK_USED', severity: 'info' })]);
    expect(await look(ref, { json_path: '$.a' })).toMatchObject({
      success: false,
      data: { error_code: 'VIEW_FAILED', remediation: expect.any(String) },
    });
  });

  it('is validated before the command runs', async () => {
    const { data } = await run('touch ran', { view: { grep: '(' } });
    expect(data).toMatchObject({ error_code: 'ARGS_INVALID', details: { faults: [{ pointer: '/view/grep' }] } });
    expect((await run('ls ran')).data.exit_code).not.toBe(0);
  });

  it('of one text omits the other and names it, except for a command that failed', async () => {
    const well = await run('echo out; echo err >&2', { view: { lines: '1' } });
    expect(well.data).not.toHaveProperty('stderr');
    expect(well.meta).toMatchObject({ content_fidelity: 'partial', dropped_content_ids: [`${well.ref}/stderr`] });
    expect((await look(`${well.ref}/stderr`, 'tail')).data).toMatchObject({ stderr: 'err\n' });
    const failed = await run('echo out; echo err >&2; exit 3', { view: { lines: '1' } });
    expect(failed.data).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exit_code: 3 });
  });

  it('SEC-1.3 of an earlier output masks secrets that became known since', async () => {
    const value = randomBytes(18).toString('base64url');
    const { ref } = await run(`echo "seen: ${value}"`);
    await run(`printf 'password = "%s"\\n' ${value}`);
    const again = await look(ref, { grep: 'seen' });
    expect(JSON.stringify(again)).not.toContain(value);
    expect(again.data.stdout).toMatch(/^1:seen: \[SECRET_\d+\]\n$/);
  });
});

describe('a stored output', () => {
  it('belongs to its session', async () => {
    const ref = await storedLog();
    const other = await openCaller(at, 'another');
    try {
      const { envelope } = await other.call('tool_view', { ref });
      expect(envelope.data).toMatchObject({ error_code: 'NOT_FOUND' });
    } finally {
      other.close();
    }
  });

  it.each(['art_0000000000000000', 'art_0000000000000000/stdout'])(
    'reports %s, which does not exist, as NOT_FOUND',
    async (ref) => {
      expect((await look(ref, 'tail')).data.error_code).toBe('NOT_FOUND');
    },
  );

  it('is addressed only by its id and one of its texts', async () => {
    const ref = await storedLog();
    expect((await look(`${ref}/content`, 'tail')).data.error_code).toBe('NOT_FOUND');
    for (const bad of ['', 'art_', '../x', `${ref}/../stdout`, `${ref}/stdout/x`])
      expect((await look(bad, 'tail')).data.error_code).toBe('ARGS_INVALID');
  });

  it('reports its hash, what is missing and an estimate of its tokens if it is cut', async () => {
    const { meta, ref } = await run('cat build.log');
    const bytes = Buffer.byteLength(LOG.join(''));
    expect(meta).toMatchObject({
      content_fidelity: 'partial',
      content_fidelity_schema_version: '1.0',
      dropped_content_ids: [`${ref}/stdout`],
    });
    const hash = createHash('sha256').update(LOG.join('')).digest('hex');
    expect(meta.content_archive_hashes).toEqual({ [ref]: `sha256:${hash}` });
    const [detail] = meta.warning_details ?? [];
    expect(detail).toMatchObject({ code: 'CONTENT_TRUNCATED', context: { total_count: bytes, unit: 'bytes' } });
    const estimate = Number(detail?.context?.total_tokens_estimate);
    expect(estimate).toBeGreaterThan(bytes / 8);
    expect(estimate).toBeLessThan(bytes / 1.5);
  });
});

describe('texts before they are cut', () => {
  const noisy = `printf '\\033[31mred\\033[0m line   \\n'; for i in $(seq 1 40); do printf 'step %s\\r' $i; done; echo; yes same | head -50`;

  it('are densified and named, and stored as they were', async () => {
    const { data, meta, ref } = await run(noisy);
    expect(meta.densified).toEqual(['ansi', 'progress', 'repeats', 'trailing_spaces']);
    expect(data.stdout).toMatch(/^red line\nstep 40\r\nsame\n/);
    expect(meta.content_fidelity).toBeUndefined();
    const kept = await look(ref, { head_tail: true, densify: false });
    expect(kept.data.stdout).toContain('\u001b[31mred\u001b[0m line   \n');
    expect(kept.meta.densified).toBeUndefined();
  });

  it('SEC-1.1 show no secret that only an overwritten line completes', async () => {
    const ways: readonly ((first: string, second: string) => string)[] = [
      (first, second) => `at 50%% ${'x'.repeat(first.length)}${second}\\033[${first.length + second.length}D${first}`,
      (first, second) => `at 50%% ${'x'.repeat(first.length)}${second}\\033[8G${first}`,
      (first, second) => [...(first + second)].map((character) => `z\\b${character}`).join(''),
    ];
    for (const way of ways)
      for (const view of ['head_tail', 'errors', { grep: '.' }]) {
        // No other text contains the secret: a command line is not output.
        const secret = `${'ghp'}_${randomBytes(30).toString('base64url').replaceAll(/[-_]/g, '7').slice(0, 36)}`;
        const { ref, ...answer } = await run(`printf '${way(secret.slice(0, 14), secret.slice(14))}\\n'`, { view });
        expect(JSON.stringify(answer), `${way} by ${JSON.stringify(view)}`).not.toContain(secret);
        expect(JSON.stringify(await look(ref, view))).not.toContain(secret);
      }
  });

  it('of safe_read are not changed, because a file is edited by its bytes', async () => {
    writeFileSync(join(at.project, 'noisy.txt'), 'same   \nsame   \nsame   \nsame   \nsame   \n');
    const { envelope } = await daemon.call('safe_read', { path: 'noisy.txt' });
    expect(envelope.data.content).toBe('same   \nsame   \nsame   \nsame   \nsame   \n');
    const [ref] = envelope.refs;
    expect((await look(ref ?? '', 'tail')).data.content).toBe('same   \nsame   \nsame   \nsame   \nsame   \n');
  });

  it('are not changed by a step that is switched off', async () => {
    expect((await at.run(CTXD, ['config', 'set', 'densify.repeats', 'false'])).code).toBe(0);
    daemon.close();
    await at.run(CTXD, ['server', 'restart']);
    daemon = await openCaller(at, 'views');
    const { meta } = await run(noisy);
    expect(meta.densified).toEqual(['ansi', 'progress', 'trailing_spaces']);
  });
});
