import { ContextdError } from '../../core/errors.ts';

/**
 * A string of the profile language, which is a Scheme: only the quote and the backslash mean anything inside one, so any
 * path stays one string. Throws PATH_INVALID for NUL, which would end the profile where it stands.
 */
export function quote(text: string): string {
  if (text.includes('\0')) {
    throw new ContextdError('PATH_INVALID', `${JSON.stringify(text)} holds a NUL character`, {
      remedy: 'Rename it.',
    });
  }
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

export function subpath(path: string): string {
  return `(subpath ${quote(path)})`;
}

export function literal(path: string): string {
  return `(literal ${quote(path)})`;
}

/** A filter for the paths that match, given as a regular expression of the profile's simple kind. */
export function regex(pattern: string): string {
  return `(regex ${quote(pattern)})`;
}

/** `(allow OPERATIONS FILTERS…)`, or nothing: without a filter a rule would hold for every path. */
export function rule(verdict: 'allow' | 'deny', operations: string, filters: readonly string[]): string[] {
  if (filters.length === 0) return [];
  return [`(${verdict} ${operations}`, ...filters.map((filter) => `  ${filter}`), ')'];
}

/** The text itself and nothing else, as a regular expression. */
export function escapeRegex(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** As `escapeRegex`, in either case: a Mac's file system takes `.GIT` for `.git`. */
export function escapeAnyCase(text: string): string {
  return escapeRegex(text).replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);
}
