import type { AnswerHook, ClientHook } from '../../call/client-hook.ts';
import type { SessionRef } from '../../call/session.ts';
import type { JsonObject } from '../../core/json.ts';
import { collectLeaves } from '../../scrub/leaves.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { shownLookAlikes } from '../../scrub/vault/look-alike.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import { requireProject } from '../projects/require-project.ts';
import { type BatchEvent, type HookCall, readEvent } from './hook-event.ts';
import { type PathRules, refusedPath } from './judge-call.ts';
import { promptAnswer } from './judge-prompt.ts';
import { type MaskDeps, maskOutput } from './mask-output.ts';
import { type RecordDeps, recordHookCall, takeFiles, watchFiles } from './record-call.ts';
import { tokenRefusal } from './safe-write-call.ts';

export interface ClientHookDeps extends MaskDeps, RecordDeps {
  scrubber: MaskDeps['scrubber'] & Pick<Scrubber, 'maskText'>;
  projects: Pick<ProjectStore, 'find'>;
  liveSessions: Pick<LiveSessions, 'idFor' | 'touch'>;
  rules: PathRules;
}

/**
 * Answers the hooks of Claude Code, and of OpenCode's plugin in the same form. It refuses or masks, and never allows: the
 * person's own rules of the client decide about the rest.
 */
export function createClientHooks(deps: ClientHookDeps): AnswerHook {
  return async (hook) => {
    await requireProject(hook.project, deps.projects);
    const event = readEvent(hook.eventJson, hook.project);
    if (event === null) return null;
    const session = sessionOf(hook, event, deps);
    deps.liveSessions.touch(session);
    switch (event.at) {
      case 'prompt':
        return promptAnswer(event, session, deps);
      case 'batch':
        return explained(event, session, deps);
      case 'before':
        return judged({ requestId: hook.requestId, session, event }, deps);
      default:
        return masked({ requestId: hook.requestId, session, event }, deps);
    }
  };
}

function sessionOf({ project, sessionHint }: ClientHook, event: { session: string }, deps: ClientHookDeps): SessionRef {
  const hint = sessionHint === '' ? event.session : sessionHint;
  return { project, session: deps.liveSessions.idFor(project, hint), branch: null };
}

async function judged(call: HookCall, deps: ClientHookDeps): Promise<JsonObject | null> {
  const why = await refusal(call, deps);
  if (why !== null) {
    await recordHookCall(call, { errorCode: 'PERMISSION_DENIED', secrets: [], fileChanges: null }, deps);
    return answer('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: why });
  }
  if (call.event.does === 'write') await watchFiles(call, deps);
  return null;
}

async function refusal({ event, session }: HookCall, deps: ClientHookDeps): Promise<string | null> {
  const why = refusedPath(event, session.project, deps.rules);
  return why ?? tokenFault({ event, session }, deps);
}

/** Why a change with tokens of the session, or with texts that are shown with a backslash because they look like tokens, does not do what was meant, and what does; null without such tokens. */
async function tokenFault(
  { event, session }: Pick<HookCall, 'event' | 'session'>,
  deps: ClientHookDeps,
): Promise<string | null> {
  if (event.does !== 'write') return null;
  const text = collectLeaves(event.input).join('\n');
  const tokens = [...(await deps.scrubber.issuedIn(session, text)), ...shownLookAlikes(text)];
  return tokens.length === 0 ? null : tokenRefusal(event, session.project, tokens);
}

/** Claude Code looks for the old text of an edit before it asks a hook, and does not find a token in the file. */
async function explained(
  { faulted }: BatchEvent,
  session: SessionRef,
  deps: ClientHookDeps,
): Promise<JsonObject | null> {
  const whys: string[] = [];
  for (const event of faulted) {
    const why = await tokenFault({ event, session }, deps);
    if (why !== null) whys.push(why);
  }
  return whys.length === 0 ? null : answer('PostToolBatch', { additionalContext: whys.join('\n') });
}

async function masked(call: HookCall, deps: ClientHookDeps): Promise<JsonObject | null> {
  const { event, session, requestId } = call;
  const fileChanges = event.does === 'write' ? await takeFiles(call, deps) : null;
  const { output, secrets } = await maskOutput(session, event, requestId, deps);
  if (event.does === 'write' || secrets.length > 0)
    await recordHookCall(call, { errorCode: null, secrets, fileChanges }, deps);
  if (JSON.stringify(output) === JSON.stringify(event.output)) return null;
  return answer('PostToolUse', { updatedToolOutput: output });
}

function answer(hookEventName: string, fields: JsonObject): JsonObject {
  return { hookSpecificOutput: { hookEventName, ...fields } };
}
