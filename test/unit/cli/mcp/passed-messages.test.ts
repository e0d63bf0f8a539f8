import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerQuestionRpc, decodePassedEvent, followServersRpc, passRpc } from '#src/cli/mcp/passed-messages.js';
import type { JsonObject } from '#src/core/json.js';
import { McpError } from '#src/core/passing.js';
import { loadProtocol } from '#src/protocol/load.js';

const { FollowServers, Pass, AnswerQuestion } = loadProtocol().ToolService.service;

const CONTEXT = {
  requestId: 'req_1',
  projectRoot: '/p',
  sessionId: 's',
  branch: '',
  protocolVersion: 2,
  door: 'mcp' as const,
};
const ON_WIRE = { request_id: 'req_1', project_root: '/p', session_id: 's', protocol_version: 2, door: 1 };

const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })) as fc.Arbitrary<JsonObject>;
const text = fc.string({ unit: 'binary' });
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

describe('the messages that pass between an MCP client and servers', () => {
  it('issue 34: are read by protobuf.js as requests with the same content', () => {
    fc.assert(
      fc.property(
        text,
        fc.boolean(),
        object,
        text,
        object,
        text,
        (client, isLegacy, capabilities, method, params, id) => {
          const sent = { client, isLegacy, capabilities, method, params, toolId: id };
          expect(Pass.requestDeserialize(passRpc(CONTEXT, sent).message)).toMatchObject({
            context: ON_WIRE,
            client,
            is_legacy: isLegacy,
            capabilities_json: json(capabilities),
            message_json: json({ method, params }),
            tool_id: id,
          });
          const answered = AnswerQuestion.requestDeserialize(
            answerQuestionRpc(CONTEXT, id, { result: params }).message,
          );
          expect(answered).toMatchObject({
            context: ON_WIRE,
            id,
            result_json: json(params),
            error_json: Buffer.alloc(0),
          });
        },
      ),
    );
    expect(FollowServers.requestDeserialize(followServersRpc(CONTEXT, 'name').message)).toMatchObject({
      context: ON_WIRE,
      earlier: 'name',
    });
    const refused = answerQuestionRpc(CONTEXT, 'q', { error: new McpError(-1, 'no', { why: 'busy' }) });
    expect(AnswerQuestion.requestDeserialize(refused.message)).toMatchObject({
      error_json: json({ code: -1, message: 'no', data: { why: 'busy' } }),
    });
  });

  it('issue 34: reads each event as protobuf.js writes it', () => {
    const read = (event: Parameters<typeof Pass.responseSerialize>[0]) =>
      decodePassedEvent(Pass.responseSerialize(event));
    const message = { method: 'roots/list', params: { a: [1, 'é'] } };
    expect(read({ client: 'c' })).toEqual({ kind: 'client', client: 'c' });
    expect(read({ notice_json: json(message) })).toEqual({ kind: 'notice', message });
    expect(read({ question: { id: 'q', message_json: json(message) } })).toEqual({
      kind: 'question',
      id: 'q',
      message,
    });
    expect(read({ withdrawn: 'q' })).toEqual({ kind: 'withdrawn', id: 'q' });
    expect(read({ result_json: json({ a: 1 }) })).toEqual({ kind: 'result', result: { a: 1 } });
    expect(read({ is_unknown_client: true })).toEqual({ kind: 'unknown client' });
    const { code, message: why, data } = new McpError(-32_602, 'no', { uri: 'a:b' });
    const error = read({ error_json: json({ code, message: why, data }) });
    expect(error).toMatchObject({ kind: 'error', error: { code, message: why, data } });
  });

  it.each([
    ['nothing', {}],
    ['text that is not JSON', { result_json: Buffer.from('{') }],
    ['a list', { result_json: json([1]) }],
    ['a message without a method', { notice_json: json({ params: {} }) }],
    ['an error without a code', { error_json: json({ message: 'no' }) }],
    ['an object of a thousand levels', { result_json: Buffer.from(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`) }],
  ])('issue 34: an event with %s is a RangeError, by which the answer counts as unreadable', (_what, event) => {
    expect(() => decodePassedEvent(Pass.responseSerialize(event))).toThrow(RangeError);
  });
});
