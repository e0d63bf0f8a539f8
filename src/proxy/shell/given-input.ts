import { isUtf8 } from 'node:buffer';
import { fstatSync, readSync } from 'node:fs';
import { ContextdError } from '../../core/errors.ts';
import { INPUT_MAX_BYTES } from '../../core/limits.ts';

/**
 * A file or a pipe of another program, if the command may read it: what it does not read is there for the next command. Nothing is
 * read from a socket, which a client may leave open for ever.
 */
export async function inputOfFile(command: string): Promise<string | null> {
  const input = fstatSync(0);
  if (!input.isFile() && !input.isFIFO()) return null;
  // Loaded only here, because the parser is large.
  const { mayReadInput } = await import('./reads-input.ts');
  if (!mayReadInput(command)) return null;
  return textOfInput();
}

/** Null for an empty one. Throws PAYLOAD_TOO_LARGE or ARGS_INVALID before anything runs: a command must not read something else. */
function textOfInput(): string | null {
  const chunks: Buffer[] = [];
  for (let size = 0; ; ) {
    const chunk = Buffer.allocUnsafe(64 * 1024);
    const count = readSync(0, chunk);
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
    size += count;
    if (size > INPUT_MAX_BYTES)
      throw new ContextdError('PAYLOAD_TOO_LARGE', `standard input has more than ${INPUT_MAX_BYTES} bytes`, {
        remedy: INPUT_REMEDY,
      });
  }
  const input = Buffer.concat(chunks);
  if (!isUtf8(input))
    throw new ContextdError('ARGS_INVALID', 'standard input is not text in UTF-8', { remedy: INPUT_REMEDY });
  return input.length === 0 ? null : input.toString('utf8');
}

const INPUT_REMEDY = 'Put it into a file of the project and let the command read that: `COMMAND <FILE`.';
