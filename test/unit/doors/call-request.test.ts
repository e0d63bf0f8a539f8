import fc from 'fast-check';
import { expect, it } from 'vitest';
import { REQUEST_ID_PATTERN } from '#src/core/ids.js';
import { INPUT_MAX_BYTES } from '#src/core/limits.js';
import { receiveCall } from '#src/doors/grpc/call-request.js';

const { signal } = new AbortController();
const GOOD = 'req_01JD0000000000000000000000';
const context = {
  request_id: GOOD,
  project_root: '/p',
  session_id: 's',
  protocol_version: 2,
  branch: 'br_1',
  door: 0,
  surface: '',
} as const;
const wire = {
  tool: 'safe_bash',
  input_json: Buffer.from('{}'),
  context,
  form: 1,
  cwd: '/p/lib',
  input_text: Buffer.from('ls'),
  is_merged: false,
  is_asked_again: false,
  whole_text: '',
} as const;

it('a call of this version is passed on unchanged', () => {
  const { request, fault } = receiveCall(wire, signal, 'proxy', 0);
  expect(fault).toBeUndefined();
  expect(request).toEqual({
    requestId: GOOD,
    principal: { door: 'grpc', client: 'proxy' },
    tool: 'safe_bash',
    projectRoot: '/p',
    sessionHint: 's',
    branchHint: 'br_1',
    inputJson: Buffer.from('{}'),
    inputText: Buffer.from('ls'),
    form: 'text',
    cwd: '/p/lib',
    signal,
  });
});

it('issue 35 part 1: a command of a client whose shell is contextd-sh comes through the door shell', () => {
  const { request } = receiveCall({ ...wire, is_merged: true, context: { ...context, door: 2 } }, signal, 'proxy', 0);
  expect(request).toMatchObject({ principal: { door: 'shell', client: 'proxy' }, clientShell: { isMerged: true } });
});

it('FR-4.1: only the shell of a client names the text of which its command is a part', () => {
  const part = { ...wire, whole_text: 'ls; git push &' };
  const { request } = receiveCall({ ...part, context: { ...context, door: 2 } }, signal, 'proxy', 0);
  expect(request.wholeText).toBe('ls; git push &');
  expect(receiveCall(part, signal, 'proxy', 0).request).not.toHaveProperty('wholeText');
});

it('issue 34: a call that the bridge of an MCP client passes on comes through the door mcp', () => {
  const { request } = receiveCall({ ...wire, context: { ...context, door: 1 } }, signal, 'proxy', 0);
  expect(request.principal).toEqual({ door: 'mcp', client: 'proxy' });
});

it.each([
  ['compact', 'compact'],
  ['', undefined],
  ['toString', undefined],
  ['[contextd', undefined],
])('issue 34: takes %j as what the client sees only if it is the name of a surface', (surface, known) => {
  const { request } = receiveCall({ ...wire, context: { ...context, surface } }, signal, 'proxy', 0);
  expect(request.surface).toBe(known);
});

it.each([0, 1, 4_294_967_295])('version %i is refused with an error that names both versions', (version) => {
  const { fault } = receiveCall({ ...wire, context: { ...context, protocol_version: version } }, signal, 'proxy', 0);
  expect(fault).toMatchObject({ code: 'VERSION_MISMATCH', details: { caller: version, daemon: 2 } });
  expect(fault?.message).toBe(`the caller speaks protocol version ${version}, this daemon version 2`);
});

it.each(['', '/', '/other', '/p/../q', '/p/./lib', '/px', 'lib', `/p/${'x'.repeat(5_000)}`, '/p/a\0b'])(
  'takes the root of the project for the directory %j',
  (cwd) => {
    expect(receiveCall({ ...wire, cwd }, signal, 'proxy', 0).request.cwd).toBe('/p');
  },
);

it('refuses a call without context', () => {
  expect(receiveCall({ ...wire, context: null }, signal, 'proxy', 0).fault?.code).toBe('VERSION_MISMATCH');
});

it('refuses arguments over the limit and names both numbers', () => {
  const { fault } = receiveCall({ ...wire, input_json: Buffer.alloc(INPUT_MAX_BYTES - 1) }, signal, 'proxy', 0);
  expect(fault).toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
    details: { size: INPUT_MAX_BYTES + 1, limit: INPUT_MAX_BYTES },
  });
  expect(
    receiveCall({ ...wire, input_json: Buffer.alloc(INPUT_MAX_BYTES - 2) }, signal, 'proxy', 0).fault,
  ).toBeUndefined();
});

it('the request is safe to record for any message', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.integer({ min: 0, max: 9000 }).map((n) => 'x'.repeat(n)),
  );
  const protocol_version = fc.nat(3);
  const door = fc.constantFrom(0, 1);
  const sent = fc.record({
    request_id: text,
    project_root: text,
    session_id: text,
    branch: text,
    protocol_version,
    door,
    surface: text,
  });
  fc.assert(
    fc.property(text, fc.option(sent), (tool, given) => {
      const { request, fault } = receiveCall({ ...wire, tool, context: given }, signal, 'proxy', 1);
      expect(request.requestId).toMatch(REQUEST_ID_PATTERN);
      expect(request.tool.length).toBeLessThanOrEqual(128);
      expect(request.projectRoot.length).toBeLessThanOrEqual(4096);
      expect(request.sessionHint.length).toBeLessThanOrEqual(4096);
      expect(request.branchHint.length).toBeLessThanOrEqual(128);
      const { project_root = '', session_id = '', branch = '' } = given ?? {};
      const cut = tool.length > 128 || project_root.length > 4096 || session_id.length > 4096 || branch.length > 128;
      if (given?.protocol_version === 2) expect(fault?.code).toBe(cut ? 'ARGS_INVALID' : undefined);
    }),
  );
});
