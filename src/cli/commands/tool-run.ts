import { ContextdError } from '../../core/errors.ts';
import { newRequestId } from '../../core/ids.ts';
import { INPUT_MAX_BYTES } from '../../core/limits.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input.ts';
import { projectAround } from '../project-option.ts';
import { printable, write } from '../render.ts';

export const toolRun = defineCommand({
  name: ['tool', 'run'],
  summary: 'call a tool in the project around here and print its answer',
  parameters: [{ syntax: '<tool>', help: 'the tool' }],
  options: [{ syntax: '--input <json>', help: 'its arguments: JSON, @file, or - for standard input (default {})' }],
  async run(context, given) {
    const root = await projectAround(context);
    const input = await readInput(given.text('input') ?? '{}', context, INPUT_MAX_BYTES);
    const answer = await callTool(context, given.requiredWord(0), root, input);
    if (answer.error_line !== '') await write(context.stderr, `${printable(answer.error_line)}\n`);
    return { line: answer.envelope_json.toString('utf8'), exitCode: answer.exit_code };
  },
  // The envelope is one JSON value already: `--json` has nothing to add.
  bare: ({ line }) => line,
  view: ({ line }) => ({ kind: 'raw', text: `${line}\n` }),
  exitCode: ({ exitCode }) => (exitCode === 0 || exitCode === 2 || exitCode === 69 ? exitCode : 1),
});

async function callTool(context: CliContext, tool: string, root: string, input: Buffer) {
  const request = {
    tool,
    input_json: input,
    context: {
      request_id: newRequestId(Date.now()),
      project_root: root,
      session_id: context.env.sessionId ?? '',
      protocol_version: PROTOCOL_VERSION,
    },
  };
  return withClient(context.paths, async (client) => {
    // Asked first, so that a connection lost later is known to have been lost in the middle of the call.
    await client.status();
    return client.execute(request, context.signal).catch((error) => {
      throw lostInTheMiddle(error);
    });
  });
}

/** The call may have run: it is not said to be repeatable. */
function lostInTheMiddle(error: unknown): unknown {
  if (!(error instanceof ContextdError) || error.code !== 'DAEMON_UNAVAILABLE') return error;
  return new ContextdError('INTERRUPTED', 'the daemon went away in the middle of the call', {
    remedy: 'See `ctxd audit tail` for whether it ran before you call again.',
    cause: error,
  });
}
