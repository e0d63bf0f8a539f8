import type { Clock } from '../core/clock.ts';
import { ContextdError } from '../core/errors.ts';
import type { Logger } from '../core/log.ts';
import type { ExecSpec, LogLevel } from '../protocol/tool-frames.ts';
import type { ExecResult } from '../protocol/tool-output.ts';
import type { CommandResult, CommandSpec, Sandbox, SandboxPolicy } from '../sandbox/sandbox.ts';
import { decodeStream } from './exec-output.ts';

const EXECS_AT_ONCE = 8;
const LOG_LINES_MAX = 100;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** What the host needs to know of the call for which a tool asks something. */
export interface HostCall {
  requestId: string;
  tool: string;
  grants: readonly string[];
  outputMaxBytes: number;
  /** Monotonic milliseconds at which the call is over. */
  endsAt: number;
  /** Aborts when nobody waits for the call any more. */
  signal: AbortSignal;
}

/** What one call may ask back. Nothing here trusts the tool: each request is checked against the grants of tool.json. */
export class HostApi {
  readonly #call: HostCall;
  readonly #policy: SandboxPolicy;
  readonly #deps: { sandbox: Sandbox; logger: Logger; clock: Clock };
  readonly #quarantined: string[] = [];
  #running = 0;
  #logLines = 0;

  constructor(call: HostCall, policy: SandboxPolicy, deps: { sandbox: Sandbox; logger: Logger; clock: Clock }) {
    this.#call = call;
    this.#policy = policy;
    this.#deps = deps;
  }

  /** Protected paths, relative to the workspace, that the commands of this call made and that were moved away. */
  get quarantined(): readonly string[] {
    return this.#quarantined;
  }

  /** Runs a shell command until the call's deadline. Throws PERMISSION_DENIED, ARGS_INVALID, RATE_LIMITED and what the sandbox throws. */
  async exec(spec: ExecSpec): Promise<ExecResult> {
    this.#require('exec');
    checkSpec(spec);
    if (this.#running >= EXECS_AT_ONCE) {
      throw new ContextdError('RATE_LIMITED', `${this.#call.tool} already runs ${EXECS_AT_ONCE} commands in this call`);
    }
    this.#running += 1;
    try {
      const result = await this.#deps.sandbox.run(this.#policy, this.#command(spec));
      this.#quarantined.push(...result.quarantined);
      return toExecResult(result);
    } finally {
      this.#running -= 1;
    }
  }

  /** A line of the tool's; at most 100 in a call. The logger masks it. */
  log(level: LogLevel, message: string): void {
    if (!this.#call.grants.includes('log') && level !== 'error') return;
    this.#logLines += 1;
    if (this.#logLines > LOG_LINES_MAX) return;
    const { tool, requestId } = this.#call;
    this.#deps.logger[level]('tool.log', { tool, request_id: requestId, message });
  }

  #require(grant: string): void {
    const { tool, grants } = this.#call;
    if (grants.includes(grant)) return;
    throw new ContextdError('PERMISSION_DENIED', `${tool} may not use "${grant}": its tool.json does not grant it`, {
      remedy: `Name "${grant}" in "grants" of its tool.json and accept the tool again with \`ctxd init\`.`,
      details: { grant, granted: grants },
    });
  }

  #command(spec: ExecSpec): CommandSpec {
    return {
      argv: ['bash', '-c', spec.command],
      cwd: spec.cwd,
      env: spec.env,
      stdin: spec.stdin === null ? null : Buffer.from(spec.stdin),
      timeoutMs: Math.max(1, Math.ceil(this.#call.endsAt - this.#deps.clock.monotonic())),
      outputMaxBytes: this.#call.outputMaxBytes,
      signal: this.#call.signal,
    };
  }
}

function checkSpec({ command, cwd, env }: ExecSpec): void {
  if (command.includes('\0'))
    throw invalid('the command holds a NUL character', 'Remove it, or give the data on stdin.');
  if (!cwd.startsWith('/') || cwd.includes('\0')) {
    throw invalid(`${JSON.stringify(cwd)} is not an absolute path`, 'Give the directory as an absolute path.');
  }
  for (const [name, value] of Object.entries(env)) {
    if (!ENV_NAME.test(name)) {
      throw invalid(`${JSON.stringify(name)} cannot name an environment variable`, 'Use letters, digits and "_".');
    }
    if (value.includes('\0')) throw invalid(`the value of ${name} holds a NUL character`, 'Remove it.');
  }
}

function toExecResult(result: CommandResult): ExecResult {
  const stdout = decodeStream(result.stdout);
  const stderr = decodeStream(result.stderr);
  return {
    exit_code: result.exitCode,
    signal: result.signal,
    ended_by: result.endedBy,
    stdout: stdout.text,
    stderr: stderr.text,
    dropped_bytes: result.stdout.droppedBytes + result.stderr.droppedBytes,
    duration_ms: Math.round(result.durationMs),
    encoding_replaced: stdout.replaced || stderr.replaced,
  };
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
