import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stringify } from 'smol-toml';
import { readEnvironment } from '../../../config/env.ts';
import { isErrno } from '../../../core/errors.ts';
import { ScriptedModel, type Step } from './scripted-model.ts';
import type { Seen } from './wires.ts';

/** What came of a conversation: what the model saw, and what the client printed about itself. */
export interface Conversation {
  results: readonly Seen[];
  prompt: string;
  /** The definitions of tools in the last request, as the client writes them. */
  tools: readonly object[];
  /** The bodies of all requests to the model, also those for titles and summaries. */
  requests: readonly string[];
  log: string;
}

export interface ClientOptions {
  /** Directory that the client starts in. */
  cwd: string;
  /** Variables beyond PATH, HOME and those that keep the client off the network. */
  env?: Record<string, string>;
  /** HOME of the client, which stays; a new one if missing. */
  home?: string;
  /** Ends the client when it aborts, and the conversation with its reason. */
  signal?: AbortSignal;
  /** What the person says. Default: to run the script. */
  prompt?: string;
  /** Tokens that the model of OpenCode says its first step took, of 200,000. Default: 1. */
  firstTokens?: number;
  /** Tools that Claude Code may use without asking, as on its command line. Default: those of the settings. */
  allow?: readonly string[];
  /** The conversation of Claude Code that goes on. Its results so far count as steps. Default: a new one. */
  resume?: string;
  /** Further words on the command line, before the prompt. Default: none; for Codex those that turn its own sandbox off. */
  words?: readonly string[];
  /** Milliseconds that the conversation may last. Only a client that hangs uses them up. Default: 170,000. */
  limitMs?: number;
  /** Called with the client's process when it has started. */
  onStarted?(child: ChildProcess): void;
}

const LIMIT_MS = 170_000;

/** Runs Claude Code headless, in a folder that a person has trusted, against a model that plays these commands. */
export function runClaude(
  program: string,
  commands: readonly (string | Step)[],
  options: ClientOptions,
): Promise<Conversation> {
  const steps = commands.map((one) => (typeof one === 'string' ? bashStep('Bash', one) : one));
  return converse(steps, options, (model, home) => {
    const trusted = { [options.cwd]: { hasTrustDialogAccepted: true } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ hasCompletedOnboarding: true, projects: trusted }));
    return {
      words: [
        program,
        '-p',
        options.prompt ?? 'Run the script.',
        ...(options.resume === undefined ? [] : ['--resume', options.resume]),
        ...(options.allow === undefined ? [] : ['--allowedTools', ...options.allow]),
        ...(options.words ?? []),
        '--output-format',
        'stream-json',
        '--verbose',
        '--model',
        'claude-sonnet-4-5',
      ],
      env: {
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
      },
    };
  });
}

/** Runs OpenCode headless against a model that plays these commands. The project's own opencode.json counts too. */
export function runOpenCode(
  program: string,
  commands: readonly (string | Step)[],
  options: ClientOptions,
): Promise<Conversation> {
  const steps = commands.map((one) => (typeof one === 'string' ? bashStep('bash', one) : one));
  return converse(steps, options, (model, home) => ({
    words: [
      program,
      'run',
      '--format',
      'json',
      '--print-logs',
      ...(options.words ?? []),
      options.prompt ?? 'Run the script.',
    ],
    env: {
      XDG_CONFIG_HOME: configHome(program, home),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_CACHE_HOME: join(home, '.cache'),
      XDG_STATE_HOME: join(home, '.local/state'),
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(model.url)),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
  }));
}

/** Runs Codex headless in a project that a person has trusted, with its hooks, against a model that plays these commands. */
export function runCodex(
  program: string,
  commands: readonly (string | Step)[],
  options: ClientOptions,
): Promise<Conversation> {
  const steps = commands.map((one) => (typeof one === 'string' ? { tool: 'exec_command', input: { cmd: one } } : one));
  return converse(steps, options, (model, home) => {
    const directory = join(home, '.codex');
    mkdirSync(directory, { recursive: true });
    const scripted = { name: 'scripted', base_url: `${model.url}/v1`, wire_api: 'responses' };
    const config = {
      model: 'scripted',
      model_provider: 'scripted',
      model_providers: { scripted },
      projects: { [options.cwd]: { trust_level: 'trusted' } },
    };
    writeFileSync(join(directory, 'config.toml'), stringify(config));
    return {
      words: [
        ...[program, 'exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust'],
        ...(options.words ?? ['--sandbox', 'danger-full-access']),
        options.prompt ?? 'Run the script.',
      ],
      env: {},
    };
  });
}

/** Runs Gemini CLI headless in a folder that a person has trusted, against a model that plays these commands. */
export function runGemini(
  program: string,
  commands: readonly (string | Step)[],
  options: ClientOptions,
): Promise<Conversation> {
  const steps = commands.map((one) =>
    typeof one === 'string' ? { tool: 'run_shell_command', input: { command: one } } : one,
  );
  return converse(steps, options, (model, home) => {
    mkdirSync(join(home, '.gemini'), { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false },
    };
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    const isScript = program.endsWith('.js');
    return {
      words: [
        ...(isScript ? [process.execPath] : []),
        ...[program, '--yolo', '--model', 'gemini-2.5-pro', '--prompt', options.prompt ?? 'Run the script.'],
      ],
      env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    };
  });
}

/** OpenCode installs a package of its own here, and waits for it if the project has a plugin: once is enough. */
function configHome(program: string, home: string): string {
  const shared = join(program, '../../../../config');
  return isWritable(shared) ? shared : join(home, '.config');
}

function bashStep(tool: string, command: string): Step {
  return { tool, input: { command, description: 'a step' } };
}

function opencodeConfig(url: string): object {
  const models = { scripted: { name: 'Scripted', tool_call: true, limit: { context: 200_000, output: 16_000 } } };
  const options = { baseURL: `${url}/v1`, apiKey: 'none' };
  return {
    autoupdate: false,
    share: 'disabled',
    snapshot: false,
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    enabled_providers: ['scripted'],
    provider: { scripted: { npm: '@ai-sdk/openai-compatible', name: 'Scripted', options, models } },
  };
}

interface Launch {
  words: readonly string[];
  env: Record<string, string>;
}

async function converse(
  steps: readonly Step[],
  { cwd, env = {}, home: ownHome, firstTokens, ...life }: ClientOptions,
  launch: (model: ScriptedModel, home: string) => Launch,
): Promise<Conversation> {
  const model = await ScriptedModel.start(steps, firstTokens);
  const home = ownHome ?? mkdtempSync(join(tmpdir(), 'client-'));
  try {
    mkdirSync(home, { recursive: true });
    const { words, env: own } = launch(model, home);
    const base = { PATH: readEnvironment().path, HOME: home, TERM: 'dumb', LANG: 'C.UTF-8', SHELL: '/bin/bash' };
    const log = await runProgram(words, { cwd, env: { ...base, ...own, ...env } }, life);
    try {
      return { results: model.results, prompt: model.prompt, tools: model.tools, requests: model.requests, log };
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${log.slice(-2_000)}`);
    }
  } finally {
    await model.close();
    if (ownHome === undefined) rmSync(home, { recursive: true, force: true });
  }
}

/** Runs the program in a process group of its own, which ends with it, and returns what it printed. */
async function runProgram(
  [program = '', ...args]: readonly string[],
  where: { cwd: string; env: Record<string, string> },
  { signal, limitMs = LIMIT_MS, onStarted }: Pick<ClientOptions, 'signal' | 'limitMs' | 'onStarted'>,
): Promise<string> {
  signal?.throwIfAborted();
  const child = spawn(program, args, { ...where, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise: ended, reject } = Promise.withResolvers<never>();
  child.on('error', reject);
  onStarted?.(child);
  const end = (): void => {
    endGroup(child.pid);
    child.stdout.destroy();
    child.stderr.destroy();
    reject(signal?.reason);
  };
  const limit = setTimeout(() => endGroup(child.pid), limitMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const [out, err] = await Promise.race([ended, Promise.all([text(child.stdout), text(child.stderr)])]);
    return `${err}${out}`;
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', end);
    endGroup(child.pid);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!isErrno(error, 'ESRCH')) throw error;
  }
}

/** Creates the directory if it is missing. */
export function isWritable(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
