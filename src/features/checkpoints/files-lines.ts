import type { FilesReport } from './checkpoint-files.ts';
import type { LineBudget } from './line-budget.ts';

const PATH_MAX_CHARS = 200;
const WHY_MAX_CHARS = 120;
const UNCOVERED_MAX_CHARS = 240;

/** What is to be said of the files, the most important first, as long as it fits; a line counts what does not. */
export function filesLines(
  { files, changed, stay, uncovered, uncoveredCount, applied }: FilesReport,
  budget: LineBudget,
  quoted: (text: string, maxChars: number) => string,
): string[] {
  const all = files.map(({ action, path, why }) => {
    const reason = why === '' ? '' : `: ${quoted(why, WHY_MAX_CHARS)}`;
    return `- ${WORDS[action]} ${quoted(path, PATH_MAX_CHARS)}${reason}`;
  });
  const head = headOf(changed, stay, applied);
  budget.take(head);
  budget.take(more(changed + stay));
  const end = all.findIndex((line) => !budget.take(line));
  const shown = end < 0 ? all : all.slice(0, end);
  const left = changed + stay - shown.length;
  const open = uncovered.map((text) => quoted(text, UNCOVERED_MAX_CHARS)).filter((text) => budget.take(text));
  const others =
    uncoveredCount > open.length ? `${open.length > 0 ? '; ' : ''}${uncoveredCount - open.length} more` : '';
  return [
    head,
    ...shown,
    ...(left === 0 ? [] : [more(left)]),
    ...(uncoveredCount === 0 ? [] : [`not covered: ${open.join(', ')}${others}`]),
  ];
}

const WORDS = { restore: 'restore', remove: 'remove', done: 'as it was', keep: 'stays' };

function headOf(changed: number, stay: number, applied: FilesReport['applied']): string {
  if (applied !== null) {
    const failed = stay === 0 ? '' : `, ${stay} could not be`;
    const undo = applied.undo === '' ? '' : `; \`ctxd undo ${applied.undo}\` takes this back`;
    return `files: ${changed} put back${failed}; saved before as ${applied.savedFirst}${undo}`;
  }
  if (changed + stay === 0) return 'files: as they were';
  const kept = stay === 0 ? '' : `; ${stay} not only by calls: nothing would be put back`;
  return `files: ${changed + stay} differ${kept}`;
}

function more(count: number): string {
  return `- ${count} more`;
}
