import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { SessionRef } from '../../call/session.ts';
import { isErrno } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import { isMedia } from '../../core/media.ts';
import { quoteName } from '../../core/own-line.ts';
import type { PromptEvent } from './hook-event.ts';
import { type PathRules, refusedPath } from './judge-call.ts';
import type { MaskDeps } from './mask-output.ts';

interface PromptDeps extends Pick<MaskDeps, 'scrubber' | 'secondSearch'> {
  rules: PathRules;
}

/** Files of one prompt that are looked at. */
const FILES_MAX = 50;
/** Bytes of a file that are searched. Claude Code attaches far less of one. */
const FILE_MAX_BYTES = 4 * 1024 * 1024;

/**
 * Claude Code attaches files that a prompt mentions with `@`, and no hook can mask them. A prompt that mentions a file with a
 * secret, or one that a person hides, is blocked.
 */
export async function promptAnswer(
  { prompt, cwd }: PromptEvent,
  session: SessionRef,
  { scrubber, secondSearch, rules }: PromptDeps,
): Promise<JsonObject | null> {
  for (const path of mentionedFiles(prompt, cwd)) {
    const hidden = refusedPath(
      { paths: [path], does: 'read', input: {}, clientDirectory: null },
      session.project,
      rules,
    );
    if (hidden !== null) return blocked(hidden);
    const text = textOf(path);
    if (text === null || isMedia(text)) continue;
    const { secrets } = await scrubber.scrub(session, text);
    const [first] = secrets.length > 0 ? secrets : await secondSearch.missedIn([text]);
    if (first !== undefined)
      return blocked(
        `${quoteName(path)} holds a secret (${first.rule}), and a file that you mention with @ is attached as it is. Write its path without the @: the agent then reads it with its secrets masked.`,
      );
  }
  return null;
}

function blocked(reason: string): JsonObject {
  return { decision: 'block', reason: `contextd: ${reason}` };
}

const MENTION = /(?:^|[^\w@])@(?:"([^"\n]+)"|([^\s"]+))/gu;

/** Every path that a mention may mean: with and without lines (`#L3-9`) and the punctuation of a sentence behind it. */
function mentionedFiles(prompt: string, cwd: string): string[] {
  const mentions = [...prompt.matchAll(MENTION)].slice(0, FILES_MAX).map(([, quoted, plain = '']) => quoted ?? plain);
  const paths = mentions.flatMap((mention) => [
    mention,
    mention.replace(/#.*$/s, ''),
    mention.replace(/[^\w/]+$/u, ''),
  ]);
  return [...new Set(paths)].filter((path) => path !== '').map((path) => resolve(cwd, expandHome(path)));
}

function expandHome(path: string): string {
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}

/** Null for what is no regular file that can be read. A pipe is not waited for. */
function textOf(path: string): string | null {
  try {
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      if (!fstatSync(descriptor).isFile()) return null;
      const bytes = Buffer.alloc(Math.min(fstatSync(descriptor).size, FILE_MAX_BYTES));
      return bytes.subarray(0, readSync(descriptor, bytes)).toString('utf8');
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (isErrno(error)) return null;
    throw error;
  }
}
