import { ContextdError } from '../../core/errors.ts';

const SEGMENT_MAX_CHARS = 64;
const SEGMENT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
/** "All children at this level": the same as leaving the segment out. */
const ALL = '*';

/**
 * Takes a path such as `/github/issues` apart. Trailing `*` segments are left out. Throws PATH_INVALID, which says what
 * is wrong with which segment.
 */
export function parsePath(path: string): string[] {
  if (!path.startsWith('/')) throw invalid(path, 'does not start with /', 'Start the path with /.');
  const segments = path === '/' ? [] : path.slice(1).split('/');
  segments.forEach((segment, index) => {
    checkSegment(path, segment, index);
  });
  while (segments.at(-1) === ALL) segments.pop();
  return segments;
}

function checkSegment(path: string, segment: string, index: number): void {
  if (segment === ALL) return;
  if (segment === '') {
    const isLast = path.endsWith('/') && !path.slice(0, -1).endsWith('/');
    throw invalid(path, isLast ? 'ends with /' : 'has an empty segment', 'Separate segments with a single /.');
  }
  if (segment.length > SEGMENT_MAX_CHARS)
    throw invalid(path, `has a segment of ${segment.length} characters`, `A segment has at most ${SEGMENT_MAX_CHARS}.`);
  if (!SEGMENT.test(segment))
    throw invalid(
      path,
      `has the segment ${JSON.stringify(segment)}`,
      'Segments consist of a-z, 0-9, _ and -, and start with a letter or a digit.',
    );
  if (index === 0 && !/^[a-z]/.test(segment))
    throw invalid(
      path,
      `starts with the segment ${JSON.stringify(segment)}`,
      'The first segment starts with a letter.',
    );
}

function invalid(path: string, what: string, remedy: string): ContextdError {
  return new ContextdError('PATH_INVALID', `the path ${JSON.stringify(shown(path))} ${what}`, {
    remedy,
    details: { path: shown(path) },
  });
}

/** Longer paths are cut in messages. */
export function shown(path: string): string {
  return path.length <= 300 ? path : `${path.slice(0, 299)}…`;
}

/** A text as a segment of a path: `Create Issue` gives `create_issue`. Empty if no character of the text can be kept. */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]+/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .replace(/^[_-]+/, '')
    .slice(0, SEGMENT_MAX_CHARS)
    .replace(/[_-]+$/, '');
}

/**
 * Gives each entry a segment of its own: its slug, or if several have the same, the slug with a number. `entries` must be
 * in an order that does not depend on how they were added. `fallback`: the segment of an entry whose slug is empty.
 */
export function uniqueSegments(slugs: readonly string[], fallback: string): string[] {
  const wanted = slugs.map((slug) => slug || fallback);
  const counts = new Map<string, number>();
  for (const slug of wanted) counts.set(slug, (counts.get(slug) ?? 0) + 1);
  const taken = new Set(counts.keys());
  const next = new Map<string, number>();
  const seen = new Set<string>();
  return wanted.map((slug) => {
    if (!seen.has(slug)) {
      seen.add(slug);
      return slug;
    }
    let number = next.get(slug) ?? 2;
    while (taken.has(numbered(slug, number))) number += 1;
    next.set(slug, number + 1);
    taken.add(numbered(slug, number));
    return numbered(slug, number);
  });
}

function numbered(slug: string, number: number): string {
  const suffix = `-${number}`;
  return `${slug.slice(0, SEGMENT_MAX_CHARS - suffix.length)}${suffix}`;
}
