import { createInterface } from 'node:readline/promises';
import type { ContextdError } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import { printable, write } from './render.ts';

/** Shows lines on standard error and asks for a yes. Throws `refusal` without one, and if nobody can be asked. */
export async function confirm(
  context: CliContext,
  lines: readonly string[],
  question: string,
  refusal: ContextdError,
): Promise<void> {
  await write(context.stderr, `${lines.map(printable).join('\n')}\n`);
  if (context.stdin.isTTY !== true) throw refusal;
  const prompt = createInterface({ input: context.stdin, output: context.stderr });
  try {
    const answer = await prompt.question(`${question} [y/N] `, { signal: context.signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw refusal;
  } finally {
    prompt.close();
  }
}
