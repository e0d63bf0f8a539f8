import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { CliContext } from '#src/cli/context.js';
import { runCli } from '#src/cli/program.js';
import { exitCodeFor, renderError } from '#src/cli/render.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot, readVersion } from '#src/config/install-root.js';
import { resolvePaths } from '#src/config/paths.js';
import { ContextdError } from '#src/core/errors.js';
import type { Finished } from './installation.ts';

/** One run of `ctxd` without a process of its own: what the process adds takes half a second of a processor. */
export async function runCtxd(
  words: readonly string[],
  at: { cwd: string; env: Readonly<Record<string, string>>; input?: string | Buffer | undefined },
): Promise<Finished> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const stdin = Readable.from(at.input === undefined || at.input.length === 0 ? [] : [Buffer.from(at.input)]);
  const code = await run(words, { stdin, stdout, stderr }, at);
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, signal: null, stdout: out, stderr: err };
}

async function run(
  words: readonly string[],
  streams: Pick<CliContext, 'stdin' | 'stdout' | 'stderr'>,
  at: { cwd: string; env: Readonly<Record<string, string>> },
): Promise<number> {
  const root = findInstallRoot();
  const env = readEnvironment(at.env);
  try {
    const paths = resolvePaths(env, root);
    const signal = new AbortController().signal;
    return await runCli(words, { ...streams, env, paths, version: readVersion(root), cwd: at.cwd, signal });
  } catch (thrown) {
    // As the process does if its environment leads to no usable paths.
    const error = ContextdError.from(thrown);
    streams.stderr.write(renderError(error));
    return exitCodeFor(error);
  }
}
