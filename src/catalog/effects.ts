import {
  DEFAULT_EFFECTS,
  FILE_EFFECTS,
  SESSION_EFFECT_NAMES,
  SESSION_EFFECTS,
  sessionEffectOf,
  type ToolEffects,
} from '../call/effects.ts';
import { isJsonObject, type Json } from '../core/json.ts';
import { RUNTIMES } from '../core/profile.ts';

/** Reads `effects` of tool.json and adds its faults to `faults`. A part that is not stated is that of DEFAULT_EFFECTS. */
export function parseEffects(value: Json | undefined, faults: string[]): ToolEffects {
  if (value === undefined) return DEFAULT_EFFECTS;
  if (!isJsonObject(value)) {
    faults.push('"effects" must be an object');
    return DEFAULT_EFFECTS;
  }
  const { files = DEFAULT_EFFECTS.files, session = DEFAULT_EFFECTS.session, ...unknown } = value;
  const fileEffect = FILE_EFFECTS.find((one) => one === files);
  const sessionEffect = sessionEffectOf(session);
  faults.push(...Object.keys(unknown).map((key) => `"effects" has an unknown key "${key}"`));
  if (fileEffect === undefined) faults.push(`"effects.files" must be one of ${FILE_EFFECTS.join(', ')}`);
  if (sessionEffect === null) faults.push(`"effects.session" must be one of ${SESSION_EFFECT_NAMES.join(', ')}`);
  return { files: fileEffect ?? DEFAULT_EFFECTS.files, session: sessionEffect ?? DEFAULT_EFFECTS.session };
}

interface Stated {
  readonly effects: ToolEffects;
  readonly isHost: boolean;
  readonly answerNames: readonly string[];
}

/** Why a tool from elsewhere may not state this, as the rest of a sentence about tool.json; null if it may. */
export function whyNotForOthers({ effects: { session }, isHost, answerNames }: Stated): string | null {
  if (isHost) return `"runtime" is "host", which is for the core tools alone; use ${RUNTIMES.join(', ')}`;
  if (answerNames.length > 0) return '"answer_names" is for the core tools alone';
  const { mayState } = SESSION_EFFECTS[session];
  if (mayState === 'every tool') return null;
  const others = SESSION_EFFECT_NAMES.filter((name) => SESSION_EFFECTS[name].mayState === 'every tool');
  return `"effects.session" is "${session}", which is for the core tools alone; another tool states ${others.join(', ')}`;
}
