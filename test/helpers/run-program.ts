import { spawn } from 'node:child_process';
import type { Finished, RunOptions } from './installation.ts';

/** Runs a program to its end with exactly `env` as its environment; does not throw for an exit code. */
export function runProgram(program: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const coverage = process.env.NODE_V8_COVERAGE;
  const env = { ...options.env, ...(coverage === undefined ? {} : { NODE_V8_COVERAGE: coverage }) };
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, ...(options.cwd === undefined ? {} : { cwd: options.cwd }) });
    const [out, err]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({ code, signal, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}
