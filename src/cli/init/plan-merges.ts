import { ContextdError } from '../../core/errors.ts';
import { describeFound, type Found } from '../files/owned-directory.ts';
import type { Action } from './action.ts';
import { CLIENT_PLACES, clientFiles, OTHER_CLIENTS, recordedClients } from './clients/other-clients.ts';
import { clientOf, type Layout } from './layout.ts';
import type { Manifest } from './manifest.ts';
import { type Addition, type MergeRecord, merge } from './merged-file.ts';
import { inspectOrRefuse, type Survey } from './survey.ts';

/** A client that was left as it is, and the file because of which. */
export interface PassedOver {
  client: string;
  path: string;
  /** What is wrong with the file, with the line if that is known. */
  why: string;
}

/** A client is set up in all of its files or in none. */
export function planMerges(
  survey: Survey,
  layout: Layout,
  absent: readonly string[],
): { merges: Record<string, MergeRecord>; actions: Action[]; passed: PassedOver[] } {
  const planned = [...layout.merges(absent)].map(([path, addition]) => ({
    path,
    client: clientOf(path),
    ...planMerge(survey, path, addition),
  }));
  const passed = planned.flatMap(({ path, client, fault }) =>
    fault === undefined ? [] : [{ path, client, why: fault }],
  );
  const merges: Record<string, MergeRecord> = {};
  const actions: Action[] = [];
  for (const { path, client, record, action } of planned) {
    const isPassed = passed.some((one) => one.client === client);
    const kept = isPassed ? survey.before.merges[path] : record;
    if (kept !== undefined) merges[path] = kept;
    if (!isPassed && action !== undefined) actions.push(action);
  }
  return { merges, actions, passed };
}

/** Without the files of a client that was passed over and never set up. */
export function withoutPassed(layout: Layout, passed: readonly PassedOver[], before: Manifest): Layout {
  const left = OTHER_CLIENTS.filter((name) => passed.some(({ client }) => client === CLIENT_PLACES[name].title)).filter(
    (name) => !recordedClients(before.merges).includes(name),
  );
  const files = new Set(left.flatMap((name) => [...clientFiles(name).keys()]));
  const directories = new Set(left.flatMap((name) => CLIENT_PLACES[name].directories));
  return {
    ...layout,
    files: new Map([...layout.files].filter(([path]) => !files.has(path))),
    directories: layout.directories.filter((path) => !directories.has(path)),
  };
}

interface PlannedMerge {
  record?: MergeRecord;
  action?: Action;
  /** Why the file cannot be changed. */
  fault?: string;
}

export function planMerge(survey: Survey, path: string, addition: Addition): PlannedMerge {
  const found = inspectMerged(survey, path);
  if (found === undefined) return {};
  if (typeof found === 'string') return { fault: found };
  if (found.kind !== 'missing' && found.kind !== 'file') return { fault: describeFound(found) };
  const before = found.kind === 'file' ? found.text : undefined;
  try {
    const { text, record } = merge(before, addition, survey.before.merges[path], survey.adopting);
    const mode = found.kind === 'file' ? found.mode : 0o644;
    if (text === before) return { record };
    return { record, action: { kind: 'write', path, text, replaces: before !== undefined, mode } };
  } catch (error) {
    return { fault: faultOf(error) };
  }
}

/** Why the file itself cannot be read, as text. Undefined if its place cannot be reached: the survey then has a refusal. */
function inspectMerged(survey: Survey, path: string): Found | string | undefined {
  try {
    return survey.root.inspect(path);
  } catch (error) {
    if (!(error instanceof ContextdError) || error.details.path !== path) return inspectOrRefuse(survey, path);
    return error.message.replace(`${path} is `, '');
  }
}

function faultOf(error: unknown): string {
  if (error instanceof ContextdError) return error.message;
  if (!(error instanceof SyntaxError)) throw error;
  return `not JSON: ${error.message}`;
}
