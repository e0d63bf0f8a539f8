import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import { getEncoding } from 'js-tiktoken';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { INPUT_MAX_BYTES } from '#src/core/limits.js';
import { issueCertificates } from '#src/doors/grpc/certificates.js';
import { Bench, BUILDS, type Finished, writeCertificates } from '../fixtures/proxy-daemon/bench.ts';
import { failCall, type ReceivedCall } from '../fixtures/proxy-daemon/grpc-server.ts';

const encoding = getEncoding('cl100k_base');
const PROTO_DIR = join(import.meta.dirname, '../../proto');
const { ExecuteWithProgress } = loadSync(join(PROTO_DIR, 'contextd/v1/tool.proto'), {
  includeDirs: [PROTO_DIR],
  keepCase: true,
})['contextd.v1.ToolService'] as unknown as { ExecuteWithProgress: MethodDefinition<object, object> };

/** One message of a gRPC stream. */
function framed(message: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}

/** Returns the envelope of a failure that no daemon rendered, after checking what all such envelopes share. */
function readFailure({ stdout, stderr }: Finished) {
  expect(stdout.endsWith('\n')).toBe(true);
  const line = stdout.slice(0, -1);
  expect(line).not.toContain('\n');
  const envelope = JSON.parse(line);
  expect(envelope).toMatchObject({ success: false, refs: [], meta: { version: 'response-v2' } });
  expect(envelope.meta.request_id).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/);
  expect(envelope.tokens_used).toBe(encoding.encode(line, [], []).length);
  const { error_code: code, remediation } = envelope.data;
  expect(stderr).toMatch(/^\[contextd exit \d+ · [A-Z_]+\]\n$/);
  expect(stderr).toContain(` · ${code}]`);
  return { code, error: `${envelope.error}. ${remediation}` };
}

describe.each(BUILDS)('a call of the %s proxy', (build) => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await Bench.create(build);
  });
  afterEach(() => bench.stopServing());
  afterAll(() => bench.remove());

  it('FR-1.3 sends tool, input, project and session over gRPC and prints the answer unchanged', async () => {
    const calls: ReceivedCall[] = [];
    await bench.serve({
      onCall(call) {
        calls.push(call);
        call.answer({
          envelope_json: Buffer.from('{"né":"\\u0000"}'),
          exit_code: 124,
          error_line: 'TIMEOUT: too slow',
        });
      },
    });
    const env = { CLAUDE_CODE_SESSION_ID: 'a-session', CONTEXTD_BRANCH: 'br_0123456789' };
    const finished = await bench.run(['{"command":"é"}'], { env });
    expect(finished).toEqual({ code: 124, stdout: '{"né":"\\u0000"}\n', stderr: 'TIMEOUT: too slow\n' });
    expect(calls.map(({ request }) => ({ ...request, input_json: request.input_json.toString() }))).toEqual([
      {
        tool: 'safe_bash',
        input_json: '{"command":"é"}',
        context: {
          request_id: expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/),
          project_root: bench.project,
          session_id: 'a-session',
          branch: 'br_0123456789',
          protocol_version: 2,
          door: 0,
          surface: '',
        },
        form: 0,
        cwd: bench.project,
        input_text: Buffer.alloc(0),
        is_merged: false,
        is_asked_again: false,
        whole_text: '',
      },
    ]);
  });

  it('FR-1.3 sends 10 MB of arbitrary bytes from stdin through a window of 1,000 bytes that opens slowly', async () => {
    const input = Buffer.concat([Buffer.from('{"'), randomBytes(10 * 1024 * 1024)]);
    let received: Buffer | undefined;
    await bench.serve({
      options: { settings: { initialWindowSize: 1_000, maxFrameSize: 16_384 } },
      onCall({ request, answer }) {
        received = request.input_json;
        answer({ envelope_json: Buffer.from('{}') });
      },
    });
    expect(await bench.run(['-'], { input })).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
    expect(received?.equals(input)).toBe(true);
  });

  it('FR-1.3 prints an answer of 5 MB completely to a reader that is slow to start', async () => {
    const envelope = JSON.stringify({ text: 'ä'.repeat(5 * 512 * 1024) });
    await bench.serve({ onCall: ({ answer }) => answer({ envelope_json: Buffer.from(envelope) }) });
    const { code, stdout } = await bench.run([`{}`]);
    expect(code).toBe(0);
    expect(stdout === `${envelope}\n`).toBe(true);
  });

  it('is not made from a directory that was removed: it would run at the root of the project', async () => {
    await bench.serve({ onCall: ({ answer }) => answer({ envelope_json: Buffer.from('{}') }) });
    const script = `mkdir gone && cd gone && rmdir ../gone && exec '${bench.link}' '{}'`;
    const refused = await bench.run(['-c', script], { program: '/bin/sh' });
    // The launcher of the stand-in proxy is a shell, which complains too.
    const ownLines = refused.stderr.replace(/^sh: .*getcwd.*\n/, '');
    const failure = readFailure({ ...refused, stderr: ownLines });
    expect({ exit: refused.code, ...failure }).toMatchObject({ exit: 1, code: 'PATH_NOT_FOUND' });
  });

  it('takes input from a file, and from stdin if there is no argument', async () => {
    await bench.serve({ onCall: ({ request, answer }) => answer({ envelope_json: request.input_json }) });
    writeFileSync(join(bench.project, 'in put.json'), '{"from":"file"}');
    expect((await bench.run(['@in put.json'])).stdout).toBe('{"from":"file"}\n');
    expect((await bench.run([], { input: '{"from":"stdin"}' })).stdout).toBe('{"from":"stdin"}\n');
  });

  it('SEC-2.3 takes no input from a file outside the project, also through a link', async () => {
    await bench.serve({ onCall: ({ request, answer }) => answer({ envelope_json: request.input_json }) });
    const outside = join(bench.project, '../outside.json');
    writeFileSync(outside, '{"from":"outside"}');
    symlinkSync(outside, join(bench.project, 'led-out.json'));
    for (const given of ['/etc/hostname', '../outside.json', 'led-out.json', '/proc/self/environ']) {
      const refused = await bench.run([`@${given}`], { input: '{"from":"stdin"}' });
      expect({ given, exit: refused.code, out: refused.stdout.includes('from') }).toEqual({
        given,
        exit: 3,
        out: false,
      });
      expect(refused.stdout + refused.stderr).toContain('is outside the project');
    }
    expect((await bench.run(['-'], { input: '{"from":"outside"}' })).stdout).toBe('{"from":"outside"}\n');
  });

  it('takes input as flags, following the schema of the tool in the project', async () => {
    await bench.serve({ onCall: ({ request, answer }) => answer({ envelope_json: request.input_json }) });
    const schema = join(dirname(bench.link), 'schema.json');
    copyFileSync(join(import.meta.dirname, '../../tools/safe_bash/schema.json'), schema);
    const run = (...args: string[]) => bench.run(args, { input: '{"from":"stdin"}' });
    const input = { command: "printf '%s' --help", env: { A: 'b' }, max_tokens: 500, view: 'tail', dry_run: true };
    const flags = ['--command', input.command, '--env={"A":"b"}', '--max-tokens', '500', '--view', 'tail', '--dry-run'];
    expect(JSON.parse((await run(...flags, '--json')).stdout)).toEqual(input);
    expect((await run('--progress')).stdout).toBe('{"from":"stdin"}\n');
    expect(readFailure(await run('--comand', 'x', '--json')).error).toMatch(
      /unknown option --comand; did you mean --command\?/,
    );
    expect(readFailure(await run('{}', '--command', 'x')).error).toMatch(/JSON and flags were given together/);
    expect(await run('--schema')).toEqual({ code: 0, stdout: readFileSync(schema, 'utf8'), stderr: '' });
    writeFileSync(schema, '['.repeat(250_000));
    expect(readFailure(await run('--command', 'x', '--json')).error).toMatch(/schema\.json is not JSON/);
    expect((await run('{"command":"x"}')).stdout).toBe('{"command":"x"}\n');
    rmSync(schema);
  });

  it('FR-3.2 writes an answer to a file of the project and prints its path', async () => {
    const data = { stdout: 'ä'.repeat(1024 * 1024), exit_code: 3 };
    const envelope = { success: true, data, error: null, refs: ['art_1'], has_more: false, truncated: false };
    await bench.serve({ onCall: ({ answer }) => answer({ envelope_json: Buffer.from(JSON.stringify(envelope)) }) });
    mkdirSync(join(bench.project, 'sub'), { recursive: true });
    for (let times = 0; times < 2; times++) {
      const finished = await bench.run(['{}', '--out', '../a.json'], { cwd: join(bench.project, 'sub') });
      expect(finished).toMatchObject({ code: 0, stderr: '' });
      const line = finished.stdout.trimEnd();
      const { tokens_used, data: short, refs } = JSON.parse(line);
      expect(tokens_used).toBe(encoding.encode(line, [], []).length);
      const kept = readFileSync(join(bench.project, 'a.json'));
      expect(kept.equals(Buffer.from(`${JSON.stringify(envelope)}\n`))).toBe(true);
      expect({ short, refs }).toEqual({
        short: { out: '../a.json', bytes: kept.length, exit_code: 3 },
        refs: ['art_1'],
      });
    }
  });

  it('makes no call if the answer could not be written', async () => {
    let calls = 0;
    await bench.serve({ onCall: () => calls++ });
    writeFileSync(join(bench.project, 'main.ts'), 'export {};\n');
    symlinkSync('/tmp', join(bench.project, 'away'));
    const cases: [string, number, string][] = [
      ['.claude/settings.json', 3, 'PERMISSION_DENIED'],
      ['opencode.json', 3, 'PERMISSION_DENIED'],
      ['main.ts', 3, 'PERMISSION_DENIED'],
      ['away/x', 2, 'PATH_INVALID'],
      ['../x', 2, 'PATH_INVALID'],
      ['/dev/null', 2, 'PATH_INVALID'],
      ['none/x', 1, 'PATH_NOT_FOUND'],
      ['n'.repeat(300), 2, 'PATH_INVALID'],
    ];
    for (const [out, exit, code] of cases) {
      const finished = await bench.run(['{}', '--out', out]);
      expect({ out, exit: finished.code, ...readFailure(finished) }).toMatchObject({ out, exit, code });
    }
    expect(calls).toBe(0);
    expect(readdirSync(bench.project).sort()).toEqual(expect.arrayContaining(['.claude', 'away', 'main.ts']));
    expect(readFileSync(join(bench.project, 'main.ts'), 'utf8')).toBe('export {};\n');
  });

  it('STORAGE_FULL: leaves a file that cannot be completed as it was and prints the answer', async () => {
    const envelope = (text: string) => `{"success":true,"data":{"stdout":"${text}"}}\n`;
    await bench.serve({
      onCall: ({ answer }) => answer({ envelope_json: Buffer.from(envelope('x'.repeat(9_000)).trim()) }),
    });
    writeFileSync(join(bench.project, 'old.json'), envelope('old'));
    const before = readdirSync(bench.project);
    const script = `trap '' XFSZ; ulimit -f 1; exec '${bench.link}' '{}' --out old.json`;
    const { code, stdout, stderr } = await bench.run(['-c', script], { program: '/bin/sh' });
    expect({ code, stdout }).toEqual({ code: 74, stdout: envelope('x'.repeat(9_000)) });
    expect(stderr).toMatch(/^\[contextd exit 74 · STORAGE_FULL: .*old\.json.*its whole answer is printed.*\]\n$/);
    expect(readFileSync(join(bench.project, 'old.json'), 'utf8')).toBe(envelope('old'));
    expect(readdirSync(bench.project)).toEqual(before);
  });

  // On other systems `script` takes other arguments.
  it.runIf(process.platform === 'linux')(
    'asks for progress only if stderr is a terminal, and shows it there',
    async () => {
      const paths: string[] = [];
      await bench.serve({
        onCall: ({ answer }) => answer({ envelope_json: Buffer.from('{"by":"Execute"}') }),
        onOther(path, stream) {
          paths.push(path);
          const events = [
            { progress: { text: 'é 50 %\n' } },
            { answer: { envelope_json: Buffer.from('{"by":"events"}') } },
          ];
          stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
          stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': '' }));
          for (const event of events) stream.write(framed(ExecuteWithProgress.responseSerialize(event)));
          stream.end();
        },
      });
      const piped = await bench.run(['{}', '--progress']);
      expect({ piped, paths }).toEqual({ piped: { code: 0, stdout: '{"by":"Execute"}\n', stderr: '' }, paths: [] });
      // `script` gives the program a terminal, where stdout and stderr share one screen.
      const command = `'${bench.link}' '{}' --progress`;
      const shown = await bench.run(['-qec', command, '/dev/null'], { program: 'script', env: { SHELL: '/bin/sh' } });
      expect(shown.stdout).toContain('é 50 %\r\n{"by":"events"}\r\n');
      expect({ code: shown.code, paths }).toEqual({ code: 0, paths: [ExecuteWithProgress.path] });
    },
  );

  it('answers a PING during the call', async () => {
    await bench.serve({
      onCall({ stream, answer }) {
        const payload = Buffer.from('8 bytes!');
        stream.session?.ping(payload, (error, _, echoed) =>
          answer({ envelope_json: Buffer.from(JSON.stringify({ error, echoed: echoed.toString() })) }),
        );
      },
    });
    expect((await bench.run(['{}'])).stdout).toBe('{"error":null,"echoed":"8 bytes!"}\n');
  });

  it('continues after a GOAWAY that lets the call finish', async () => {
    await bench.serve({
      onCall({ stream, answer }) {
        stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
        answer({ envelope_json: Buffer.from('{}') });
      },
    });
    expect(await bench.run(['{}'])).toEqual({ code: 0, stdout: '{}\n', stderr: '' });
  });

  it('NFR-2.3 INTERRUPTED: asks for the answer of a call whose connection was lost, and gives up after five times', async () => {
    const calls: ReceivedCall['request'][] = [];
    await bench.serve({
      onCall({ request, stream }) {
        calls.push(request);
        stream.session?.destroy();
      },
    });
    const finished = await bench.run(['{"a":1}']);
    expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 1, code: 'INTERRUPTED' });
    const [first, ...others] = calls;
    expect(first?.is_asked_again).toBe(false);
    expect(others).toEqual([1, 2, 3, 4, 5].map(() => ({ ...first, is_asked_again: true })));
  });

  it('NFR-2.3 prints the answer that the daemon has for a call whose connection was lost', async () => {
    const ids: string[] = [];
    await bench.serve({
      onCall({ request, stream, answer }) {
        ids.push(request.context.request_id);
        if (request.is_asked_again) answer({ envelope_json: Buffer.from('{"kept":1}'), exit_code: 3 });
        else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      },
    });
    expect(await bench.run(['{}'])).toEqual({ code: 3, stdout: '{"kept":1}\n', stderr: '' });
    expect(new Set(ids).size).toBe(1);
    expect(ids).toHaveLength(2);
  });

  it('INTERRUPTED: reports that a call may have run if the daemon abandons it or answers with something that is not gRPC', async () => {
    const ends: ((stream: ServerHttp2Stream) => void)[] = [
      (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
      (stream) => stream.respond({ ':status': 502 }, { endStream: true }),
      (stream) => stream.respond({ ':status': 200 }, { endStream: true }),
      (stream) => {
        stream.respond({ ':status': 200 });
        stream.end('no gRPC');
      },
      (stream) => failCall(stream, 14, ''),
    ];
    for (const onStream of ends) {
      await bench.serve({ onStream });
      const finished = await bench.run(['{}']);
      expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 1, code: 'INTERRUPTED' });
      await bench.stopServing();
    }
  });

  it('reports a status without an answer with the code and remedy from the daemon', async () => {
    await bench.serve({ onStream: (stream) => failCall(stream, 8, 'too%20large%3A%20%C3%A4') });
    const plain = await bench.run(['{}']);
    expect(plain.code).toBe(2);
    expect(readFailure(plain)).toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
      error: expect.stringMatching(/^too large: ä\. /),
    });
    await bench.stopServing();
    const trailers = { 'contextd-code': 'VERSION_MISMATCH', 'contextd-remedy-bin': btoa('Restart it.') };
    await bench.serve({ onStream: (stream) => failCall(stream, 9, 'versions 1 and 2', trailers) });
    expect(readFailure(await bench.run(['{}']))).toEqual({
      code: 'VERSION_MISMATCH',
      error: 'versions 1 and 2. Restart it.',
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('cancels the call at the daemon on %s and exits with 130', async (name) => {
    const seen = Promise.withResolvers<ServerHttp2Stream>();
    await bench.serve({ onCall: ({ stream }) => seen.resolve(stream) });
    const running = bench.run(['{}'], { signal: { when: seen.promise, name } });
    const stream = await seen.promise;
    await once(stream, 'close');
    expect([constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR]).toContain(stream.rstCode);
    const finished = await running;
    expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 130, code: 'CANCELLED' });
  });

  it('closes the connection when the proxy dies', async () => {
    const seen = Promise.withResolvers<ServerHttp2Stream>();
    await bench.serve({ onCall: ({ stream }) => seen.resolve(stream) });
    const running = bench.run(['{}'], { signal: { when: seen.promise, name: 'SIGKILL' } });
    await once(await seen.promise, 'close');
    expect(await running).toEqual({ code: null, stdout: '', stderr: '' });
  });

  it('ends on a signal while it waits for stdin', async () => {
    const more = Buffer.alloc(1024 * 1024, ' ');
    const finished = await bench.run(['-'], { input: more, signalWhileReading: 'SIGTERM' });
    expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 130, code: 'CANCELLED' });
  });

  it('SEC-3.1 SEC-3.2 trusts no server of another authority or with another name', async () => {
    const strangers = await issueCertificates(Date.now(), 3_600_000);
    const { proxy } = bench.certificates;
    for (const server of [strangers.server, proxy]) {
      let streams = 0;
      await bench.serve({ server, onStream: () => streams++ });
      const finished = await bench.run(['{}']);
      expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 3, code: 'AUTH_FAILED' });
      expect(streams).toBe(0);
      await bench.stopServing();
    }
  });

  it('SEC-3.1 is refused by a daemon of another authority', async () => {
    const strangers = await issueCertificates(Date.now(), 3_600_000);
    let streams = 0;
    await bench.serve({ authority: strangers.authority, onStream: () => streams++ });
    const finished = await bench.run(['{}']);
    expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 3, code: 'AUTH_FAILED' });
    expect(streams).toBe(0);
  });

  it('SEC-3.1 allows only TLS 1.3', async () => {
    await bench.serve({ options: { maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } });
    const finished = await bench.run(['{}']);
    expect({ exit: finished.code, ...readFailure(finished) }).toMatchObject({ exit: 69, code: 'DAEMON_UNAVAILABLE' });
  });

  it('names the socket if another program holds it, and blames a busy daemon for nothing', async () => {
    for (const [greeting, blame] of [
      ['220 mail\r\n', /is not contextd/],
      ['', /accepts connections and closes them/],
    ] as const) {
      await bench.listen(
        createServer((connection) =>
          connection
            .on('error', () => undefined)
            .resume()
            .end(greeting),
        ),
      );
      const finished = await bench.run(['{}']);
      const failure = readFailure(finished);
      expect({ exit: finished.code, ...failure }).toMatchObject({ exit: 69, code: 'DAEMON_UNAVAILABLE' });
      expect(failure.error).toContain(bench.socket);
      expect(failure.error).toMatch(blame);
      await bench.stopServing();
    }
  });

  it('refuses input that is missing, blank, too large or more than one argument', async () => {
    const cases: [string[], string | Buffer, string, RegExp][] = [
      [[], '', 'ARGS_INVALID', /stdin is empty.*safe_bash '\{/],
      [['-'], ' \n', 'ARGS_INVALID', /stdin is empty/],
      [['', '--json'], '', 'ARGS_INVALID', /the argument is empty/],
      [['{}', '{}'], '', 'ARGS_INVALID', /2 words were given/],
      [['--quick', '{}', '--json'], '', 'ARGS_INVALID', /schema\.json cannot be read \(ENOENT\).*ctxd init/],
      [['@missing.json'], '', 'PATH_NOT_FOUND', /missing\.json/],
      [['@.', '--json'], '', 'PATH_INVALID', /EISDIR/],
      [
        ['-'],
        Buffer.alloc(INPUT_MAX_BYTES + 1, '1'),
        'PAYLOAD_TOO_LARGE',
        new RegExp(`the limit is ${INPUT_MAX_BYTES}`),
      ],
    ];
    for (const [args, input, code, words] of cases) {
      const failure = readFailure(await bench.run(args, { input }));
      expect(failure).toEqual({ code, error: expect.stringMatching(words) });
    }
  });

  it('refuses a stdin that cannot be read', async () => {
    const shell = { program: '/bin/sh' };
    const failure = readFailure(await bench.run(['-c', `exec '${bench.link}' < /`], shell));
    expect(failure).toMatchObject({ code: 'ARGS_INVALID', error: expect.stringContaining('stdin') });
  });

  it('treats a request as unsent if the certificate files do not match, and reads new ones', async () => {
    const strangers = await issueCertificates(Date.now(), 3_600_000);
    writeFileSync(join(bench.certsDir, 'proxy.key'), strangers.proxy.privateKey);
    bench.installLauncher(`cp '${bench.treasury}'/certs/* '${bench.certsDir}'; exit 0`);
    await bench.serve({});
    expect(await bench.run(['{}'])).toEqual({ code: 0, stdout: '{"success":true}\n', stderr: '' });
    rmSync(bench.launcher);
    writeCertificates(bench.certsDir, bench.certificates);
  });
});

/** Each of them tries for 15 seconds. */
it('all proxies say to call again if the daemon did not process the call', async () => {
  const failures = BUILDS.map(async (build) => {
    const bench = await Bench.create(build);
    try {
      await bench.serve({ onStream: (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM) });
      const finished = await bench.run(['{}']);
      return { exit: finished.code, ...readFailure(finished) };
    } finally {
      await bench.remove();
    }
  });
  for (const failure of await Promise.all(failures))
    expect(failure).toMatchObject({ exit: 69, code: 'DAEMON_UNAVAILABLE' });
});
