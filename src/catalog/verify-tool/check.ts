import type { Limit } from './limits.ts';

/** What one rule says of a tool. */
export interface ToolCheck {
  /** The file and the rule: `schema.json depth`. */
  rule: string;
  passed: boolean;
  /** What was found, with its figure. */
  detail: string;
  /** What to do about it; "" when it passed. */
  remedy: string;
  /** What was counted, where the rule is a limit. */
  figure?: number;
  limit?: number;
  unit?: string;
}

/** Characters of a detail: a hostile file is not quoted at length. */
const DETAIL_MAX = 500;

export function passed(rule: string, detail: string): ToolCheck {
  return { rule, passed: true, detail, remedy: '' };
}

export function failed(rule: string, detail: string, remedy: string): ToolCheck {
  return { rule, passed: false, detail: clipped(detail), remedy };
}

/** Passes when nothing is wrong; the detail of a failure names all that is. */
export function faultless(rule: string, faults: readonly string[], fine: string, remedy: string): ToolCheck {
  return faults.length === 0 ? passed(rule, fine) : failed(rule, faults.join('; '), remedy);
}

export function within(rule: string, figure: number, { most, unit }: Limit, remedy: string): ToolCheck {
  const counted = { figure, limit: most, unit };
  const detail = `${figure} of at most ${most} ${unit}`;
  return { ...(figure <= most ? passed(rule, detail) : failed(rule, detail, remedy)), ...counted };
}

function clipped(text: string): string {
  return text.length <= DETAIL_MAX ? text : `${text.slice(0, DETAIL_MAX)}… (${text.length} characters)`;
}
