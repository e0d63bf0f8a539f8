import { newRequestId } from '../../core/ids.ts';
import { PROTOCOL_VERSION } from '../../protocol/versions.ts';
import { type DaemonClient, withClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { readInput } from '../input.ts';
import { findProjectRoot, projectAt } from '../project-root.ts';
import { type HookName, readHookInput } from './hook-input.ts';

/** Bytes of what a client passes to a hook. The answer of an editing tool holds whole files. More could take seconds to parse. */
const INPUT_MAX_BYTES = 4 * 1024 * 1024;
/** Milliseconds that a warm start may take, once the daemon has answered. */
const WARM_START_MS = 3_000;

export interface HookResult {
  /** What the client shows its model. */
  text: string;
  recorded: number;
}

/** Without a daemon a hook does nothing and starts nothing. It never fails: a client may stop the work of its agent then. */
export function answerHook(name: HookName, context: CliContext, path: string | undefined): Promise<HookResult> {
  return answer(name, context, path).catch(() => ({ text: '', recorded: 0 }));
}

async function answer(name: HookName, context: CliContext, path: string | undefined): Promise<HookResult> {
  const given = path === undefined ? undefined : await projectAt(context, path);
  const text = context.stdin.isTTY === true ? '' : (await readInput('-', context, INPUT_MAX_BYTES)).toString();
  const input = await readHookInput(name, text, context.cwd);
  const root = given ?? (await findProjectRoot(input.cwd));
  if (root === undefined) return { text: '', recorded: 0 };
  const session = context.env.sessionId ?? input.session ?? '';
  const { cause, items } = input;
  return withClient(context.paths, async (client) => {
    const taken = await client.takeHook({ root, session, hook: name, cause, items: [...items] });
    const { text, recorded, warm_start_tokens: tokens } = taken;
    return { text: tokens === 0 ? text : text + (await warmStart(client, root, session, tokens)), recorded };
  });
}

/** The answer of session_init as text; '' if it does not come in time. */
async function warmStart(client: DaemonClient, root: string, session: string, maxTokens: number): Promise<string> {
  const request = {
    tool: 'session_init',
    input_json: Buffer.from(JSON.stringify({ max_tokens: maxTokens })),
    form: 'CALL_FORM_TEXT',
    context: {
      request_id: newRequestId(Date.now()),
      project_root: root,
      session_id: session,
      branch: '',
      protocol_version: PROTOCOL_VERSION,
    },
  } as const;
  const answer = await client.execute(request, AbortSignal.timeout(WARM_START_MS)).catch(() => null);
  return answer?.exit_code === 0 ? answer.text_stdout.toString('utf8') : '';
}
