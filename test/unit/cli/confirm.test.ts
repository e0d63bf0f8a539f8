import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { CliContext } from '#src/cli/context.js';
import { confirm } from '#src/cli/input.js';
import { exitCodeFor, renderError } from '#src/cli/render.js';
import { ContextdError } from '#src/core/errors.js';

const refusal = new ContextdError('CANCELLED', 'weather was not installed', {
  remedy: 'A person answers yes at a terminal.',
});

/** What `ctxd` prints and exits with after the keys at each question; null: they agreed. `isTerminal`: somebody can be asked. */
async function answerTo(
  keys: string | readonly string[],
  isTerminal = true,
): Promise<{ line: string; code: number } | null> {
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal, setRawMode: () => stdin });
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const shown = text(stderr);
  const context = { stdin, stderr, signal: new AbortController().signal } as Partial<CliContext> as CliContext;
  const asked = confirm(context, ['weather 1.0.0'], 'Install it?', refusal);
  const typed = [keys].flat();
  stderr.on('data', (chunk: Buffer) => {
    if (String(chunk).includes('[y/N] ')) stdin.write(typed.shift() ?? '');
  });
  try {
    return await asked.then(() => null);
  } catch (thrown) {
    const error = ContextdError.from(thrown);
    return { line: renderError(error), code: exitCodeFor(error) };
  } finally {
    stderr.end();
    expect(await shown).toContain('weather 1.0.0');
  }
}

describe('a question of ctxd', () => {
  it('is answered by y or yes', async () => {
    for (const keys of ['y\r', 'Yes\r']) expect(await answerTo(keys)).toBeNull();
  });

  it('FR-10.4 says what was not done after a no, and not how to answer yes', async () => {
    for (const keys of ['n\r', '\r', 'NO\r'])
      expect(await answerTo(keys)).toEqual({ line: 'ctxd: weather was not installed\n', code: 1 });
  });

  it('is asked again after an answer that is neither yes nor no', async () => {
    for (const unclear of [['nonsense\r'], ['yesno\r'], ['ja\r'], ['n0\r'], ['ye\r', 'nah\r']]) {
      expect(await answerTo([...unclear, 'y\r'])).toBeNull();
      expect(await answerTo([...unclear, 'n\r'])).toMatchObject({ code: 1 });
    }
  });

  it('says how to answer if nobody can be asked', async () => {
    expect(await answerTo('', false)).toEqual({
      line: 'ctxd: weather was not installed. A person answers yes at a terminal.\n',
      code: 1,
    });
  });

  it('ends with 130 after Ctrl-C, and says that nothing was changed', async () => {
    expect(await answerTo('\u0003')).toEqual({ line: 'ctxd: stopped, nothing was changed\n', code: 130 });
  });
});
