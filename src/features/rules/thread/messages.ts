import type { JudgedText, Judgement } from '../judgement.ts';
import type { RuleList } from '../rule.ts';

export interface JudgeRequest {
  readonly id: number;
  readonly judged: JudgedText;
  readonly lists: readonly RuleList[];
}

/** Null: the text could not be read. */
export interface JudgeReply {
  readonly id: number;
  readonly judgement: Judgement | null;
}
