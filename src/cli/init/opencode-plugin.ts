import { SHELL_DESCRIPTION } from './agent-texts.ts';
import { PERSONS_COMMANDS } from './client-settings.ts';
import { withScriptMark } from './content-hash.ts';

/**
 * The plugin of OpenCode. It gives OpenCode's shell the tools by name, and its calls the session of the conversation,
 * which OpenCode does not put into the environment by itself. It calls the hooks of `ctxd hook` with the JSON that they know.
 * It needs no package and derives every path from its own.
 */
export function pluginText(): string {
  return withScriptMark(PLUGIN);
}

const PERSONS = PERSONS_COMMANDS.map((words) => words.replace(' ', '\\s+')).join('|');

const PLUGIN = `// Makes contextd the shell of OpenCode if a person wanted that, puts its tools on the PATH of the shell, and gives each
// conversation a session of its own, which ends with it. Masks secrets in what tools of OpenCode show, and refuses edits that would
// write the token of a secret or a protected file. Records requests, answers and to-do lists, saves a checkpoint before a
// compaction, and shows the model at the start of a conversation and after a compaction what was done. Refuses the commands by
// which a person widens what agents may do.
import { execFile } from 'node:child_process';
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { env } from 'node:process';

const root = join(import.meta.dirname, '..', '..');
const bin = join(root, '.claude', 'bin');
const shell = join(root, '.claude', 'tools', 'safe_bash', 'contextd-sh');
const PERSONS = /ctxd\\s+(?:${PERSONS})\\b/;
const PERSONS_WORDS =
  'Only a person may run this command of ctxd. Tell the person what it is for and ask them to run it.';
const WITHHELD = 'contextd withheld this output, because it could not be searched for secrets: ';
const JUDGED = new Set(['edit', 'multiedit', 'write', 'patch', 'apply_patch', 'read', 'grep', 'glob', 'list']);

export const contextd = async ({ client, directory }) => {
  const sessions = new Map();
  /** Why the next request of a conversation is shown what was done; no entry: it is the first. */
  const starts = new Map();
  /** What the model is shown, the same in every request until a compaction. */
  const shown = new Map();
  /** True: the list of skills has none of contextd, so the system prompt says what its description says. */
  let isSkillHidden = false;
  /** Settles when every hook has ended. */
  let underWay = Promise.resolve();

  /** The conversation that a person started: what it delegates shares its session. */
  async function topOf(id) {
    if (!sessions.has(id)) {
      const { data } = await client.session.get({ path: { id } }).catch(() => ({}));
      sessions.set(id, data?.parentID === undefined ? id : await topOf(data.parentID));
    }
    return sessions.get(id);
  }

  /** True for a conversation with a person. What others say belongs to their work, not to the session. */
  async function isTop(id) {
    return id !== undefined && (await topOf(id)) === id;
  }

  async function hook(name, id, input) {
    const session = env.CONTEXTD_SESSION_ID || (await topOf(id));
    const text = JSON.stringify({ session_id: session, cwd: root, ...input });
    const answer = ctxd(['hook', name, root], text, { CONTEXTD_SESSION_ID: session });
    underWay = Promise.all([underWay, answer]);
    return answer;
  }

  /** What contextd says about a call of a tool. Throws if it cannot say it: then nothing may be shown. */
  async function askAbout(id, event) {
    if (!isSetUp()) return {};
    const session = env.CONTEXTD_SESSION_ID || (await topOf(id));
    return contextdHook({ session_id: session, cwd: directory ?? root, ...event }, session);
  }

  /** The texts of the last request and answer. */
  async function lastMessages(id) {
    const { data } = await client.session.messages({ path: { id } }).catch(() => ({}));
    const last = (role) => {
      const texts = (data ?? []).filter(({ info }) => info.role === role && !info.summary).map(textOf);
      return texts.findLast((text) => text !== '') ?? '';
    };
    return { prompt: last('user'), last_assistant_message: last('assistant') };
  }

  return {
    config: async (config) => {
      if (config.shell === undefined && basename(realpathOrNothing(shell)) === 'contextd-proxy') config.shell = shell;
      isSkillHidden = config.shell === shell && hideSkill(config);
    },
    'tool.execute.before': async ({ tool, sessionID }, output) => {
      const command = output.args?.command;
      if (tool === 'bash' && typeof command === 'string' && PERSONS.test(command)) throw new Error(PERSONS_WORDS);
      if (!JUDGED.has(tool)) return;
      const event = { hook_event_name: 'PreToolUse', tool_name: tool, tool_input: output.args ?? {} };
      const { permissionDecision, permissionDecisionReason } = await askAbout(sessionID, event);
      if (permissionDecision === 'deny') throw new Error(permissionDecisionReason);
    },
    'tool.execute.after': async ({ tool, sessionID, args }, output) => {
      const shown = { title: output.title ?? '', output: output.output ?? '', metadata: output.metadata ?? {} };
      const call = { tool_name: tool, tool_input: args ?? {}, tool_response: shown };
      try {
        const { updatedToolOutput } = await askAbout(sessionID, { hook_event_name: 'PostToolUse', ...call });
        if (updatedToolOutput !== undefined) Object.assign(output, updatedToolOutput);
      } catch (error) {
        Object.assign(output, { title: '', output: WITHHELD + error.message, metadata: {} });
      }
    },
    'chat.message': async ({ sessionID }, { parts }) => {
      // What OpenCode read for a file that the person mentions.
      const read = parts.filter(({ type, synthetic }) => type === 'text' && synthetic);
      if (read.length === 0) return;
      const texts = read.map(({ text }) => text);
      const call = { tool_name: 'read', tool_input: {}, tool_response: { texts } };
      const masked = await askAbout(sessionID, { hook_event_name: 'PostToolUse', ...call }).then(
        ({ updatedToolOutput }) => updatedToolOutput?.texts ?? texts,
        (error) => texts.map(() => WITHHELD + error.message),
      );
      for (const [index, part] of read.entries()) part.text = masked[index];
    },
    'shell.env': async ({ sessionID }, output) => {
      if (holdsOnlyLinks()) output.env.PATH = [bin, output.env.PATH ?? env.PATH].filter(Boolean).join(delimiter);
      if (sessionID === undefined || env.CONTEXTD_SESSION_ID) return;
      output.env.CONTEXTD_SESSION_ID = await topOf(sessionID);
    },
    'experimental.session.compacting': async ({ sessionID }, output) => {
      if (!(await isTop(sessionID))) return;
      const text = await hook('pre-compact', sessionID, await lastMessages(sessionID));
      if (text !== '') output.context.push(text);
      starts.set(sessionID, 'compact');
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      if (isSkillHidden) output.system.push(aboutShell(directory ?? root));
      if (!(await isTop(sessionID))) return;
      if (!shown.has(sessionID)) {
        const source = starts.get(sessionID) ?? 'startup';
        shown.set(sessionID, await hook('session-start', sessionID, { source }));
      }
      const text = shown.get(sessionID);
      if (text !== '') output.system.push(text);
    },
    event: async ({ event }) => {
      const { type, properties } = event;
      if (type === 'session.compacted') shown.delete(properties.sessionID);
      if (type === 'session.idle' && (await isTop(properties.sessionID)))
        await hook('stop', properties.sessionID, await lastMessages(properties.sessionID));
      if (type === 'todo.updated' && (await isTop(properties.sessionID)))
        await hook('post-tool', properties.sessionID, { tool_name: 'TodoWrite', tool_input: { todos: properties.todos } });
      if (type !== 'session.deleted') return;
      const id = properties.info.id;
      if (sessions.get(id) === id && sessions.delete(id)) await end(id);
    },
    dispose: async () => {
      await underWay;
      await Promise.all([...new Set(sessions.values())].map(end));
    },
  };
};

/** In the list of skills the description of contextd takes twice the tokens. A person's own rules for skills stay. */
function hideSkill(config) {
  const { permission = {} } = config;
  if (typeof permission !== 'object' || permission.skill !== undefined) return false;
  config.permission = { ...permission, skill: { contextd: 'deny' } };
  return true;
}

function aboutShell(from) {
  const skill = relative(from, join(root, '.claude', 'skills', 'contextd', 'SKILL.md'));
  return \`${SHELL_DESCRIPTION} Its memory, jobs and MCP tools: \${skill}\`;
}

/** False in a clone in which nobody ran \`ctxd init\`. */
function isSetUp() {
  return basename(realpathOrNothing(join(bin, 'safe_bash'))) === 'contextd-proxy';
}

function contextdHook(event, session) {
  return new Promise((done, fail) => {
    const options = { timeout: 60_000, maxBuffer: 2 ** 28, env: { ...env, CONTEXTD_SESSION_ID: session } };
    const child = execFile(join(bin, 'contextd-hook'), [], options, (error, out) => {
      if (error) fail(new Error('contextd-hook does not run. Run ctxd doctor.'));
      else done(out === '' ? {} : JSON.parse(out).hookSpecificOutput);
    });
    child.stdin.on('error', () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

/** A session that somebody named does not end with one of the conversations that share it. */
async function end(id) {
  if (env.CONTEXTD_SESSION_ID) return;
  await ctxd(['session', 'end', root, '--session', id], '', {});
}

/** What it printed. Nothing if it failed, and in a clone in which nobody ran \`ctxd init\`. */
function ctxd(words, input, variables) {
  const proxy = realpathOrNothing(join(bin, 'safe_bash'));
  if (basename(proxy) !== 'contextd-proxy') return Promise.resolve('');
  return new Promise((done) => {
    const options = { timeout: 15_000, env: { ...env, ...variables } };
    const child = execFile(join(dirname(proxy), 'ctxd'), words, options, (error, out) => done(error ? '' : out));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** False if a repository brought a program of its own, which would run in place of another one of its name. */
function holdsOnlyLinks() {
  return namesIn(bin).every((name) => {
    const path = join(bin, name);
    const stats = lstatSync(path);
    if (stats.isSymbolicLink()) return basename(readlinkSync(path)) === 'contextd-proxy';
    return stats.isDirectory() || (stats.mode & 0o111) === 0;
  });
}

function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function textOf({ parts }) {
  const texts = parts.filter(({ type, synthetic }) => type === 'text' && !synthetic);
  return texts.map(({ text }) => text).join('\\n').trim();
}

function realpathOrNothing(path) {
  try {
    return realpathSync(path);
  } catch {
    return '';
  }
}
`;
