import { join } from 'node:path';
import { loadSync, type MethodDefinition } from '@grpc/proto-loader';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnswerForm } from '#src/core/envelope.js';
import { SURFACES } from '#src/core/surfaces.js';
import {
  decodeExecuteEvent,
  decodeExecuteResponse,
  decodeFields,
  EXECUTE_PATH,
  EXECUTE_WITH_PROGRESS_PATH,
  encodeExecuteRequest,
} from '#src/proxy/messages.js';
import { bytes } from './arbitraries.ts';

const includeDirs = [join(import.meta.dirname, '../../../proto')];
const { Execute, ExecuteWithProgress } = loadSync('contextd/v1/tool.proto', {
  includeDirs,
  keepCase: true,
  defaults: true,
})['contextd.v1.ToolService'] as unknown as Record<'Execute' | 'ExecuteWithProgress', MethodDefinition<object, object>>;

const text = fc.string({ unit: 'binary' });
const none = Buffer.alloc(0);
const EMPTY = { envelopeJson: none, exitCode: 0, errorLine: '', textStdout: none, textStderr: none, directory: '' };

describe('the messages of tool.proto', () => {
  it('FR-1.3 are read by protobuf.js as requests with the same content', () => {
    const request = fc.record({
      tool: text,
      inputJson: bytes({ maxLength: 500 }),
      requestId: text,
      projectRoot: text,
      sessionId: text,
      branch: text,
      protocolVersion: fc.nat(0xffff_ffff),
      form: fc.constantFrom<AnswerForm[]>('json', 'text', 'content'),
      cwd: text,
      inputText: bytes({ maxLength: 500 }),
      door: fc.constantFrom('own' as const, 'mcp' as const, 'shell' as const),
      isMerged: fc.boolean(),
      isAskedAgain: fc.boolean(),
      wholeText: text,
      surface: fc.constantFrom(...SURFACES),
    });
    fc.assert(
      fc.property(request, (meant) => {
        expect(Execute.requestDeserialize(encodeExecuteRequest(meant))).toEqual({
          tool: meant.tool,
          input_json: meant.inputJson,
          context: {
            request_id: meant.requestId,
            project_root: meant.projectRoot,
            session_id: meant.sessionId,
            protocol_version: meant.protocolVersion,
            branch: meant.branch,
            door: ['own', 'mcp', 'shell'].indexOf(meant.door),
            surface: meant.surface,
          },
          form: ['json', 'text', 'content'].indexOf(meant.form),
          cwd: meant.cwd,
          input_text: meant.inputText,
          is_merged: meant.isMerged,
          is_asked_again: meant.isAskedAgain,
          whole_text: meant.wholeText,
        });
      }),
    );
    expect(EXECUTE_PATH).toBe(Execute.path);
    expect(EXECUTE_WITH_PROGRESS_PATH).toBe(ExecuteWithProgress.path);
  });

  it('FR-1.3 are read as responses with the content that protobuf.js wrote', () => {
    const response = fc.record({
      envelope_json: bytes(),
      exit_code: fc.nat(0xffff_ffff),
      error_line: text,
      text_stdout: bytes(),
      text_stderr: bytes(),
      directory: text,
    });
    fc.assert(
      fc.property(response, (meant) => {
        expect(decodeExecuteResponse(Execute.responseSerialize(meant))).toEqual({
          envelopeJson: meant.envelope_json,
          exitCode: meant.exit_code,
          errorLine: meant.error_line,
          textStdout: meant.text_stdout,
          textStderr: meant.text_stderr,
          directory: Buffer.from(meant.directory).toString(),
        });
      }),
    );
  });

  it('are read as events with the content that protobuf.js wrote', () => {
    const answer = fc.record({ envelope_json: bytes(), exit_code: fc.nat(255), error_line: text });
    fc.assert(
      fc.property(text, answer, (shown, meant) => {
        const read = (event: object) => decodeExecuteEvent(ExecuteWithProgress.responseSerialize(event));
        expect(read({ progress: { text: shown } })).toEqual({ kind: 'progress', text: Buffer.from(shown).toString() });
        expect(read({ answer: meant })).toEqual({
          kind: 'answer',
          response: {
            ...EMPTY,
            envelopeJson: meant.envelope_json,
            exitCode: meant.exit_code,
            errorLine: meant.error_line,
          },
        });
        expect(read({})).toBeNull();
      }),
    );
  });

  it('give fields or RangeError for hostile bytes', () => {
    fc.assert(
      fc.property(bytes({ maxLength: 60 }), (message) => {
        for (const decode of [decodeFields, decodeExecuteResponse, decodeExecuteEvent]) {
          try {
            decode(message);
          } catch (error) {
            expect(error).toBeInstanceOf(RangeError);
          }
        }
      }),
    );
  });

  it('are read without fields of later versions, and known fields of another type are refused', () => {
    const unknown = Buffer.from('58015d00000000590000000000000000620161', 'hex');
    expect(decodeExecuteResponse(unknown)).toEqual(EMPTY);
    for (const wrong of ['0801', '120161', '1801', '0b', '0a05', '00', 'ffffffffffffffffffffff']) {
      expect(() => decodeExecuteResponse(Buffer.from(wrong, 'hex')), wrong).toThrow(RangeError);
    }
  });
});
