import type { RunFacts } from '../call/outcome.ts';
import type { ClientShell } from '../call/request.ts';
import type { SessionRef } from '../call/session.ts';
import type { Clock } from '../core/clock.ts';
import { within } from '../core/deadline.ts';
import type { AnswerForm } from '../core/envelope.ts';
import { ContextdError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Logger } from '../core/log.ts';
import type { ExecRequest__Output as ExecRequest } from '../protocol/generated/host.ts';
import { type EndedBy, type ExecResult, LOG_LEVELS, LOG_LINE_MAX_CHARS } from '../protocol/host-messages.ts';
import type { CommandResult, CommandSpec } from '../sandbox/contract/command.ts';
import type { SandboxPolicy } from '../sandbox/contract/policy.ts';
import type { Sandbox } from '../sandbox/contract/sandbox.ts';
import { FactCollector } from './call-facts.ts';
import { decodeStream } from './exec-output.ts';
import {
  HOST_METHODS,
  type HostMethod,
  type HostServices,
  isHostMethod,
  type RecordOf,
  type ServiceCall,
} from './host-methods.ts';
import type { CommandListener } from './progress/progress-feed.ts';

const EXECS_AT_ONCE = 8;
const LOG_LINES_MAX = 100;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** The host's knowledge of the call for which a tool makes a request. */
export interface HostCall {
  requestId: string;
  session: SessionRef;
  tool: string;
  origin: 'core' | 'installed';
  /** How the call is answered. Default: json. */
  form?: AnswerForm;
  grants: readonly string[];
  outputMaxBytes: number;
  /** Output in bytes (both streams) after which a command is killed; 0: never. */
  outputKillBytes: number;
  /** For a client whose shell is contextd-sh. */
  clientShell?: ClientShell;
  /** Tokens of the secrets given to the call. Default: none. */
  opened?: readonly string[];
  /** Called for each command. The returned listener gets its output. */
  onCommand?(): CommandListener;
  /** End of the call, in monotonic milliseconds. */
  endsAt: number;
  /** Aborts when the call's result is no longer wanted. */
  signal: AbortSignal;
  /** Why the call is ending, or null. */
  ending(): 'timeout' | 'cancelled' | null;
}

export interface HostDeps {
  sandbox: Pick<Sandbox, 'run'>;
  /** Policy of the commands that the tool runs for a session. */
  commandPolicyFor(session: SessionRef): SandboxPolicy;
  /**
   * Replaces everything that looks like a secret with the session's tokens. Tokens in `handed` were already given to
   * the tool and stay unchanged; tokens in the result are added to it.
   */
  scrub(session: SessionRef, texts: readonly string[], handed: Set<string>): Promise<readonly string[]>;
  services: HostServices;
  logger: Logger;
  clock: Clock;
}

/**
 * Everything that one call may ask of the host. The tool is not trusted: each request is checked against the grants of
 * tool.json and recorded, even if it is refused.
 */
export class HostApi {
  readonly #call: HostCall;
  readonly #deps: HostDeps;
  readonly #facts = new FactCollector();
  readonly #underWay = new Set<Promise<unknown>>();
  #execs = 0;
  #logLines = 0;

  constructor(call: HostCall, deps: HostDeps) {
    this.#call = call;
    this.#deps = deps;
  }

  get facts(): RunFacts {
    return this.#facts.read();
  }

  /** Settles when nothing runs for this call any more, or after `maxMs` milliseconds. Null if nothing runs now. */
  finished(maxMs: number): Promise<unknown> | null {
    if (this.#underWay.size === 0) return null;
    return within(maxMs, Promise.allSettled(this.#underWay), () => null);
  }

  /** Runs a shell command until the call's deadline. Throws ARGS_INVALID, RATE_LIMITED and errors from the sandbox. */
  exec(request: ExecRequest, cancelled: AbortSignal): Promise<ExecResult> {
    return this.#serve('Exec', async (record) => {
      const cwd = request.cwd === '' ? this.#call.session.project : request.cwd;
      checkCommand({ ...request, cwd });
      if (this.#execs >= EXECS_AT_ONCE) {
        throw new ContextdError('RATE_LIMITED', `${this.#call.tool} already runs ${EXECS_AT_ONCE} commands in a call`);
      }
      const result = await this.#run({ ...request, cwd }, cancelled);
      const endedBy = this.#endOf(result);
      record.exit_code = result.exitCode;
      record.ended_by = endedBy;
      return toExecResult(result, endedBy);
    });
  }

  /** Tokens in the result count as real in the call's answer too: the tool did not invent them. */
  scrub(texts: readonly string[]): Promise<readonly string[]> {
    return this.#serve('Scrub', () => this.#deps.scrub(this.#call.session, texts, this.#facts.tokensHanded));
  }

  /** Logs a line from the tool, at most 100 per call. It is scrubbed first, like every text for the host. */
  log(level: string, message: string): Promise<void> {
    return this.#serve('Log', async () => {
      const known = LOG_LEVELS.find((one) => one === level);
      if (known === undefined)
        throw invalid(`the log level is not one of ${LOG_LEVELS.join(', ')}`, 'Use one of them.');
      if (message.length > LOG_LINE_MAX_CHARS) {
        throw invalid(`a log line has ${message.length} characters of ${LOG_LINE_MAX_CHARS}`, 'Log less at once.');
      }
      this.#logLines += 1;
      const { tool, requestId, session } = this.#call;
      if (this.#logLines > LOG_LINES_MAX) {
        throw new ContextdError('RATE_LIMITED', `${tool} has written ${LOG_LINES_MAX} log lines in this call`);
      }
      const [scrubbed = ''] = await this.#deps.scrub(session, [message], new Set(this.#facts.tokensHanded));
      this.#deps.logger[known]('tool.log', { tool, request_id: requestId, message: scrubbed });
    });
  }

  /** Calls a host service. Throws the service's errors, or NOT_IMPLEMENTED if this version lacks the service. */
  ask(method: string, request: JsonObject): Promise<JsonObject> {
    if (!isHostMethod(method)) return Promise.reject(this.#refuseUnknown(method));
    return this.#serve(method, async () => {
      const service = this.#deps.services[method];
      if (service === undefined) {
        throw new ContextdError('NOT_IMPLEMENTED', `this version of contextd has no ${method} for tools`, {
          remedy: 'Leave it out, or install a version of contextd that has it.',
        });
      }
      const {
        answer,
        shows,
        standardView,
        refs = [],
        warnings = [],
      } = await service(this.#call.session, request, this.#serviceCall());
      if (shows !== undefined) this.#facts.shows(shows, standardView ?? null);
      this.#facts.found(refs);
      this.#facts.warned(warnings);
      return answer;
    });
  }

  #serviceCall(): ServiceCall {
    const { requestId, tool, origin, form = 'json', endsAt, signal, session, opened, outputKillBytes } = this.#call;
    const commandPolicy = (): SandboxPolicy => this.#deps.commandPolicyFor(session);
    const call = { requestId, tool, isCore: origin === 'core', form, endsAt, signal };
    return { ...call, commandPolicy, opened: opened ?? [], outputKillBytes };
  }

  #serve<Method extends HostMethod, T>(method: Method, work: (record: RecordOf<Method>) => Promise<T>): Promise<T> {
    const served = this.#carryOut(method, work);
    const done = () => this.#underWay.delete(served);
    this.#underWay.add(served);
    served.then(done, done);
    return served;
  }

  async #carryOut<Method extends HostMethod, T>(
    method: Method,
    work: (record: RecordOf<Method>) => Promise<T>,
  ): Promise<T> {
    const startedAt = this.#deps.clock.monotonic();
    const record = this.#facts.open(method);
    try {
      this.#checkAccess(method);
      const answer = await work(record);
      record.error_code = null;
      return answer;
    } catch (thrown) {
      const fault = ContextdError.from(thrown);
      record.error_code = fault.code;
      throw fault;
    } finally {
      record.duration_ms = Math.round((this.#deps.clock.monotonic() - startedAt) * 10) / 10;
    }
  }

  /** The error for a method without a row in the method table. The request is recorded. */
  #refuseUnknown(method: string): ContextdError {
    const { tool } = this.#call;
    this.#facts.open(method).error_code = 'PERMISSION_DENIED';
    return new ContextdError('PERMISSION_DENIED', `${tool} may not use ${method}: no grant opens it`, {
      remedy: 'Use a method that docs/plugins.md describes.',
      details: { method },
    });
  }

  #checkAccess(method: HostMethod): void {
    const { tool, grants, origin } = this.#call;
    const { grant } = HOST_METHODS[method];
    if (grant === 'core tools') {
      if (origin === 'core') return;
      throw new ContextdError('PERMISSION_DENIED', `${tool} may not use ${method}: it is for the core tools alone`, {
        remedy: 'Use a core tool for it.',
        details: { method },
      });
    }
    if (grants.includes(grant)) return;
    throw new ContextdError('PERMISSION_DENIED', `${tool} may not use "${grant}": its tool.json does not grant it`, {
      remedy: `Name "${grant}" in "grants" of its tool.json and accept the tool again with \`ctxd init\`.`,
      details: { grant, granted: grants },
    });
  }

  async #run(request: ExecRequest, cancelled: AbortSignal): Promise<CommandResult> {
    this.#execs += 1;
    const listener = this.#call.onCommand?.();
    try {
      const command = this.#command(request, cancelled);
      const policy = this.#deps.commandPolicyFor(this.#call.session);
      const result = await this.#deps.sandbox.run(
        request.own_loopback ? { ...policy, network: 'none' } : policy,
        // Terminal output is not readable text until a terminal has shown it.
        listener === undefined || request.tty ? command : { ...command, onOutput: listener.output },
      );
      this.#facts.ranCommand(result, command.cwd);
      return result;
    } finally {
      this.#execs -= 1;
      listener?.ended();
    }
  }

  #command({ command, cwd, env, stdin, tty }: ExecRequest, cancelled: AbortSignal): CommandSpec {
    return {
      argv: ['bash', '-c', command],
      cwd,
      env,
      stdin: stdin ?? null,
      terminal: tty,
      ...(this.#call.clientShell === undefined ? {} : { clientShell: this.#call.clientShell }),
      timeoutMs: Math.max(1, Math.ceil(this.#call.endsAt - this.#deps.clock.monotonic())),
      outputMaxBytes: this.#call.outputMaxBytes,
      outputKillBytes: this.#call.outputKillBytes,
      run: { session: this.#call.session.session, requestId: this.#call.requestId },
      signal: AbortSignal.any([this.#call.signal, cancelled]),
    };
  }

  /** A command that was killed because its call ended gets the same reason as the call. */
  #endOf({ endedBy }: CommandResult): EndedBy {
    return endedBy === 'cancelled' ? (this.#call.ending() ?? 'cancelled') : endedBy;
  }
}

/** Throws ARGS_INVALID. */
export function checkCommand({ command, cwd, env }: Pick<ExecRequest, 'command' | 'cwd' | 'env'>): void {
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

function toExecResult(result: CommandResult, endedBy: EndedBy): ExecResult {
  const stdout = decodeStream(result.stdout);
  const stderr = decodeStream(result.stderr);
  return {
    exit_code: result.exitCode,
    signal: result.signal,
    ended_by: endedBy,
    stdout: stdout.text,
    stderr: stderr.text,
    dropped_bytes: stdout.droppedBytes + stderr.droppedBytes,
    duration_ms: Math.round(result.durationMs),
    encoding_replaced: stdout.replaced || stderr.replaced,
    stdout_encoding: stdout.encoding,
    stderr_encoding: stderr.encoding,
    stdout_gap: stdout.gap,
    stderr_gap: stderr.gap,
    doing: result.activity?.kind ?? '',
    doing_text: result.activity?.text ?? '',
  };
}

function invalid(message: string, remedy: string): ContextdError {
  return new ContextdError('ARGS_INVALID', message, { remedy });
}
