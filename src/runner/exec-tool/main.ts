import type { JsonObject } from '../../core/json.ts';
import { serveTool } from '../../sdk/serve.ts';
import { answerOf } from './answer.ts';
import { runProgram } from './run-program.ts';

/** Bytes of the stderr of a program that succeeded. */
const LOGGED_BYTES = 4096;

/**
 * The adapter of tools with the runtime `exec`, `node exec.js ENTRY NAME`: speaks go-plugin and starts the entry for each
 * call, in the same sandbox.
 */
const [entry = '', name = ''] = process.argv.slice(2);

serveTool({
  name,
  async execute({ cwd, workspace, signal, outputMaxBytes }, input) {
    const end = await runProgram({
      entry,
      cwd,
      env: { ...inputVariables(input), ...ownEnvironment(), CONTEXTD_WORKSPACE: workspace },
      stdin: `${JSON.stringify(input)}\n`,
      outputMaxBytes,
      signal,
    });
    // Goes to the daemon's log. Of a failure it is part of the answer.
    if (end.exitCode === 0) process.stderr.write(end.stderr.head.subarray(0, LOGGED_BYTES));
    return answerOf(name, end, signal);
  },
});

/** The environment of this process without what is for go-plugin's handshake. */
function ownEnvironment(): Record<string, string> {
  const own = Object.entries(process.env).filter(([key]) => !/^(?:PLUGIN_|CONTEXTD_PLUGIN$)/.test(key));
  return Object.fromEntries(own.map(([key, value]) => [key, value ?? '']));
}

/** The most bytes of one string of an environment that Linux takes, with name and NUL, less some room. */
const VARIABLE_MAX_BYTES = 120 * 1024;

/** For programs without a reader of JSON: `INPUT_<name>` for each property that is a text, a number, true or false. */
function inputVariables(input: JsonObject): Record<string, string> {
  const plain = Object.entries(input).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' || !/^\w{1,64}$/.test(name) ? [] : [[`INPUT_${name}`, String(value)]],
  );
  const fits = ([, value]: [string, string]): boolean =>
    !value.includes('\0') && Buffer.byteLength(value) <= VARIABLE_MAX_BYTES;
  return Object.fromEntries(plain.filter(fits));
}
