import { ContextdError } from '../../core/errors.ts';
import type { Found, OwnedDirectory } from '../files/owned-directory.ts';
import type { Action } from './action.ts';
import type { Manifest } from './manifest.ts';

/** The state of a project while its plan is made. */
export interface Survey {
  root: OwnedDirectory;
  /** The record of an earlier init; empty if there was no earlier init. */
  before: Manifest;
  /** True if there is no record but the tree has files with contextd's mark: it was cloned, or the record was lost. */
  adopting: boolean;
  /** Tools whose folder has contextd's mark. */
  marked: readonly string[];
  actions: Action[];
  refusals: Refusal[];
  /** Files that an earlier init created and a person has changed since. They stay as they are. */
  kept: string[];
}

export interface Refusal {
  path: string;
  reason: string;
  remedy: string;
}

/** Undefined if the path cannot be looked at; the survey then has a refusal. */
export function inspectOrRefuse(survey: Survey, path: string): Found | undefined {
  try {
    return survey.root.inspect(path);
  } catch (error) {
    if (!(error instanceof ContextdError)) throw error;
    const parent = String(error.details.path ?? path);
    if (!survey.refusals.some((one) => one.path === parent)) survey.refusals.push(asRefusal(parent, error));
    return undefined;
  }
}

function asRefusal(path: string, error: ContextdError): Refusal {
  const reason = error.message.startsWith(`${path} is `) ? error.message.slice(`${path} is `.length) : error.message;
  return { path, reason, remedy: error.remedy ?? 'Fix this, then run this again.' };
}
